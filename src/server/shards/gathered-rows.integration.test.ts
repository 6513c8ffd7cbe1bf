import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResultRow } from '../../domain/result.ts';
import type { LeasedShard } from '../../domain/shard.ts';
import { openStore, type Store } from '../../store/open.ts';
import { ShardResults } from '../../worker/shard-results.ts';
import { writeCheckpointBytes } from '../../workspace/record/checkpoint.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import { GatheredRows, importShards } from './gathered-rows.ts';

const scanId = '20261006-143022-a1b2c3';
const leaseMs = 30_000;
/** Of two shards: odd and even addresses. */
const [first, second] = ['10.0.0.1', '10.0.0.2'];

let dir: string;
let store: Store;
let rows: ResultRow[];
let invalid: string[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-gathered-'));
  store = await openStore(join(dir, 'service.db'));
  await store.execute('pragma foreign_keys = off', []);
  const plan = { addresses: ['10.0.0.1-10.0.0.9'], hostnames: {} };
  await store.shardJobs.insert(scanId, 'lab', plan, { line: 'shards', ids: ['job 0', 'job 1'] });
  rows = [];
  invalid = [];
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

const gather = (skip = 0) =>
  new GatheredRows({
    store,
    scanId,
    sink: {
      appendLines: (lines) => {
        const texts = lines
          .toString()
          .split('\n')
          .filter((line) => line !== '');
        rows.push(...texts.map((line) => JSON.parse(line) as ResultRow));
      },
    },
    skip,
    onInvalid: (message) => invalid.push(message),
  });
const shards = () => store.shards.ofScan(scanId);
const claim = async (shard: number, now = 0): Promise<LeasedShard> => {
  const claimed = await store.shardJobs.claim({ scanId, shard }, { id: `job ${shard}`, retry: 0 }, 'w', {
    now,
    leaseUntil: now + leaseMs,
  });
  if (claimed === null) throw new Error('the shard was not free');
  return claimed;
};
const port = (host: string, number: number) => ({
  type: 'port',
  timestamp: '2026-10-06T14:30:23.000Z',
  host,
  port: number,
  protocol: 'tcp',
  state: 'open',
});
const put = async (held: LeasedShard, before: number, ...found: unknown[]) => {
  const lines = found.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
  await ShardResults.ofShard(store, held).putRows(before, Buffer.from(lines));
};
const ports = () => rows.map((row) => (row as { port?: number }).port);

describe('the gathered rows of a scan', () => {
  it('come in the order in which they were stored, each once', async () => {
    const [a, b] = [await claim(0), await claim(1)];
    const gathered = gather();
    await put(a, 0, port(first, 1), port(first, 2));
    await put(b, 0, port(second, 3));
    await gathered.take(await shards());
    expect(ports()).toEqual([1, 2, 3]);
    await put(a, 2, port(first, 4));
    await gathered.take(await shards());
    await gathered.take(await shards());
    expect(ports()).toEqual([1, 2, 3, 4]);
  });

  it('are the same for a server that takes over, which has the first ones already', async () => {
    const [a, b] = [await claim(0), await claim(1)];
    for (let at = 0; at < 20; at++)
      await put(at % 2 === 0 ? a : b, at >> 1, port(at % 2 === 0 ? first : second, at));
    await gather().take(await shards());
    const before = rows;
    rows = [];
    await gather(7).take(await shards());
    expect(rows).toEqual(before.slice(7));
    expect(ports()).toEqual(Array.from({ length: 13 }, (_, at) => at + 7));
  });

  it('leave out rows of hosts that the shard does not have, and lines that are not rows', async () => {
    const held = await claim(0);
    await put(held, 0, port(second, 1), port('10.0.0.11', 2), port('example.net', 3));
    await put(held, 3, '{}', '[]', 'null', '"x"', 'no row', port(first, 4));
    await store.execute(
      `insert into result_blocks (scan_id, number, shard, rows, bytes) values ('${scanId}', 3, 0, 1, x'00ff')`,
      [],
    );
    await gather().take(await shards());
    expect(ports()).toEqual([4]);
    expect(invalid).toEqual(['Shard 0 has rows of other hosts, or invalid ones.']);
  });

  it('leave out rows that name a host of the shard first and another one later', async () => {
    const held = await claim(0);
    const line = JSON.stringify(port(first, 1));
    const again = [`"host":"${second}"`, `"h\\u006fst":"${second}"`, `"\\u0068ost":"${second}"`];
    const hostile = again.map((member) => line.replace(/\}$/, `,${member}}`));
    await put(held, 0, ...hostile, `${line.slice(0, -1)},"a":"\\`, port(first, 2));
    await gather().take(await shards());
    expect(ports()).toEqual([2]);
    expect(invalid).toHaveLength(1);
  });

  it('leave out single lines between others', async () => {
    const held = await claim(0);
    await put(
      held,
      0,
      'x',
      port(first, 1),
      port(first, 2),
      '{}',
      port(first, 3),
      'y',
      'z',
      port(first, 4),
      'x',
    );
    await gather(1).take(await shards());
    expect(ports()).toEqual([2, 3, 4]);
  });

  it('leave out what only a whole scan has', async () => {
    const held = await claim(0);
    await put(held, 0, { type: 'compliance', timestamp: '2026-10-06T14:30:23.000Z' }, port(first, 1));
    await gather().take(await shards());
    expect([ports(), invalid]).toEqual([[1], []]);
  });

  it('are deleted with the shards', async () => {
    const held = await claim(0);
    await put(held, 0, port(first, 1));
    await ShardResults.ofShard(store, held).putCheckpoint(Buffer.from('{}'));
    await store.shards.deleteOf(scanId);
    expect(await store.shardResults.blocks(scanId, 0, 9)).toEqual([]);
    expect(await store.shardResults.checkpoint(scanId, 0)).toBeNull();
    await expect(put(held, 1, port(first, 2))).rejects.toMatchObject({ code: 'conflict' });
  });

  it('contain what a server of an earlier version has on disk', async () => {
    await store.execute('update shard_plans set blocks = null', []);
    const folder = new ScanFolder(dir);
    const shard = new ScanFolder(join(dir, 'shards', '1'));
    await mkdir(shard.path, { recursive: true });
    const record = await openRecord(shard);
    for (const number of [1, 2, 3]) await record.append(port(second, number) as ResultRow);
    await record.close();
    await writeCheckpointBytes(shard, Buffer.from('{"nodes":{}}'));
    expect(await store.shardResults.hasBlocks(scanId)).toBe(false);
    expect(await importShards({ store, folder }, scanId)).toBe(true);
    // Later it is known as such, too, and not imported again.
    expect(await importShards({ store, folder }, scanId)).toBe(true);
    expect(await store.shardResults.hasBlocks(scanId)).toBe(true);
    await gather().take(await shards());
    expect(ports()).toEqual([1, 2, 3]);
    const held = await claim(1);
    expect(held).toMatchObject({ rows: 3 });
    await put(held, 3, port(second, 4));
    await gather(3).take(await shards());
    expect(ports()).toEqual([1, 2, 3, 4]);
    expect((await store.shardResults.checkpoint(scanId, 1))?.toString()).toBe('{"nodes":{}}');
  });
});
