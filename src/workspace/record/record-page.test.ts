import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { port, summary } from '../../../test/result-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { ScanFolder } from '../scan-folder.ts';
import { recordIn } from './folder-record.ts';
import { compressRecord } from './record-compress.ts';
import { recordFiles } from './record-files.ts';
import { recordPage as pageOf } from './record-page.ts';
import { FileView } from './record-view.ts';
import { openRecord } from './record-writer.ts';
import { completeRow } from './row-line.ts';

/** Several blocks of 5000 rows, the last one not full. */
const rows = 12_345;

let folder: ScanFolder;
beforeEach(async () => {
  folder = new ScanFolder(await mkdtemp(join(tmpdir(), 'portolan-page-')));
});
afterEach(() => rm(folder.path, { recursive: true, force: true }));

async function recordPage(place: ScanFolder, offset: number, limit: number, signal?: AbortSignal) {
  const view = await FileView.open(place.path);
  view.tolerateDamage();
  try {
    return await pageOf(view, offset, limit, signal);
  } finally {
    await view.close();
  }
}

async function record({ finished = true } = {}): Promise<ResultRow[]> {
  const writer = await openRecord(folder);
  for (let number = rows; number > 0; number--) await writer.append(port(number));
  await writer.seal();
  if (finished) await writer.finish(summary);
  await writer.close();
  const all: ResultRow[] = [];
  for await (const row of recordIn(folder).rows()) all.push(completeRow(row));
  return all;
}

const places = [
  [0, 50],
  [4_990, 50],
  [4_999, 1],
  [5_000, 1],
  [9_000, 1000],
  [rows - 50, 50],
  [rows - 10, 50],
  [rows, 50],
  [rows + 1, 50],
  [10 ** 15, 1000],
] as const;

it('gives any page of a finished record, in the order of the whole', async () => {
  const all = await record();
  expect(all).toHaveLength(rows);
  for (const [offset, limit] of places) {
    expect(await recordPage(folder, offset, limit)).toEqual({
      rows: all.slice(offset, offset + limit),
      total: rows,
    });
  }
});

it('gives the same pages of a compressed one', async () => {
  const all = await record();
  await compressRecord(folder);
  for (const [offset, limit] of places) {
    expect((await recordPage(folder, offset, limit)).rows).toEqual(all.slice(offset, offset + limit));
  }
});

it('gives pages of what a running scan has', async () => {
  const all = await record({ finished: false });
  for (const [offset, limit] of places.slice(0, 4)) {
    expect(await recordPage(folder, offset, limit)).toEqual({
      rows: all.slice(offset, offset + limit),
      total: rows,
    });
  }
});

it('does without an index that is stale or damaged', async () => {
  const all = await record();
  await writeFile(
    recordFiles(folder.path).index,
    '{"offset":0,"length":5,"first_row":1,"rows":1,"crc32":0}\n',
  );
  expect(await recordPage(folder, 7_000, 3)).toEqual({ rows: all.slice(7_000, 7_003), total: rows });
});

it('has nothing of a scan without a record', async () => {
  expect(await recordPage(folder, 0, 50)).toEqual({ rows: [], total: 0 });
});

it('stops reading what nobody wants any more', async () => {
  await record({ finished: false });
  expect((await recordPage(folder, 0, 50, AbortSignal.abort())).total).toBe(0);
});
