import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import { openStore } from '../store/open.ts';
import { recordSummary } from '../workspace/record-reader.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { interruptScan, isDeadCommandLine, liveCommandLine } from './interrupt-scan.ts';

/** No process has such a number. */
const gone = 99_999_999;

it('whether a command line is gone can be told in its own workspace only', () => {
  expect(liveCommandLine(`cli:${process.pid}`, 'server')).toBe(process.pid);
  expect(liveCommandLine(`cli:${gone}`, 'server')).toBeNull();
  expect(isDeadCommandLine(`cli:${gone}:here`, 'server:here')).toBe(true);
  expect(isDeadCommandLine(`cli:${gone}:there`, 'server:here')).toBe(false);
  expect(liveCommandLine(`cli:${gone}:there`, 'server:here')).toBe(gone);
  expect([liveCommandLine('server:here', 'server:here'), liveCommandLine(null, 'server')]).toEqual([
    null,
    null,
  ]);
});

it('an interrupted scan keeps no report of the end that its process did not reach', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-interrupt-'));
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  try {
    const request = scanRequest();
    const folder = workspace.scan(request.scan_id);
    await folder.create(request);
    await store.scans.insert(request);
    writeFileSync(join(folder.reportsDir, 'results.json'), '{"status":"completed"}');
    const error = { code: 'interrupted', message: 'its process died' } as const;
    expect(await interruptScan({ store, workspace }, request.scan_id, error)).toMatchObject({ error });
    expect(await recordSummary(folder)).toMatchObject({ status: 'failed', partial: true });
    expect(readdirSync(folder.reportsDir)).toEqual([]);
  } finally {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
