import { StatementSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { storeEngines } from '../../test/store-engines.ts';
import { scanRequest } from '../domain/fixtures/scan-request.ts';
import type { Store } from './open.ts';
import { newestOfAll } from './scans/age-windows.ts';
import type { TableRow } from './schema/table-rows.ts';

/** More rows than any statement may read or delete. */
const many = 1300;
/** Maximum rows of one SQLite statement, which blocks the event loop. */
const mostRows = 500;
const start = Date.UTC(2026, 0, 1);

function idOf(number: number): string {
  return `20260101-000000-${number.toString(16).padStart(6, '0')}`;
}

function timeOf(number: number): string {
  return new Date(start + number * 1000).toISOString();
}

/** Finished scans, with their jobs, as copies of one: odd ones failed. */
async function insertMany(store: Store, tenant: string | null): Promise<void> {
  const own = store.forTenant(tenant);
  await own.scans.insert(scanRequest({ scan_id: idOf(0), created_at: timeOf(0) }));
  await own.scanQueue.insert({ scanId: idOf(0), pool: 'default' }, start);
  for (const [table, status] of [
    ['scans', ['completed', 'failed']],
    ['scan_queue', ['done', 'failed']],
  ] as const) {
    const column = table === 'scans' ? 'status' : 'state';
    const end = table === 'scans' ? 'completed_at' : 'finished_at';
    const [model] = (await Array.fromAsync(store.rows.pages(table))).flat() as [TableRow];
    const rows = Array.from({ length: many - 1 }, (_, index) => ({
      ...model,
      scan_id: idOf(index + 1),
      created_at: timeOf(index + 1),
      [column]: status[(index + 1) % 2] ?? null,
      [end]: timeOf(index + 2),
    }));
    await store.rows.insert(table, rows);
  }
  await own.scans.update(idOf(0), { status: 'completed' });
}

describe.each(storeEngines())('in $name', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  let store: Store;
  let most = 0;
  beforeAll(() => engine.begin());
  afterAll(() => engine.end());
  beforeEach(async () => {
    store = await engine.empty();
  });
  afterEach(() => vi.restoreAllMocks());

  /** Most rows that one statement of `work` read; not counted for PostgreSQL, which does not block the event loop. */
  async function rowsReadBy<T>(work: () => Promise<T>): Promise<T> {
    most = 0;
    const all = StatementSync.prototype.all;
    vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...args) {
      const rows = all.apply(this, args);
      most = Math.max(most, rows.length);
      return rows;
    });
    return await work();
  }

  it('walks through scans page by page, newest first', async () => {
    await insertMany(store, null);
    const scans = await rowsReadBy(() => Array.fromAsync(store.scanAges.newestFirst()));
    expect(scans.map(({ scan_id }) => scan_id)).toEqual(
      Array.from({ length: many }, (_, index) => idOf(many - 1 - index)),
    );
    expect(most).toBeLessThanOrEqual(mostRows);
  });

  it('walks through finished scans of tenants page by page, oldest first', async () => {
    await insertMany(store, null);
    const acme = store.forTenant('acme').scans;
    const id = '20250101-000000-000000';
    await acme.insert(scanRequest({ scan_id: id, created_at: timeOf(700.5) }));
    await acme.update(id, { status: 'failed' });
    expect(await store.scanAges.tenants()).toEqual([null, 'acme']);
    const end = await store.scanAges.nthNewest(null, 100);
    expect(end).toEqual({ createdAt: timeOf(many - 100), id: idOf(many - 100) });
    const cuts = new Map([
      [null, end ?? newestOfAll],
      ['acme', newestOfAll],
    ]);
    const scans = await rowsReadBy(() => Array.fromAsync(store.scanAges.finished(cuts)));
    const older = Array.from({ length: many - 100 }, (_, index) => idOf(index));
    expect(scans.map(({ scan_id }) => scan_id)).toEqual(older.toSpliced(701, 0, id));
    expect(most).toBeLessThanOrEqual(mostRows);
    const [first, second] = scans;
    const after = { createdAt: first?.created_at ?? '', id: first?.scan_id ?? '' };
    for await (const next of store.scanAges.finished(cuts, { after })) {
      expect(next).toEqual(second);
      break;
    }
    expect(await store.scanAges.nthNewest('acme', 2)).toBeNull();
  });

  it('finds scans in any order of pages, whether an index leads to them or every scan is looked at', async () => {
    await insertMany(store, null);
    const tagged = [1250, 700, 2].map(idOf);
    await store.rows.insert(
      'scan_tags',
      tagged.map((scan_id) => ({ scan_id, tag: 't' })),
    );
    const pages = async (filter: object, limit: number) => {
      const found: string[] = [];
      for (let offset = 0; ; offset += limit) {
        const { scans, total } = await store.scans.list({ ...filter, limit, offset });
        found.push(...scans.map(({ scan_id }) => scan_id));
        if (scans.length < limit) return [found, total] as const;
      }
    };
    expect(await pages({ tag: 't' }, 2)).toEqual([tagged, 3]);
    expect((await pages({ q: '10.0.0' }, 600))[1]).toBe(many);
    expect(await pages({ q: 'nothing' }, 600)).toEqual([[], 0]);
    const all = Array.from({ length: many }, (_, index) => idOf(many - 1 - index));
    for (const filter of [{}, { q: '10.0.0' }]) expect((await pages(filter, 499))[0]).toEqual(all);
    const failed = await pages({ status: 'failed', since: timeOf(100) }, 333);
    expect(failed).toEqual([all.slice(0, -100).filter((_, index) => index % 2 === 0), 600]);
    const first = await store.scans.list({ tag: 't', limit: 1, offset: 0 });
    const next = await store.scans.list({ tag: 't', limit: 5, offset: 0, cursor: first.nextCursor ?? '' });
    expect(next.scans.map(({ scan_id }) => scan_id)).toEqual(tagged.slice(1));
  });

  it.each(['pending', 'running'] as const)('is led to %s jobs by their state', async (status) => {
    for (const view of [store, store.forTenant(null), store.forTenant('acme')]) {
      const statements: string[] = [];
      const all = StatementSync.prototype.all;
      vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...args) {
        statements.push(this.expandedSQL);
        return all.apply(this, args);
      });
      await view.clientJobs.list({ status, limit: 5, offset: 0 });
      vi.restoreAllMocks();
      for (const statement of statements) {
        const { rows } = await store.execute(`explain query plan ${statement}`, []);
        const plan = rows.map((row) => (row as TableRow)['detail']).join('; ');
        expect(plan, statement).toMatch(
          /SEARCH client_jobs USING INDEX client_jobs_by_(end|next_run) \(status=\?\)/,
        );
        expect(plan, statement).not.toMatch(/SCAN|by_age|by_tenant/);
      }
      expect(statements.length).toBe(engine.name === 'SQLite' ? 2 : 0);
    }
  });

  it('is led to the values of gauges by indexes, whatever has ended', async () => {
    await insertMany(store, null);
    const statements: string[] = [];
    for (const name of ['all', 'get'] as const) {
      const read = StatementSync.prototype[name] as (...args: unknown[]) => never;
      vi.spyOn(StatementSync.prototype, name).mockImplementation(function (this: StatementSync, ...args) {
        statements.push(this.expandedSQL);
        return read.apply(this, args);
      });
    }
    await store.scanQueue.oldestWaiting();
    await store.scanAges.countUnstored();
    vi.restoreAllMocks();
    const plans = statements.map(async (statement) => {
      const { rows } = await store.execute(`explain query plan ${statement}`, []);
      return rows.map((row) => (row as TableRow)['detail']).join('; ');
    });
    for (const plan of await Promise.all(plans)) expect(plan).not.toMatch(/SCAN/);
    expect(statements).toHaveLength(engine.name === 'SQLite' ? 2 : 0);
  });

  it('deletes old jobs in steps', async () => {
    await insertMany(store, null);
    let mostDeleted = 0;
    const run = StatementSync.prototype.run;
    vi.spyOn(StatementSync.prototype, 'run').mockImplementation(function (this: StatementSync, ...args) {
      const result = run.apply(this, args);
      mostDeleted = Math.max(mostDeleted, Number(result.changes));
      return result;
    });
    expect(await store.scanQueue.deleteEndedBefore(timeOf(many - 1))).toBe(many - 3);
    expect(mostDeleted).toBeLessThanOrEqual(mostRows);
    expect(await store.scanQueue.counts('2000')).toMatchObject({ pending: 1, running: 0 });
  });

  describe('counts', () => {
    const count = async (view: Store, status?: 'pending' | 'running' | 'completed' | 'failed') =>
      (await view.scans.list({ limit: 1, offset: 0, ...(status && { status }) })).total;

    it('follow every change of a scan', async () => {
      const acme = store.forTenant('acme');
      for (const number of [1, 2]) await store.scans.insert(scanRequest({ scan_id: idOf(number) }));
      await acme.scans.insert(scanRequest({ scan_id: idOf(3) }));
      await store.scans.update(idOf(1), { status: 'running' });
      await store.scans.update(idOf(1), {
        status: 'completed',
        results: { live_hosts: 1, open_ports: 2, vulnerabilities: 0 },
      });
      await store.scans.setSize(idOf(1), 1000);
      await store.scans.setSize(idOf(1), 700);
      expect([await count(store), await count(store, 'pending'), await count(store, 'completed')]).toEqual([
        3, 2, 1,
      ]);
      expect([await count(store, 'running'), await count(acme), await count(store.forTenant(null))]).toEqual([
        0, 1, 2,
      ]);
      expect(await store.scans.totals()).toMatchObject({ scan_count: 3, size_bytes: 700 });
      await store.rowCounts.fold();
      await store.scans.delete(idOf(1));
      expect(await store.scans.totals()).toMatchObject({ scan_count: 2, size_bytes: 0 });
      await expect(
        store.transaction(async (inside) => {
          await inside.scans.delete(idOf(2));
          throw new Error('undone');
        }),
      ).rejects.toThrow('undone');
      expect(await count(store)).toBe(2);
    });

    it('stay the same when they are folded', async () => {
      for (let number = 0; number < 120; number++) {
        await store.scans.insert(scanRequest({ scan_id: idOf(number) }));
        await store.scans.update(idOf(number), { status: 'running' });
      }
      await store.scans.setSize(idOf(7), 70);
      await store.rowCounts.fold();
      const { rows } = await store.execute('select * from row_counts', []);
      expect(rows.length).toBeLessThan(5);
      expect([await count(store, 'running'), await count(store, 'pending')]).toEqual([120, 0]);
      expect((await store.scans.totals()).size_bytes).toBe(70);
    });
  });
});
