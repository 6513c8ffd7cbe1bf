import { StatementSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { storeEngines } from '../../test/store-engines.ts';
import { listedScans, numberedScanId, numberedScanRequest } from './fixtures/numbered-scan.ts';
import { type Store } from './open.ts';
import type { TokenRecord } from './tokens.ts';

let store: Store;

describe.each(storeEngines())('in $name', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  beforeAll(() => engine.begin());
  afterAll(() => engine.end());
  beforeEach(async () => {
    store = await engine.empty();
  });

  describe('scans', () => {
    it('come back as they were stored', async () => {
      const asked = numberedScanRequest(1, {
        name: 'n',
        tags: ['a', 'b', 'a'],
        notifications: ['slack://x'],
      });
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const origin = { requestId: 'req_1', traceparent };
      const stored = await store.scans.insert(asked, 'cli:42', origin);
      expect(await store.scans.originOf(asked.scan_id)).toEqual(origin);
      expect(stored).toMatchObject({ status: 'pending', tags: ['a', 'b', 'a'], error: null, stages: [] });
      expect(stored.notifications).toEqual([
        { channel: 'slack://x', status: 'pending', attempts: 0, error: null },
      ]);
      expect(await store.scans.get(numberedScanId(1))).toEqual(stored);
      expect(await store.scans.request(numberedScanId(1))).toEqual(asked);
      expect(await store.scans.executor(numberedScanId(1))).toBe('cli:42');
      expect(await store.scans.get(numberedScanId(2))).toBeNull();
      expect(await store.scans.request(numberedScanId(2))).toBeNull();
      expect(await store.scans.executor(numberedScanId(2))).toBeNull();
    });

    it('are changed field by field', async () => {
      const stored = await store.scans.insert(numberedScanRequest(1));
      const change = {
        status: 'running' as const,
        started_at: '2026-01-01T00:00:05.000Z',
        results: { live_hosts: 1, open_ports: 2, vulnerabilities: 3 },
        progress: { ...stored.progress, percent: 50 },
        warnings: [{ code: 'w', message: 'm' }],
        vuln: false,
        tags: ['new'],
        name: 'renamed',
      };
      expect(await store.scans.update(numberedScanId(1), change)).toBe(true);
      expect(await store.scans.get(numberedScanId(1))).toEqual({ ...stored, ...change });
      expect(await listedScans(store, { tag: 'new' })).toEqual([numberedScanId(1)]);
      expect(await listedScans(store, { q: 'RENAMED' })).toEqual([numberedScanId(1)]);
      expect(await store.scans.update(numberedScanId(1), {})).toBe(true);
      expect(await store.scans.update(numberedScanId(2), { name: 'x' })).toBe(false);
      expect(await store.scans.update(numberedScanId(2), {})).toBe(false);
    });

    it('never leave a final state or go back', async () => {
      await store.scans.insert(numberedScanRequest(1));
      const to = (status: 'pending' | 'running' | 'completed' | 'failed') =>
        store.scans.update(numberedScanId(1), { status });
      expect(await to('running')).toBe(true);
      expect(await to('pending')).toBe(false);
      const error = { code: 'canceled' as const, message: 'm' };
      expect(await store.scans.update(numberedScanId(1), { status: 'failed', error })).toBe(true);
      expect(await store.scans.update(numberedScanId(1), { status: 'completed', error: null })).toBe(false);
      expect(await store.scans.get(numberedScanId(1))).toMatchObject({ status: 'failed', error });
      expect(await store.scans.update(numberedScanId(1), { warnings: [] })).toBe(true);
    });

    it('are deleted with tags and job', async () => {
      await store.scans.insert(numberedScanRequest(1, { tags: ['a'] }));
      await store.scanQueue.insert({ scanId: numberedScanId(1), pool: 'default' }, 0);
      expect(await store.scans.delete(numberedScanId(1))).toBe(true);
      expect(await store.scans.delete(numberedScanId(1))).toBe(false);
      expect(await listedScans(store, { tag: 'a' })).toEqual([]);
      expect(await store.scanQueue.delete(numberedScanId(1))).toBe(false);
    });

    it('that wait or run are unfinished at start', async () => {
      for (const number of [1, 2, 3, 4]) await store.scans.insert(numberedScanRequest(number));
      await store.scans.update(numberedScanId(3), { status: 'running' });
      await store.scans.update(numberedScanId(2), { status: 'running' });
      await store.scans.update(numberedScanId(4), { status: 'completed' });
      expect(await store.scans.unfinished()).toEqual([
        numberedScanId(1),
        numberedScanId(2),
        numberedScanId(3),
      ]);
    });

    it('that are over and not in the result store yet are told, oldest first', async () => {
      for (const number of [2, 1, 3, 4]) await store.scans.insert(numberedScanRequest(number));
      for (const number of [1, 2, 4])
        await store.scans.update(numberedScanId(number), { status: 'completed' });
      expect((await Array.fromAsync(store.scanAges.unstored())).map(({ scan_id }) => scan_id)).toEqual(
        [1, 2, 4].map(numberedScanId),
      );
      expect(await store.scans.storedAt(numberedScanId(1))).toBeNull();
      expect(await store.scans.setStored(numberedScanId(1), '2026-01-02T00:00:00.000Z')).toBe(true);
      expect(await store.scans.setStored(numberedScanId(9), '2026-01-02T00:00:00.000Z')).toBe(false);
      expect(await store.scans.storedAt(numberedScanId(1))).toBe('2026-01-02T00:00:00.000Z');
      expect((await Array.fromAsync(store.scanAges.unstored())).map(({ scan_id }) => scan_id)).toEqual(
        [2, 4].map(numberedScanId),
      );
      expect(await store.scanAges.countUnstored()).toBe(2);
    });

    it('that wait are dated by the oldest that is not paused', async () => {
      const oldest = async () => {
        const since = await store.scanQueue.oldestWaiting();
        return since && Date.parse(since);
      };
      expect(await oldest()).toBeNull();
      for (const number of [1, 2, 3]) {
        await store.scans.insert(numberedScanRequest(number));
        await store.scanQueue.insert({ scanId: numberedScanId(number), pool: 'default' }, number * 1000);
      }
      expect(await oldest()).toBe(1000);
      await store.scanPauses.pause(numberedScanId(1), 5000);
      expect(await oldest()).toBe(2000);
      // After its server claimed it, it waits until a worker starts it.
      expect((await store.scanQueue.claim('worker', 6000, 9000))?.scanId).toBe(numberedScanId(2));
      expect(await oldest()).toBe(2000);
      await store.scans.update(numberedScanId(2), { status: 'running' });
      expect(await oldest()).toBe(3000);
      await store.scanPauses.resume(numberedScanId(1), 7000);
      expect(await oldest()).toBe(1000);
    });

    it('that ended since a time are counted by how they ended', async () => {
      const { scans, scanQueue } = store;
      for (const [number, state] of (['done', 'failed', 'done', 'failed'] as const).entries()) {
        const scanId = numberedScanId(number);
        await scans.insert(numberedScanRequest(number));
        await scanQueue.insert({ scanId, pool: 'default' }, 1000);
        const claim = await scanQueue.claim('worker', 1000, 9000);
        await scanQueue.finish({ scanId, attempt: claim?.attempt ?? 0 }, state, 2000 + number);
      }
      await scans.insert(numberedScanRequest(9));
      await scanQueue.insert({ scanId: numberedScanId(9), pool: 'default' }, 1000);
      const ended = async (time: number) => {
        const since = new Date(time).toISOString();
        const [done, failed] = [await scanQueue.endedSince('done', since), await scanQueue.counts(since)];
        return { done, failed: failed.failed };
      };
      expect(await ended(0)).toEqual({ done: 2, failed: 2 });
      expect(await ended(2001)).toEqual({ done: 1, failed: 2 });
      expect(await ended(2004)).toEqual({ done: 0, failed: 0 });
    });

    it('with very many or long targets are listed with the first ones', async () => {
      const many = Array.from({ length: 10_000 }, (_, index) => `host-${index}.${'x'.repeat(150)}.example`);
      const commas = Array(100).fill('192.0.2.1,'.repeat(1000));
      const few = Array.from({ length: 10 }, (_, index) => `192.0.2.${index}`);
      await store.scans.insert(numberedScanRequest(1, { targets: few }));
      await store.scans.insert(numberedScanRequest(2, { targets: many }));
      await store.scans.insert(numberedScanRequest(3, { targets: commas }));
      const [third, second, first] = (await store.scans.list({ limit: 5, offset: 0 })).scans;
      expect(first?.targets).toEqual(few);
      expect(first).not.toHaveProperty('targets_total');
      expect(second).toMatchObject({ targets: many.slice(0, 1), targets_total: 10_000 });
      expect(third).toMatchObject({
        targets: [expect.stringMatching(/^192\.0\.2\.1,.*…$/)],
        targets_total: 100,
      });
      expect((await store.scans.get(numberedScanId(2)))?.targets).toEqual(many);
      await store.scans.update(numberedScanId(2), { targets: ['192.0.2.1'] });
      expect((await store.scans.list({ limit: 1, offset: 1 })).scans[0]).not.toHaveProperty('targets_total');
      expect(await store.scans.delete(numberedScanId(3))).toBe(true);
    });

    it('are listed without their stages and warnings, which are counted', async () => {
      const warnings = Array.from({ length: 200 }, (_, index) => ({
        code: 'unresolved',
        message: `${index}`,
      }));
      await store.scans.insert(numberedScanRequest(1));
      await store.scans.update(numberedScanId(1), { warnings });
      await store.scans.insert(numberedScanRequest(2));
      const { scans } = await store.scans.list({ limit: 5, offset: 0 });
      expect(scans.map(({ warnings_total }) => warnings_total)).toEqual([0, 200]);
      for (const name of ['stages', 'warnings', 'notifications'])
        expect(scans.some((scan) => Object.hasOwn(scan, name))).toBe(false);
    });

    it('are totalled', async () => {
      expect(await store.scans.totals()).toEqual({
        scan_count: 0,
        oldest: null,
        newest: null,
        size_bytes: 0,
      });
      for (const number of [1, 2]) await store.scans.insert(numberedScanRequest(number));
      expect(await store.scans.setSize(numberedScanId(1), 5_000_000_000)).toBe(true);
      expect(await store.scans.setSize(numberedScanId(9), 1)).toBe(false);
      expect(await store.scans.totals()).toEqual({
        scan_count: 2,
        oldest: '2026-01-01T00:00:01.000Z',
        newest: '2026-01-01T00:00:02.000Z',
        size_bytes: 5_000_000_000,
      });
    });
  });

  describe('the list', () => {
    it('is filtered', async () => {
      await store.scans.insert(numberedScanRequest(1, { name: 'Office 100%', tags: ['a'] }));
      await store.scans.insert(numberedScanRequest(2, { targets: ['db_1.example.net'], tags: ['a', 'b'] }));
      await store.scans.insert(numberedScanRequest(3));
      await store.scans.update(numberedScanId(3), { status: 'running' });
      expect(await listedScans(store, { status: 'running' })).toEqual([numberedScanId(3)]);
      expect(await listedScans(store, { since: '2026-01-01T00:00:02Z' })).toEqual([
        numberedScanId(3),
        numberedScanId(2),
      ]);
      expect(await listedScans(store, { since: '2026-01-01T01:00:02+01:00' })).toEqual([
        numberedScanId(3),
        numberedScanId(2),
      ]);
      expect(await listedScans(store, { tag: 'a' })).toEqual([numberedScanId(2), numberedScanId(1)]);
      expect(await listedScans(store, { tag: 'a', q: 'office' })).toEqual([numberedScanId(1)]);
      expect(await listedScans(store, { q: '0%' })).toEqual([numberedScanId(1)]);
      expect(await listedScans(store, { q: 'b_1' })).toEqual([numberedScanId(2)]);
      for (const q of ['_', '%', '\\', '"', '[', "'"])
        expect(await listedScans(store, { q })).toEqual(expectedFor(q));
      await expect(listedScans(store, { since: 'yesterday' })).rejects.toMatchObject({
        code: 'invalid_request',
      });
    });

    function expectedFor(q: string): string[] {
      if (q === '_') return [numberedScanId(2)];
      return q === '%' ? [numberedScanId(1)] : [];
    }

    it('is paged by cursor, also past deleted scans and among equal times', async () => {
      const created_at = '2026-02-01T00:00:00.000Z';
      for (let number = 0; number < 7; number++)
        await store.scans.insert(numberedScanRequest(number, { created_at }));
      const first = await store.scans.list({ limit: 3, offset: 0 });
      expect(first.scans.map((scan) => scan.scan_id)).toEqual([6, 5, 4].map(numberedScanId));
      expect(first.total).toBe(7);
      await store.scans.delete(numberedScanId(4));
      const second = await store.scans.list({ limit: 3, offset: 0, cursor: first.nextCursor ?? '' });
      expect(second.scans.map((scan) => scan.scan_id)).toEqual([3, 2, 1].map(numberedScanId));
      expect(second.total).toBe(6);
      const third = await store.scans.list({ limit: 3, offset: 0, cursor: second.nextCursor ?? '' });
      expect(third).toMatchObject({ scans: [{ scan_id: numberedScanId(0) }], nextCursor: null });
      expect(await listedScans(store, { limit: 2, offset: 5 })).toEqual([numberedScanId(0)]);
      expect(await listedScans(store, { offset: 99 })).toEqual([]);
    });

    it.each(['', 'x', 'AAAA', Buffer.from("' or 1=1 --").toString('base64url')])(
      'refuses the cursor %j',
      async (cursor) => {
        await expect(listedScans(store, { cursor })).rejects.toMatchObject({
          code: 'invalid_request',
          details: { fields: [{ field: 'cursor' }] },
        });
      },
    );

    it('of a thousand scans takes a few statements that return a page', async () => {
      const total = 1000;
      await store.transaction(async (inside) => {
        for (let number = 0; number < total; number++) {
          await inside.scans.insert(
            numberedScanRequest(number, { tags: [`t${number % 10}`], name: `scan ${number}` }),
          );
        }
      });
      const { nextCursor } = await store.scans.list({ limit: total / 2, offset: 0 });
      const filters = [
        {},
        { offset: total * 0.8 },
        { cursor: nextCursor ?? '' },
        { tag: 't3' },
        { q: 'scan 77' },
        { status: 'running' as const },
      ];
      for (const filter of filters) {
        const all = vi.spyOn(StatementSync.prototype, 'all');
        await store.scans.list({ limit: 50, offset: 0, ...filter });
        const rows = all.mock.results.map(({ value }) => (value as unknown[]).length);
        all.mockRestore();
        expect(rows.length, JSON.stringify(filter)).toBeLessThanOrEqual(6);
        // Tags of a page are a separate query, with several rows per scan.
        expect(Math.max(0, ...rows), JSON.stringify(filter)).toBeLessThanOrEqual(2 * 51);
      }
    });
  });

  describe('shards', () => {
    const plan = {
      addresses: ['192.0.2.0/30'],
      hostnames: { '192.0.2.1': ['a.example'] },
    };
    const claim = async (shard: number, id = `job ${shard}`, retry = 0) => {
      const place = { scanId: numberedScanId(1), shard };
      return await store.shardJobs.claim(place, { id, retry }, 'w', { now: 1000, leaseUntil: 2000 });
    };

    beforeEach(async () => {
      await store.scans.insert(numberedScanRequest(1));
      await store.shardJobs.insert(numberedScanId(1), 'lab', plan, {
        line: 'shards',
        ids: ['job 0', 'job 1'],
      });
    });

    it('come with what is divided, by their job', async () => {
      expect(await claim(1)).toMatchObject({ shard: 1, of: 2, attempt: 1, rows: 0, plan });
      expect(await claim(1, 'job 0')).toBeNull();
      expect(await claim(2)).toBeNull();
      // The same job again: its worker was lost.
      expect(await claim(1, 'job 1', 1)).toMatchObject({ attempt: 2 });
      await store.shards.deleteOf(numberedScanId(1));
      expect(await store.shards.plan(numberedScanId(1))).toBeNull();
    });

    it('begin once, whoever says so', async () => {
      const first = '2026-10-06T14:30:22.101Z';
      const begun = { startedAt: first, first: true };
      expect(await store.shards.begin(numberedScanId(1), Date.parse(first))).toEqual(begun);
      expect(await store.shards.begin(numberedScanId(1), Date.parse(first) + 1)).toEqual({
        ...begun,
        first: false,
      });
      expect(await store.shards.begin(numberedScanId(2), 0)).toBeNull();
    });

    it('that were given up are not kept by a sign of life that comes after', async () => {
      const held = await claim(0);
      if (!held) throw new Error('the shard was not free');
      const sign = { leaseUntil: 3000, appliedCommand: 'run' as const, appliedRate: 0 };
      expect(await store.shards.heartbeat(held, sign)).toMatchObject({ command: 'run' });
      expect(await store.shards.abandon(held)).toBe(true);
      expect(await store.shards.heartbeat(held, sign)).toBeNull();
      const job = { line: 'shards', id: 'job 0', retry: 0 };
      expect(await store.shards.silent(numberedScanId(1), 1500)).toMatchObject([
        { shard: 0, attempt: 1, job },
      ]);
    });

    it('wait for another worker, or fail for good, as long as somebody has them', async () => {
      const held = await claim(0);
      if (!held) throw new Error('the shard was not free');
      expect(await store.shards.wait({ ...held, attempt: 2 })).toBe(false);
      expect(await store.shards.wait(held)).toBe(true);
      expect(await store.shards.fail(held, 0)).toBe(false);
      expect(await store.shards.fail({ scanId: held.scanId, shard: 0 }, 0)).toBe(true);
      expect(await claim(0)).toBeNull();
    });
  });

  describe('transactions', () => {
    it('roll back wholly', async () => {
      const failing = store.transaction(async (inside) => {
        await inside.scans.insert(numberedScanRequest(1, { tags: ['a'] }));
        await inside.scanQueue.insert({ scanId: numberedScanId(1), pool: 'default' }, 0);
        throw new Error('stop');
      });
      await expect(failing).rejects.toThrow('stop');
      expect(await listedScans(store)).toEqual([]);
      expect(await store.scanQueue.counts('2000')).toEqual({ pending: 0, running: 0, failed: 0 });
    });

    // Those of PostgreSQL do: postgres-transactions.integration.test.ts.
    if (engine.name === 'SQLite')
      it('do not interleave', async () => {
        const steps: string[] = [];
        const work = (name: string) =>
          store.transaction(async (inside) => {
            steps.push(`${name} in`);
            await inside.scans.totals();
            await new Promise((resolve) => setTimeout(resolve, 5));
            await inside.scans.totals();
            steps.push(`${name} out`);
          });
        const reading = store.scans.totals();
        await Promise.all([work('a'), work('b'), reading]);
        expect(steps).toEqual(['a in', 'a out', 'b in', 'b out']);
      });

    it('join when nested', async () => {
      await store.transaction(async (outer) => {
        await outer.scans.insert(numberedScanRequest(1));
        await outer.transaction(async (inner) => {
          expect(await inner.scans.get(numberedScanId(1))).not.toBeNull();
          await inner.scans.insert(numberedScanRequest(2));
        });
      });
      expect(await listedScans(store)).toEqual([numberedScanId(2), numberedScanId(1)]);
    });
  });

  describe('tokens', () => {
    const token: TokenRecord = {
      id: 't1',
      name: 'ci',
      digest: 'aa',
      previous_digest: null,
      previous_until: null,
      scopes: ['scan:read'],
      tenant: null,
      created_at: '2026-01-01T00:00:00.000Z',
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    };

    it('are stored, found, listed and changed', async () => {
      await store.tokens.insert(token);
      await store.tokens.insert({ ...token, id: 't0', created_at: '2026-01-02T00:00:00.000Z' });
      expect(await store.tokens.find('t1')).toEqual(token);
      expect(await store.tokens.find('t9')).toBeNull();
      expect((await store.tokens.list()).map(({ id }) => id)).toEqual(['t1', 't0']);
      expect(await store.tokens.update('t1', { revoked_at: '2026-01-03T00:00:00.000Z', scopes: [] })).toBe(
        true,
      );
      expect(await store.tokens.find('t1')).toMatchObject({
        revoked_at: '2026-01-03T00:00:00.000Z',
        scopes: [],
      });
      expect(await store.tokens.update('t1', {})).toBe(true);
      expect(await store.tokens.update('t9', { name: 'x' })).toBe(false);
      await expect(store.tokens.insert(token)).rejects.toThrow();
    });
  });
});
