import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../domain/errors.ts';
import type { PortRow } from '../domain/result.ts';
import type { LeasedShard } from '../domain/shard.ts';
import { openStore, type Store } from '../store/open.ts';
import { openRecord, type RecordWriter } from '../workspace/record/record-writer.ts';
import { ScanFolder } from '../workspace/scan-folder.ts';
import { writeEarlierRows } from './earlier-rows.ts';
import { ShardResults } from './shard-results.ts';
import { ShardUpload } from './shard-upload.ts';

const scanId = '20261006-143022-a1b2c3';
const leaseMs = 30_000;
const row = (port: number): PortRow => ({
  type: 'port',
  timestamp: '2026-10-06T14:30:23.000Z',
  host: '10.0.0.1',
  port,
  protocol: 'tcp',
  state: 'open',
  reason: '\u2028',
});

/** A store that fails, before or after it has written, as often as `failures` says. */
class Troubled {
  readonly failures: ('before' | 'after')[] = [];
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get shardResults(): Store['shardResults'] {
    return this.#store.shardResults;
  }

  get undividedResults(): Store['undividedResults'] {
    return this.#store.undividedResults;
  }

  transaction: Store['transaction'] = async (work, isolation) => {
    const failure = this.failures.shift();
    if (failure === 'before') throw new PortolanError('unavailable', 'away');
    const result = await this.#store.transaction(work, isolation);
    if (failure === 'after') throw new PortolanError('unavailable', 'away');
    return result;
  };
}

let dir: string;
let store: Store;
let troubled: Troubled;
let held: LeasedShard;
let folder: ScanFolder;
let record: RecordWriter;
let troubles: unknown[];
const upload = (sent = 0, shard = held) =>
  new ShardUpload({
    folder,
    results: ShardResults.ofShard(troubled, shard),
    sent,
    onTrouble: (error) => troubles.push(error),
  });
const claim = async (now = 0): Promise<LeasedShard> => {
  const claimed = await store.shardJobs.claim({ scanId, shard: 0 }, { id: 'job', retry: 0 }, 'w', {
    now,
    leaseUntil: now + leaseMs,
  });
  if (claimed === null) throw new Error('the shard was not free');
  return claimed;
};
const stored = async (shard = held) =>
  Buffer.concat(await Array.fromAsync(ShardResults.ofShard(store, shard).lines()))
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as PortRow).port);
const checkpoint = async () => (await store.shardResults.checkpoint(scanId, 0))?.toString() ?? null;
const find = async (...found: number[]) => {
  for (const port of found) await record.append(row(port));
  await record.seal();
};
const whole = new AbortController().signal;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-upload-'));
  store = await openStore(join(dir, 'service.db'));
  await store.execute('pragma foreign_keys = off', []);
  const plan = { addresses: ['10.0.0.1-10.0.0.9'], hostnames: {} };
  await store.shardJobs.insert(scanId, 'lab', plan, { line: 'shards', ids: ['job'] });
  troubled = new Troubled(store);
  held = await claim();
  folder = new ScanFolder(await mkdtemp(join(dir, 'run-')));
  record = await openRecord(folder);
  troubles = [];
});
afterEach(async () => {
  await record.close();
  await store.close();
  await rm(dir, { recursive: true });
});

describe('the upload of a shard', () => {
  it('stores rows in their order as they come, and a checkpoint after those it builds on', async () => {
    const running = upload();
    await find(1, 2);
    await writeFile(join(folder.path, 'checkpoint.json'), '{"a":1}');
    await expect.poll(checkpoint).toBe('{"a":1}');
    expect(await stored()).toEqual([1, 2]);
    await find(3);
    expect(await running.finish(whole)).toBe(true);
    expect(await stored()).toEqual([1, 2, 3]);
    expect(await store.shardResults.rowsOf(held)).toBe(3);
    expect(troubles).toEqual([]);
  });

  it('goes on after an outage, and reports it once', async () => {
    troubled.failures.push('before', 'before', 'before');
    const running = upload();
    await find(1);
    expect(await running.finish(whole)).toBe(true);
    expect(await stored()).toEqual([1]);
    expect(troubles).toHaveLength(1);
  });

  it('stores no row twice when the acknowledgement of the first was lost', async () => {
    troubled.failures.push('after');
    await find(1, 2);
    const running = upload();
    await expect.poll(() => troubles.length).toBe(1);
    await find(3);
    expect(await running.finish(whole)).toBe(true);
    expect(await stored()).toEqual([1, 2, 3]);
  });

  it('ends at once when another worker has the shard, and leaves nothing there', async () => {
    const next = await claim(leaseMs + 1);
    const running = upload();
    await find(1);
    await expect.poll(() => running.lost).toBe(true);
    expect(await running.finish(whole)).toBe(false);
    await expect(ShardResults.ofShard(store, held).putCheckpoint(Buffer.from('{}'))).rejects.toMatchObject({
      code: 'conflict',
    });
    expect([await stored(next), await checkpoint(), troubles]).toEqual([[], null, []]);
  });

  it('ends when the shard is over', async () => {
    await store.shards.fail(held, 0);
    const running = upload();
    await find(1);
    expect(await running.finish(whole)).toBe(false);
    expect(running.lost).toBe(true);
  });

  it('gives up when it is told to', async () => {
    troubled.failures.push(...Array<'before'>(100).fill('before'));
    const running = upload();
    await find(1);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 500);
    expect(await running.finish(stop.signal)).toBe(false);
    expect(running.lost).toBe(false);
  });

  it('waits while a server of an earlier version has the rows of the scan', async () => {
    await store.execute('update shard_plans set blocks = null', []);
    const running = upload();
    await find(1);
    await expect.poll(() => troubles.length).toBe(1);
    expect(await store.shardResults.rowsOf(held)).toBe(0);
    await store.shardResults.setBlocks(scanId, 0);
    expect(await running.finish(whole)).toBe(true);
    expect(await stored()).toEqual([1]);
  });

  it('of the next attempt begins with what is stored', async () => {
    await find(1, 2);
    await upload().finish(whole);
    await ShardResults.ofShard(store, held).putCheckpoint(Buffer.from('{"nodes":{}}'));
    await record.close();
    const next = await claim(leaseMs + 1);
    folder = new ScanFolder(await mkdtemp(join(dir, 'run-')));
    const results = ShardResults.ofShard(store, next);
    await expect(writeEarlierRows(folder, results, 3)).rejects.toMatchObject({ code: 'unavailable' });
    await rm(folder.path, { recursive: true });
    folder = new ScanFolder(await mkdtemp(join(dir, 'run-')));
    const rows = await writeEarlierRows(folder, results, 2);
    record = await openRecord(folder);
    expect([rows, record.rows]).toEqual([2, 2]);
    const running = upload(rows, next);
    await find(3);
    expect(await running.finish(whole)).toBe(true);
    expect(await stored(next)).toEqual([1, 2, 3]);
    expect((await store.shardResults.blocks(scanId, 0, 9)).map(({ rows: count }) => count)).toEqual([2, 1]);
  });
});
