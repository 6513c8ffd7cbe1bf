import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseQuery } from '../../domain/query/parse-query.ts';
import type { PortRow, ResultRow } from '../../domain/result.ts';
import { openPortRow, summaryRow } from '../../workspace/record/fixtures/record-rows.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { compressRecord } from '../../workspace/record/record-compress.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import type { IndexedScan, RowsRequest } from './index-requests.ts';
import { RecordIndexes } from './record-indexes.ts';

let dir: string;
let folder: ScanFolder;
let scan: IndexedScan;
let indexes: RecordIndexes;
const file = () => join(dir, 'index', 'a.db');
const workspace = { indexFile: file };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-index-'));
  folder = new ScanFolder(join(dir, 'scan'));
  await mkdir(folder.path);
  indexes = new RecordIndexes(workspace);
  scan = indexes.scan('a', recordIn(folder));
});
afterEach(async () => {
  await indexes.close();
  await rm(dir, { recursive: true, force: true });
});

const hostRow = (host: string): ResultRow => ({
  type: 'host',
  timestamp: summaryRow.timestamp,
  host,
  state: 'up',
});

async function finish(rows: readonly ResultRow[]): Promise<void> {
  const writer = await openRecord(folder);
  for (const row of rows) await writer.append(row);
  await writer.finish(summaryRow);
  await writer.close();
}

const somePorts = (count: number): PortRow[] =>
  Array.from({ length: count }, (_, number) =>
    openPortRow('10.0.0.1', number + 1, {
      banner: `hello ${number}`,
      service: {
        name: 'http',
        product: number % 2 ? 'nginx' : 'Apache',
        vendor: null,
        version: null,
        cpe: null,
        confidence: 1,
      },
    }),
  );

async function rows(q = '', more: Partial<RowsRequest> = {}): Promise<{ ports: number[]; total: number }> {
  const request: RowsRequest = {
    kind: 'rows',
    query: parseQuery(q),
    type: 'port',
    keys: [],
    offset: 0,
    limit: 1000,
    after: null,
    ...more,
  };
  const { records, total } = await indexes.request(scan, request, undefined, 60_000);
  return { ports: (JSON.parse(records) as PortRow[]).map(({ port }) => port), total };
}

const eventually = { timeout: 120_000 };

describe('the index of a record', () => {
  it('is built when it is absent, and used again', async () => {
    await finish([hostRow('10.0.0.1'), ...somePorts(10)]);
    expect(await rows('product:nginx')).toEqual({ ports: [2, 4, 6, 8, 10], total: 5 });
    const { ino } = await stat(file());
    await indexes.close();
    indexes = new RecordIndexes(workspace);
    expect((await rows('product:nginx')).total).toBe(5);
    expect((await stat(file())).ino).toBe(ino);
    expect(await readdir(join(dir, 'index'))).toEqual(['a.db']);
  });

  it.each([
    ['empty', () => truncate(file(), 0)],
    ['no database', () => writeFile(file(), 'nothing of the kind'.repeat(1000))],
    ['cut', async () => truncate(file(), Math.floor((await stat(file())).size / 2))],
    ['of another version', async () => changed('UPDATE meta SET version = version + 1')],
    ['of another record', async () => changed("UPDATE meta SET identity = 'x'")],
    ['without a column', async () => changed("DELETE FROM columns WHERE name = 'port'")],
    [
      'with a column that is too short',
      async () => changed("UPDATE columns SET bytes = x'00' WHERE name = 'port'"),
    ],
    ['removed', () => rm(file())],
  ])('is built anew when its file is %s', async (_name, damage) => {
    await finish([hostRow('10.0.0.1'), ...somePorts(300)]);
    expect((await rows('product:nginx')).total).toBe(150);
    await indexes.close();
    await damage();
    indexes = new RecordIndexes(workspace);
    expect((await rows('product:nginx')).total).toBe(150);
    expect((await rows('"hello 77"')).ports).toEqual([78]);
  });

  it('is built anew after its folder was emptied while it was in use', async () => {
    await finish(somePorts(10));
    expect((await rows()).total).toBe(10);
    await rm(join(dir, 'index'), { recursive: true });
    expect((await rows()).total).toBe(10);
    expect(await readdir(join(dir, 'index'))).toEqual(['a.db']);
  });

  it('has what a running scan has sealed, and then what the finished record has', async () => {
    const writer = await openRecord(folder);
    expect(await rows()).toEqual({ ports: [], total: 0 });
    for (const port of [80, 22]) await writer.append(openPortRow('10.0.0.1', port));
    await writer.seal();
    expect(await rows()).toEqual({ ports: [22, 80], total: 2 });
    expect((await rows('product:nginx')).total).toBe(0);
    const service = { name: 'http', product: 'nginx', vendor: null, version: null, cpe: null, confidence: 1 };
    await writer.append(openPortRow('10.0.0.1', 80, { service }));
    await writer.append(hostRow('10.0.0.1'));
    await writer.append(openPortRow('10.0.0.0', 443));
    await writer.seal();
    expect(await rows()).toEqual({ ports: [443, 22, 80], total: 3 });
    expect((await rows('product:nginx')).ports).toEqual([80]);
    expect(await readdir(join(dir, 'index'))).toEqual([expect.stringMatching(/\.new$/)]);
    await writer.finish(summaryRow);
    await writer.close();
    await vi.waitFor(async () => {
      expect(await rows()).toEqual({ ports: [443, 22, 80], total: 3 });
      expect(await readdir(join(dir, 'index'))).toEqual(['a.db']);
    }, eventually);
  });

  it('stays when the record is packed', async () => {
    await finish([hostRow('10.0.0.1'), ...somePorts(50)]);
    expect((await rows()).total).toBe(50);
    const { ino } = await stat(file());
    await compressRecord(folder);
    expect(await readdir(folder.path)).toContain('results.jsonl.gz');
    expect((await rows('port:7-9')).ports).toEqual([7, 8, 9]);
    await indexes.close();
    indexes = new RecordIndexes(workspace);
    expect((await rows('port:7-9')).ports).toEqual([7, 8, 9]);
    expect((await stat(file())).ino).toBe(ino);
  });

  it('leaves out damaged rows, and has all others', async () => {
    await finish([hostRow('10.0.0.1'), ...somePorts(50)]);
    const path = join(folder.path, 'results.jsonl');
    const bytes = await readFile(path);
    const at = bytes.indexOf('"port":25');
    bytes.fill(0x20, at - 10, at + 5);
    await writeFile(path, bytes);
    const { ports } = await rows();
    expect(ports).toEqual(
      Array.from({ length: 50 }, (_, number) => number + 1).filter((port) => port !== 25),
    );
  });

  it('finds text with and without its index of trigrams', async () => {
    const texts = [
      '50% off',
      'under_score',
      "it'; DROP TABLE strings; --",
      'ÄÖÜ straße',
      'a\0b',
      'x'.repeat(1_048_576),
    ];
    await finish(texts.map((banner, number) => openPortRow('10.0.0.1', number + 1, { banner })));
    for (let round = 0; round < 2; round++) {
      expect((await rows('"50%"')).ports).toEqual([1]);
      expect((await rows('"5_%"')).ports).toEqual([]);
      expect((await rows('r_s')).ports).toEqual([2]);
      expect((await rows('"\'; drop"')).ports).toEqual([3]);
      expect((await rows('äöü')).ports).toEqual([4]);
      expect((await rows('STRASSE')).ports).toEqual([]);
      expect((await rows('xxxxxxxx')).ports).toEqual([6]);
      expect((await rows('%')).ports).toEqual([1]);
      await indexes.close();
      indexes = new RecordIndexes(workspace);
      await vi.waitFor(async () => {
        await rows();
        const database = new DatabaseSync(file(), { readOnly: true });
        const { indexed, size } = database
          .prepare('SELECT indexed, (SELECT max(id) FROM strings) AS size FROM trigram_state')
          .get() as { indexed: number; size: number };
        database.close();
        expect(indexed).toBe(size);
      }, eventually);
    }
  });

  it('continues behind the last row of a page although rows before it come in', async () => {
    const writer = await openRecord(folder);
    for (const port of [10, 20, 30, 40]) await writer.append(openPortRow('10.0.0.1', port));
    await writer.seal();
    const page = { kind: 'rows', query: null, type: 'port', keys: [], limit: 2 } as const;
    const first = await indexes.request(scan, { ...page, offset: 0, after: null });
    await writer.append(openPortRow('10.0.0.1', 5));
    await writer.seal();
    const after = first.last && { epoch: first.epoch, member: first.last };
    const second = await indexes.request(scan, { ...page, offset: 2, after });
    expect((JSON.parse(second.records) as PortRow[]).map(({ port }) => port)).toEqual([30, 40]);
    await writer.close();
  });

  it('ends the thread when nobody uses it, and begins anew', async () => {
    await finish(somePorts(3));
    await indexes.close();
    indexes = new RecordIndexes(workspace, 50);
    expect((await rows()).total).toBe(3);
    await vi.waitFor(() => expect(indexes.isRunning).toBe(false), eventually);
    expect((await rows()).total).toBe(3);
  });

  it('ends a late request with a timeout, and others go on', async () => {
    await finish(somePorts(2000));
    const request = {
      kind: 'rows',
      query: null,
      type: 'port',
      keys: [],
      offset: 0,
      limit: 10,
      after: null,
    } as const;
    const late = indexes.request(scan, request, undefined, 0);
    await expect(late).rejects.toMatchObject({ code: 'timeout' });
    expect((await rows()).total).toBe(2000);
  });

  it('ends with the client', async () => {
    await finish(somePorts(10));
    const client = new AbortController();
    const request = {
      kind: 'rows',
      query: null,
      type: 'port',
      keys: [],
      offset: 0,
      limit: 10,
      after: null,
    } as const;
    const left = indexes.request(scan, request, client.signal);
    client.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect((await rows()).total).toBe(10);
  });
});

function changed(sql: string): void {
  const database = new DatabaseSync(file());
  database.exec(sql);
  database.close();
}
