import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../test/postgres.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../store/open.ts';
import { contentTables } from '../store/schema/table-rows.ts';
import type { JobQueue } from './queue.ts';
import { ScanQueue } from './scan-queue.ts';

const leaseMs = 1000;
const weekAgo = () => new Date(Date.now() - 7 * 24 * 3600 * 1000).toISOString();

/** Store and queues of one test. */
interface Bench {
  store: Store;
  queue: JobQueue;
  /** A queue of the same server, as if in another process. */
  other(): Promise<JobQueue>;
  /** Ends what there is for one test. */
  remove(): Promise<unknown>;
}

interface Engine {
  name: string;
  skip: string | null;
  begin(): Promise<void>;
  make(): Promise<Bench>;
  end(): Promise<void>;
}

async function embedded(): Promise<Bench> {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-queue-'));
  const stores = [await openStore(join(dir, 'service.db'))];
  return {
    store: stores[0] as Store,
    queue: new ScanQueue(stores[0] as Store, { leaseMs }),
    async other() {
      const store = await openStore(join(dir, 'service.db'));
      stores.push(store);
      return new ScanQueue(store, { leaseMs });
    },
    async remove() {
      for (const store of stores) await store.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Empties all tables: a new database per test would take half a second. */
const leftovers = `truncate ${contentTables.map((table) => `portolan.${table}`).join(', ')}`;

function onPostgres(): Engine {
  let first: Bench;
  let second: ScanQueue | null = null;
  let url = '';
  const open: { close(): Promise<void> }[] = [];
  const make = async () => {
    const store = await openStore(url);
    open.push(store);
    return { store, queue: new ScanQueue(store, { leaseMs, home: 'here' }) };
  };
  const other = async () => {
    second ??= (await make()).queue;
    return second;
  };
  return {
    name: 'in PostgreSQL',
    skip: postgresObstacle(),
    begin: async () => {
      url = await storeDatabase();
      first = { ...(await make()), other, remove: () => first.store.execute(leftovers, []) };
    },
    make: async () => first,
    end: async () => {
      for (const one of open) await one.close();
    },
  };
}

const inSqlite: Engine = {
  name: 'in SQLite',
  skip: null,
  begin: async () => {},
  make: embedded,
  end: async () => {},
};

const engines = [inSqlite, onPostgres()];

describe.each(engines)('a queue $name', ({ skip, begin, end, make }) => {
  if (skip !== null) return void it.skip(skip, () => {});
  let bench: Bench;
  let store: Store;
  let queue: JobQueue;

  beforeAll(begin);
  afterAll(end);

  beforeEach(async () => {
    bench = await make();
    ({ store, queue } = bench);
    vi.useFakeTimers({ toFake: ['Date'] });
  });

  afterEach(async () => {
    vi.useRealTimers();
    await bench.remove();
  });

  function pass(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
  }

  async function submit(scanId: string, pool = 'default', priority = 5, isSmall = false): Promise<string> {
    await store.transaction(async (inside) => {
      await inside.scans.insert(
        scanRequest({
          scan_id: scanId,
          created_at: new Date().toISOString(),
          targets: ['10.0.0.1'],
          profile: 'quick',
          rate: 1,
          pool,
          priority,
        }),
      );
      await queue.enqueue(inside, { scanId, pool, isSmall });
    });
    return scanId;
  }

  it('gives the oldest first', async () => {
    for (const id of ['c', 'b', 'a']) await submit(id);
    for (const id of ['c', 'b', 'a']) expect(await queue.claim('w')).toMatchObject({ scanId: id });
    expect(await queue.claim('w')).toBeNull();
  });

  it('gives the highest priority first, and what lost its worker before all', async () => {
    await submit('lost', 'default', 1);
    expect(await queue.claim('w')).toMatchObject({ scanId: 'lost' });
    await submit('low', 'default', 0);
    await submit('usual');
    await submit('high', 'default', 9);
    await submit('next', 'default', 9);
    pass(leaseMs + 1);
    for (const id of ['lost', 'high', 'next', 'usual', 'low'])
      expect(await queue.claim('w')).toMatchObject({ scanId: id });
  });

  it('gives small scans before the large ones that were there first, where only small ones are wanted', async () => {
    await submit('large', 'default', 9);
    await submit('first', 'default', 5, true);
    await submit('second', 'default', 6, true);
    for (const scanId of ['second', 'first'])
      expect(await queue.claim('w', { onlySmall: true })).toMatchObject({ scanId, isSmall: true });
    expect(await queue.claim('w', { onlySmall: true })).toBeNull();
    expect(await queue.claim('w')).toMatchObject({ scanId: 'large', isSmall: false });
  });

  it('gives every job once', async () => {
    // Submitted within one millisecond, with ids in the opposite order.
    for (const id of ['c', 'b', 'a']) await submit(id);
    const claims = await Promise.all(Array.from({ length: 4 }, (_, worker) => queue.claim(`w${worker}`)));
    expect(claims.map((claim) => claim?.scanId ?? '').sort()).toEqual(['', 'a', 'b', 'c']);
    // A claimed scan stays pending until a worker runs it.
    expect(await store.scanQueue.counts(weekAgo())).toEqual({ pending: 3, running: 0, failed: 0 });
    for (const id of ['a', 'b']) await store.scans.update(id, { status: 'running' });
    expect(await store.scanQueue.counts(weekAgo())).toEqual({ pending: 1, running: 2, failed: 0 });
  });

  it('gives a pool its jobs only', async () => {
    await submit('a', 'dmz');
    expect(await queue.claim('w', { pools: ['default'] })).toBeNull();
    expect(await queue.claim('w', { pools: [] })).toBeNull();
    expect(await queue.claim('w', { pools: ['default', 'dmz'] })).toMatchObject({ scanId: 'a', attempt: 1 });
  });

  it('gives a server its own jobs only', async () => {
    const queueOf = (home: string) => new ScanQueue(store, { leaseMs, home });
    await store.scans.insert(scanRequest({ scan_id: 'a' }));
    await queueOf('one').enqueue(store, { scanId: 'a', pool: 'default' });
    expect(await queueOf('two').claim('w')).toBeNull();
    expect(await queueOf('one').claim('w')).toMatchObject({ scanId: 'a' });
    expect([await queueOf('two').reclaimAll(), await queueOf('one').reclaimAll()]).toEqual([0, 1]);
  });

  it('gives a job away when its lease lapses, and refuses the late worker', async () => {
    await submit('a');
    expect(await queue.claim('w1')).toMatchObject({ scanId: 'a', attempt: 1 });
    pass(leaseMs - 1);
    expect(await queue.heartbeat('a', 1)).toBe(true);
    pass(leaseMs - 1);
    expect(await queue.claim('w2')).toBeNull();
    pass(2);
    expect(await queue.claim('w2')).toMatchObject({ scanId: 'a', attempt: 2 });
    expect(await queue.heartbeat('a', 1)).toBe(false);
    expect(await queue.complete('a', 1)).toBe(false);
    expect(await queue.fail('a', 1)).toBe(false);
    expect(await queue.release('a', 1)).toBe(false);
    expect(await queue.complete('a', 2)).toBe(true);
    expect(await queue.complete('a', 2)).toBe(false);
    expect(await queue.claim('w3')).toBeNull();
  });

  it('puts a released job back to its old place', async () => {
    await submit('a');
    await submit('b');
    await queue.claim('w');
    expect(await queue.release('a', 1)).toBe(true);
    expect(await queue.heartbeat('a', 1)).toBe(false);
    expect(await queue.claim('w')).toMatchObject({ scanId: 'a', attempt: 2 });
  });

  it('ends a waiting job that is canceled', async () => {
    await submit('a');
    expect(await queue.cancel('a')).toBe('waiting');
    expect(await queue.isCanceled('a')).toBe(true);
    expect(await queue.claim('w')).toBeNull();
    expect(await queue.cancel('a')).toBe('unknown');
  });

  it('marks a running job that is canceled and never gives it again', async () => {
    for (const id of ['a', 'b', 'c']) await submit(id);
    for (const id of ['a', 'b', 'c']) expect(await queue.claim('w')).toMatchObject({ scanId: id });
    for (const id of ['a', 'b', 'c']) expect(await queue.cancel(id)).toBe('running');
    expect(await queue.heartbeat('a', 1)).toBe(true);
    expect(await queue.isCanceled('a')).toBe(true);
    expect(await queue.release('a', 1)).toBe(true);
    pass(leaseMs + 1);
    expect(await queue.claim('w')).toBeNull();
    expect(await queue.reclaimAll()).toBe(0);
    expect(await queue.claim('w')).toBeNull();
    expect(await store.scanQueue.counts(weekAgo())).toEqual({ pending: 0, running: 0, failed: 0 });
    expect(await queue.complete('b', 1)).toBe(false);
  });

  it('voids all leases at server start', async () => {
    for (const id of ['a', 'b', 'c']) await submit(id);
    await queue.claim('w');
    await queue.claim('w');
    await queue.cancel('b');
    expect(await queue.reclaimAll()).toBe(1);
    expect(await queue.heartbeat('a', 1)).toBe(false);
    expect(await queue.claim('w')).toMatchObject({ scanId: 'a', attempt: 2 });
    expect(await queue.claim('w')).toMatchObject({ scanId: 'c', attempt: 1 });
    expect(await queue.claim('w')).toBeNull();
  });

  it('counts failures since a time', async () => {
    await submit('a');
    await queue.claim('w');
    expect(await queue.fail('a', 1)).toBe(true);
    expect(await store.scanQueue.counts(weekAgo())).toEqual({ pending: 0, running: 0, failed: 1 });
    pass(7 * 24 * 3600 * 1000 + 1);
    expect(await store.scanQueue.counts(weekAgo())).toEqual({ pending: 0, running: 0, failed: 0 });
  });

  it('says no for jobs that it does not know', async () => {
    expect(await queue.heartbeat('x', 1)).toBe(false);
    expect(await queue.cancel('x')).toBe('unknown');
    expect(await queue.isCanceled('x')).toBe(false);
    expect(await queue.remove('x')).toBe(false);
    await submit('a');
    expect(await queue.remove('a')).toBe(true);
    expect(await queue.claim('w')).toBeNull();
  });

  it('shares its jobs between two processes on one store', async () => {
    const others = await bench.other();
    for (const id of ['a', 'b', 'c', 'd']) await submit(id);
    const claims = await Promise.all([
      queue.claim('1'),
      others.claim('2'),
      queue.claim('1'),
      others.claim('2'),
    ]);
    expect(new Set(claims.map((claim) => claim?.scanId)).size).toBe(4);
  });

  it('does not give a paused job away, and keeps its place', async () => {
    for (const id of ['a', 'b']) await submit(id);
    expect(await store.scanPauses.pause('a', Date.now())).toBe(true);
    expect(await queue.claim('w')).toMatchObject({ scanId: 'b' });
    expect(await queue.claim('w')).toBeNull();
    await submit('c');
    expect(await store.scanPauses.resume('a', Date.now())).toBe(true);
    expect(await queue.claim('w')).toMatchObject({ scanId: 'a' });
  });

  it('keeps a pause over a restart, and counts its time from the first claim on', async () => {
    await submit('a');
    await store.scanPauses.pause('a', Date.now());
    pass(5000);
    await store.scanPauses.resume('a', Date.now());
    await queue.claim('w');
    await store.scanPauses.pause('a', Date.now());
    await store.scanPauses.pause('a', Date.now() + 100);
    expect(await queue.reclaimAll()).toBe(1);
    expect(await queue.claim('w')).toBeNull();
    expect(await store.scanPauses.pausedScans()).toEqual(['a']);
    pass(2000);
    expect(await store.scanPauses.pauseOf('a', Date.now())).toEqual({ paused: true, pausedMs: 2000 });
    await store.scanPauses.resume('a', Date.now());
    pass(1000);
    expect(await store.scanPauses.pauseOf('a', Date.now())).toEqual({ paused: false, pausedMs: 2000 });
    expect(await queue.claim('w')).toMatchObject({ attempt: 2 });
  });

  it('gives no held job away, and keeps what somebody paused meanwhile', async () => {
    await submit('a');
    await queue.claim('w');
    expect(await store.scanPauses.startBlackout(Date.now())).toEqual(['a']);
    pass(1000);
    await submit('b');
    expect((await store.scanPauses.startBlackout(Date.now())).toSorted()).toEqual(['a', 'b']);
    expect(await queue.reclaimAll()).toBe(1);
    expect(await queue.claim('w')).toBeNull();
    expect(await store.scanPauses.pauseOf('a', Date.now())).toEqual({ paused: false, pausedMs: 1000 });
    await store.scanPauses.pause('a', Date.now());
    pass(2000);
    await store.scanPauses.endBlackout(Date.now());
    expect(await queue.claim('w')).toMatchObject({ scanId: 'b' });
    expect(await queue.claim('w')).toBeNull();
    await queue.complete('b', 1);
    pass(4000);
    await store.scanPauses.resume('a', Date.now());
    pass(8000);
    expect(await store.scanPauses.pauseOf('a', Date.now())).toEqual({ paused: false, pausedMs: 7000 });
    expect(await queue.claim('w')).toMatchObject({ scanId: 'a' });
  });

  it('counts the time of a pause that began before a hold and ended within it once', async () => {
    await submit('a');
    await queue.claim('w');
    await store.scanPauses.pause('a', Date.now());
    pass(1000);
    await store.scanPauses.startBlackout(Date.now());
    pass(2000);
    await store.scanPauses.resume('a', Date.now());
    expect(await queue.claim('w')).toBeNull();
    pass(4000);
    await store.scanPauses.endBlackout(Date.now());
    expect(await store.scanPauses.pauseOf('a', Date.now())).toEqual({ paused: false, pausedMs: 7000 });
  });

  it('pauses nothing that is over', async () => {
    await submit('a');
    await queue.claim('w');
    await queue.complete('a', 1);
    expect(await store.scanPauses.pause('a', Date.now())).toBe(false);
    expect(await store.scanPauses.resume('nobody', Date.now())).toBe(false);
  });
});
