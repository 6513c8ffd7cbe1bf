import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../store/open.ts';
import { EmbeddedQueue } from './embedded.ts';

const leaseMs = 1000;

let dir: string;
let store: Store;
let queue: EmbeddedQueue;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) });
  dir = await mkdtemp(join(tmpdir(), 'portolan-queue-'));
  store = await openStore(join(dir, 'service.db'));
  queue = new EmbeddedQueue(store, { leaseMs });
});

afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

async function submit(scanId: string, pool = 'default'): Promise<string> {
  await store.transaction(async (inside) => {
    await inside.scans.insert(
      scanRequest({
        scan_id: scanId,
        created_at: new Date().toISOString(),
        targets: ['10.0.0.1'],
        profile: 'quick',
        rate: 1,
        pool,
      }),
    );
    await queue.enqueue(inside, scanId, pool);
  });
  return scanId;
}

describe('the embedded queue', () => {
  it('gives every job once, the oldest first', async () => {
    // Submitted within one millisecond, ids in the opposite order.
    for (const id of ['c', 'b', 'a']) await submit(id);
    const claims = await Promise.all(Array.from({ length: 4 }, (_, worker) => queue.claim(`w${worker}`)));
    expect(claims.map((claim) => claim?.scanId ?? null)).toEqual(['c', 'b', 'a', null]);
    expect(await queue.counts()).toEqual({ pending: 0, running: 3, failed: 0 });
  });

  it('gives a pool its jobs only', async () => {
    await submit('a', 'dmz');
    expect(await queue.claim('w', ['default'])).toBeNull();
    expect(await queue.claim('w', [])).toBeNull();
    expect(await queue.claim('w', ['default', 'dmz'])).toMatchObject({ scanId: 'a', attempt: 1 });
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
    expect(await queue.counts()).toEqual({ pending: 0, running: 0, failed: 0 });
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

  it('counts failures of the last seven days', async () => {
    await submit('a');
    await queue.claim('w');
    expect(await queue.fail('a', 1)).toBe(true);
    expect(await queue.counts()).toEqual({ pending: 0, running: 0, failed: 1 });
    pass(7 * 24 * 3600 * 1000 + 1);
    expect(await queue.counts()).toEqual({ pending: 0, running: 0, failed: 0 });
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
    const other = await openStore(join(dir, 'service.db'));
    const others = new EmbeddedQueue(other, { leaseMs });
    for (const id of ['a', 'b', 'c', 'd']) await submit(id);
    const claims = await Promise.all([
      queue.claim('1'),
      others.claim('2'),
      queue.claim('1'),
      others.claim('2'),
    ]);
    expect(new Set(claims.map((claim) => claim?.scanId)).size).toBe(4);
    await other.close();
  });

  it('does not give a paused job away, and keeps its place', async () => {
    for (const id of ['a', 'b']) await submit(id);
    expect(await store.jobs.pause('a', Date.now())).toBe(true);
    expect(await queue.claim('w')).toMatchObject({ scanId: 'b' });
    expect(await queue.claim('w')).toBeNull();
    await submit('c');
    expect(await store.jobs.resume('a', Date.now())).toBe(true);
    expect(await queue.claim('w')).toMatchObject({ scanId: 'a' });
  });

  it('keeps a pause over a restart, and counts its time from the first claim on', async () => {
    await submit('a');
    await store.jobs.pause('a', Date.now());
    pass(5000);
    await store.jobs.resume('a', Date.now());
    await queue.claim('w');
    await store.jobs.pause('a', Date.now());
    await store.jobs.pause('a', Date.now() + 100);
    expect(await queue.reclaimAll()).toBe(1);
    expect(await queue.claim('w')).toBeNull();
    expect(await store.jobs.pausedScans()).toEqual(['a']);
    pass(2000);
    expect(await store.jobs.pauseOf('a', Date.now())).toEqual({ paused: true, pausedMs: 2000 });
    await store.jobs.resume('a', Date.now());
    pass(1000);
    expect(await store.jobs.pauseOf('a', Date.now())).toEqual({ paused: false, pausedMs: 2000 });
    expect(await queue.claim('w')).toMatchObject({ attempt: 2 });
  });

  it('pauses nothing that is over', async () => {
    await submit('a');
    await queue.claim('w');
    await queue.complete('a', 1);
    expect(await store.jobs.pause('a', Date.now())).toBe(false);
    expect(await store.jobs.resume('nobody', Date.now())).toBe(false);
  });
});
