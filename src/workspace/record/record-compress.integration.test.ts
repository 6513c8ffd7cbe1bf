import { execFileSync } from 'node:child_process';
import {
  copyFile,
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { noFindings } from '../../domain/finding.ts';
import type { PortRow, ResultRow, SummaryRow } from '../../domain/result.ts';
import { ScanFolder } from '../scan-folder.ts';
import { recordIn } from './folder-record.ts';
import { compressRecord, resolveBoth, unpackRecord } from './record-compress.ts';
import { recordFiles } from './record-files.ts';
import { openRecord } from './record-writer.ts';

const timestamp = '2026-10-06T14:30:24.010Z';
const summary: SummaryRow = {
  type: 'summary',
  timestamp,
  host: null,
  scan_id: '20261006-143022-a1b2c3',
  status: 'completed',
  partial: false,
  live_hosts: 0,
  open_ports: 0,
  vulnerabilities: 0,
  addresses_scanned: 0,
  excluded: 0,
  severity_counts: noFindings(),
  duration_seconds: 1,
  catalogue_version: 'test',
};

let folder: ScanFolder;

beforeEach(async () => {
  folder = new ScanFolder(await mkdtemp(join(tmpdir(), 'portolan-compress-')));
});

afterEach(async () => {
  await rm(folder.path, { recursive: true, force: true });
});

function portRow(number: number): PortRow {
  // Discovery order is not address order: neighbors in time lie far apart in the file.
  const host = `10.0.${(number * 7) % 251}.${(number * 13) % 241}`;
  const banner = `220 host ${number}.example ESMTP\r\n${'\u2028é'.repeat(number % 5)}`;
  return {
    type: 'port',
    timestamp,
    host,
    port: 1 + (number % 60_000),
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
    banner,
  };
}

async function finishedRecord(rows: number): Promise<void> {
  const writer = await openRecord(folder);
  for (let number = 0; number < rows; number++) await writer.append(portRow(number));
  await writer.finish({ ...summary, open_ports: rows });
}

async function allRows(): Promise<ResultRow[]> {
  const rows: ResultRow[] = [];
  for await (const row of recordIn(folder).rows()) rows.push(row);
  return rows;
}

/** Every row that a follower receives after a row, with its number. */
async function followed(from: number): Promise<[number, string][]> {
  const seen: [number, string][] = [];
  for (let after = from; ; ) {
    const { rows, finished } = await recordIn(folder).rowsAfter(after);
    for (const { sequence, line } of rows) seen.push([sequence, line]);
    after = rows.at(-1)?.sequence ?? after;
    if (finished) return seen;
  }
}

it('gives every reader the same rows as before, and zcat the very JSONL', async () => {
  await finishedRecord(7000);
  const files = recordFiles(folder.path);
  const plain = await readFile(files.data);
  const before = { rows: await allRows(), all: await followed(0), late: await followed(6500) };
  await compressRecord(folder);
  expect((await readdir(folder.path)).sort()).toEqual([
    'results.jsonl.gz',
    'results.members',
    'results.sequence',
  ]);
  expect(execFileSync('zcat', [files.compressed], { maxBuffer: 2 ** 28 }).equals(plain)).toBe(true);
  expect(await allRows()).toEqual(before.rows);
  expect(await followed(0)).toEqual(before.all);
  expect(await followed(6500)).toEqual(before.late);
  expect(await recordIn(folder).summary()).toMatchObject({ open_ports: 7000 });
  expect(await folder.sizeBytes()).toBeLessThan(plain.length / 2);
});

it('is finished for a writer that opens it, and stays as it is', async () => {
  await finishedRecord(100);
  await compressRecord(folder);
  const writer = await openRecord(folder);
  expect(writer.finished).toBe(true);
  expect(writer.rows).toBe(100);
  await writer.close();
  await compressRecord(folder);
  expect(await readdir(folder.path)).not.toContain('results.jsonl');
  expect(await allRows()).toHaveLength(100);
});

it('leaves a growing record alone', async () => {
  const writer = await openRecord(folder);
  await writer.append(portRow(1));
  await writer.seal();
  await compressRecord(folder);
  expect(await readdir(folder.path)).not.toContain('results.jsonl.gz');
  await writer.close();
});

it('is read while the plain record goes', async () => {
  await finishedRecord(6000);
  const rows = recordIn(folder).rows();
  await rows.next();
  await compressRecord(folder);
  let seen = 1;
  for await (const _ of rows) seen++;
  expect(seen).toBe(6000);
});

it('survives a crash with both forms in place', async () => {
  await finishedRecord(6000);
  const { data, compressed, members } = recordFiles(folder.path);
  const spare = join(folder.path, 'spare');
  await copyFile(data, spare);
  const rows = await allRows();
  await compressRecord(folder);

  await copyFile(spare, data);
  expect(await allRows()).toEqual(rows);
  expect(await resolveBoth(folder)).toBe(true);
  expect(await readdir(folder.path)).not.toContain('results.jsonl');
  expect(await allRows()).toEqual(rows);

  // An incomplete compressed file never replaces the plain one.
  await copyFile(spare, data);
  await truncate(compressed, 1000);
  expect(await resolveBoth(folder)).toBe(true);
  expect(await readdir(folder.path)).not.toContain('results.jsonl.gz');
  expect(await allRows()).toEqual(rows);

  // An index of an earlier attempt proves nothing.
  await writeFile(members, '{"offset":0');
  await writeFile(`${compressed}.new`, 'torn');
  await compressRecord(folder);
  expect((await readdir(folder.path)).sort()).toEqual([
    'results.jsonl.gz',
    'results.members',
    'results.sequence',
    'spare',
  ]);
  expect(await allRows()).toEqual(rows);
  expect(await resolveBoth(folder)).toBe(false);
});

it('of a damaged member loses its rows alone', async () => {
  await finishedRecord(7000);
  await compressRecord(folder);
  const file = await open(recordFiles(folder.path).compressed, 'r+');
  await file.write(Buffer.alloc(64, 0xff), 0, 64, 200);
  await file.close();
  const rows = await allRows();
  expect(rows.length).toBeGreaterThan(3000);
  expect(rows.length).toBeLessThan(7000);
  expect(await followed(0)).toHaveLength(rows.length);
  expect(await recordIn(folder).summary()).not.toBeNull();
});

it('without its index is read from the start, and gets a new one', async () => {
  await finishedRecord(7000);
  const plain = await readFile(recordFiles(folder.path).data);
  const rows = await allRows();
  const numbered = await followed(0);
  await compressRecord(folder);
  const { members, compressed } = recordFiles(folder.path);
  await rm(members);
  expect(await allRows()).toEqual(rows);
  expect(await recordIn(folder).summary()).not.toBeNull();
  expect(await unpackRecord(folder)).toBe(true);
  await compressRecord(folder);
  expect(await followed(0)).toEqual(numbered);
  expect(execFileSync('zcat', [compressed], { maxBuffer: 2 ** 28 }).equals(plain)).toBe(true);
});

it('that is not gzip at all gives no rows and no error', async () => {
  await finishedRecord(10);
  await compressRecord(folder);
  const { compressed } = recordFiles(folder.path);
  await writeFile(compressed, 'nothing of that kind');
  expect(await allRows()).toEqual([]);
  expect(await recordIn(folder).summary()).toBeNull();
  expect(await followed(0)).toEqual([]);
  await expect(unpackRecord(folder)).rejects.toMatchObject({ code: 'Z_DATA_ERROR' });
  expect(await readdir(folder.path)).toContain('results.jsonl.gz');
});

/** Bytes read at positions of files; reads of whole files do not count. */
async function bytesReadBy(work: () => Promise<unknown>): Promise<number> {
  const some = await open(recordFiles(folder.path).compressed);
  const read = vi.spyOn(Object.getPrototypeOf(some) as FileHandle, 'read');
  try {
    await work();
    const results = await Promise.all(
      read.mock.results.map(({ value }) => value as Promise<{ bytesRead: number }>),
    );
    return results.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  } finally {
    read.mockRestore();
    await some.close();
  }
}

it('reads one member for the last rows of 40,000, and all of them once for a long page', async () => {
  await finishedRecord(40_000);
  await compressRecord(folder);
  const { members, compressed } = recordFiles(folder.path);
  const sizes = (await readFile(members, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).size as number);
  const largest = Math.max(...sizes);
  expect(sizes.length).toBeGreaterThan(10);
  for (const rows of [1, 3]) {
    const bytes = await bytesReadBy(async () => {
      expect((await recordIn(folder).rowsAfter(40_000 - rows)).rows).toHaveLength(rows);
    });
    // Neighbors are in one member; in addition it reads that of the summary, and entries of the sequence.
    expect(bytes).toBeLessThan(largest + 2000);
  }
  const all = await bytesReadBy(async () => void expect(await followed(0)).toHaveLength(40_000));
  // A page has rows of all members, and reads each member once.
  expect(all).toBeLessThan(6 * (await stat(compressed)).size);
});
