import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../actions/fixtures/stored-scan.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import type { RecordObserver } from '../../scan-run/results/open-results.ts';
import { openStore, type Store } from '../../store/open.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { renderResult } from './local-result.ts';

let dir: string;
let store: Store;
let folder: ScanFolder;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-result-'));
  const workspace = await openWorkspace(dir);
  store = await openStore(workspace.storeFile);
  folder = await storeScan({ store, workspace }, 1, 3);
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

async function rendered(format: OutputFormat): Promise<{ text: string; observed: (ScanWarning | null)[] }> {
  const observed: (ScanWarning | null)[] = [];
  const observer: RecordObserver = {
    isListed: async () => true,
    observed: (_scanId, warning) => observed.push(warning),
  };
  const scan = await store.scans.get(storedScanId(1));
  if (scan === null) throw new Error('the scan is not listed');
  const style = { columns: 80, terminal: false, color: false, ascii: false };
  const text = (await Array.fromAsync(renderResult(format, recordIn(folder), scan, style, observer))).join(
    '',
  );
  return { text, observed };
}

it('shows a whole record without a warning', async () => {
  const { text, observed } = await rendered('text');
  expect(text).toContain('3/tcp');
  expect(text).not.toContain('partial');
  expect(observed).toEqual([null]);
});

it.each<[OutputFormat, RegExp]>([
  ['text', /results of the scan are missing/],
  ['json', /"partial":true/],
  ['yaml', /partial: true/],
  ['jsonl', /"code":"record_damaged"/],
])('says as %s that the record is missing', async (format, expected) => {
  await rm(join(folder.path, 'results.jsonl'));
  const { text, observed } = await rendered(format);
  expect(text).toMatch(expected);
  expect(observed).toMatchObject([{ code: 'record_damaged' }]);
});

it('fails as CSV, which has no place for a warning', async () => {
  await rm(join(folder.path, 'results.jsonl'));
  await expect(rendered('csv')).rejects.toMatchObject({ code: 'internal_error' });
});
