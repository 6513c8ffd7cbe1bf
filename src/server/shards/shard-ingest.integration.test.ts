import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResultRow } from '../../domain/result.ts';
import { keyDigestOf } from '../../queue/shard-queue.ts';
import { openStore, type Store } from '../../store/open.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import { LocalHome } from './local-home.ts';
import { type ShardCredentials, ShardIngest } from './shard-ingest.ts';

const scanId = '20261006-143022-a1b2c3';
const leaseMs = 30_000;

let dir: string;
let store: Store;
let rows: ResultRow[];
let intake: ShardIngest;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-intake-'));
  store = await openStore(join(dir, 'service.db'));
  await store.execute(`pragma foreign_keys = off`, []);
  const division = { addresses: ['10.0.0.1-10.0.0.9'], hostnames: {} };
  await store.shards.insert(scanId, 'lab', division, 1);
  rows = [];
  intake = begin();
});
afterEach(async () => {
  await intake.close();
  await store.close();
  await rm(dir, { recursive: true });
});

function begin(): ShardIngest {
  return new ShardIngest(store, scanId, new ScanFolder(dir), (row) => void rows.push(row));
}

async function claim(key: string, now = 0): Promise<ShardCredentials> {
  const place = { scanId, shard: 0 };
  const worker = { id: key, keyDigest: keyDigestOf(key) };
  const taken = await store.shards.claim(place, worker, now, now + leaseMs);
  if (!taken) throw new Error('the shard was not free');
  return { ...place, attempt: taken.attempt, key };
}

const line = (host: string, port: number) =>
  JSON.stringify({
    type: 'port',
    timestamp: '2026-10-06T14:30:23.000Z',
    host,
    port,
    protocol: 'tcp',
    state: 'open',
  });
const lines = (...ports: number[]) => ports.map((port) => line('10.0.0.1', port));
const ports = () => rows.map((row) => (row as { port: number }).port);
const openFiles = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(join(dir, 'shards'));
    } catch {
      return false;
    }
  });
const textOf = async (sender: ShardCredentials) => {
  const { stream } = await intake.rows(sender);
  return Buffer.concat(await stream.toArray()).toString();
};

describe('the intake of shards', () => {
  it('takes rows in their order, each once', async () => {
    const sender = await claim('a');
    expect(await intake.append(sender, 0, lines(1, 2))).toBe(2);
    expect(await intake.append(sender, 0, lines(1, 2, 3))).toBe(3);
    await expect(intake.append(sender, 5, lines(6))).rejects.toMatchObject({
      code: 'conflict',
      details: { rows: 3 },
    });
    expect(ports()).toEqual([1, 2, 3]);
    expect((await store.shards.holder(scanId, 0))?.rows).toBe(3);
  });

  it('takes nothing without the key, from an earlier attempt or after the end', async () => {
    const first = await claim('a');
    await expect(intake.append({ ...first, key: 'b' }, 0, lines(1))).rejects.toMatchObject({
      code: 'unauthorized',
    });
    const second = await claim('b', leaseMs + 1);
    await expect(intake.append(first, 0, lines(1))).rejects.toMatchObject({ code: 'conflict' });
    await expect(intake.keepCheckpoint(first, Buffer.from('{}'))).rejects.toMatchObject({ code: 'conflict' });
    await store.shards.finish(second, '{}', 0);
    await expect(intake.append(second, 0, lines(1))).rejects.toMatchObject({ code: 'conflict' });
    expect(rows).toEqual([]);
  });

  it('lets no late row of an earlier attempt come between what the next one was given and what it sends', async () => {
    const first = await claim('a');
    await intake.append(first, 0, lines(1));
    // Admitted while it owns the shard, written after it has lost it.
    const late = store.shards.holder.bind(store.shards);
    let second: ShardCredentials | null = null;
    store.shards.holder = async (...place) => {
      const holder = await late(...place);
      store.shards.holder = late;
      second = await claim('b', leaseMs + 1);
      expect(await textOf(second)).toBe(`${lines(1)}\n`);
      return holder;
    };
    await expect(intake.append(first, 1, lines(2))).rejects.toMatchObject({ code: 'conflict' });
    if (!second) throw new Error('nobody took the shard');
    expect(await intake.append(second, 1, lines(3))).toBe(2);
    expect(ports()).toEqual([1, 3]);
  });

  it('refuses hosts that the shard does not hold and what is no row', async () => {
    const sender = await claim('a');
    for (const strange of [line('10.0.0.10', 1), line('example.net', 1), '{}', '[]', 'null', '"x"', 'no row'])
      await expect(intake.append(sender, 0, [strange])).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(intake.keepCheckpoint(sender, Buffer.from('{"nodes":'))).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(rows).toEqual([]);
  });

  it('has everything after a restart, and reports it again', async () => {
    const sender = await claim('a');
    await intake.append(sender, 0, lines(1, 2));
    await intake.keepCheckpoint(sender, Buffer.from('{"nodes":{}}'));
    await intake.close();
    rows = [];
    intake = begin();
    await intake.replay(1);
    expect(ports()).toEqual([1, 2]);
    expect(await textOf(sender)).toBe(`${lines(1, 2).join('\n')}\n`);
    expect((await intake.checkpoint(sender))?.toString()).toBe('{"nodes":{}}');
    expect(await readdir(join(dir, 'shards'))).toEqual(['0']);
  });

  it('has no file open of a shard that is over, and takes nothing more of it', async () => {
    const sender = await claim('a');
    await intake.append(sender, 0, lines(1));
    expect(openFiles()).not.toEqual([]);
    await store.shards.finish(sender, '{}', 0);
    await intake.release([0]);
    expect(openFiles()).toEqual([]);
    await expect(intake.append(sender, 1, lines(2))).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is there for workers of the same process as for others', async () => {
    const sender = await claim('a');
    const home = new LocalHome(new Map([[scanId, intake]]), { ...sender, key: 'a' } as never);
    expect(await home.putRows(0, Buffer.from(`${lines(1)}\n`))).toBe(1);
    expect(Buffer.concat(await Array.fromAsync(await home.rows())).toString()).toBe(`${lines(1)}\n`);
    expect(await home.checkpoint()).toBeNull();
    const gone = new LocalHome(new Map(), { ...sender, key: 'a' } as never);
    await expect(gone.putRows(1, Buffer.from(''))).rejects.toMatchObject({ code: 'unavailable' });
  });
});
