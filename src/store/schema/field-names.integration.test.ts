import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  beforeFieldNames,
  createOlderDatabase,
  createOlderFile,
  insertIntoDatabase,
  insertIntoFile,
  type OlderRow,
  type OlderRows,
} from '../../../test/older-store.ts';
import { emptyDatabase, postgresObstacle } from '../../../test/postgres.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../open.ts';
import { newScanRow, pendingScan } from '../scans/scan-row.ts';

const created_at = '2026-01-01T00:00:00.000Z';
const idOf = (number: number) => `20260101-000000-00000${number}`;

function scanRow(number: number): OlderRow {
  const request = scanRequest({ scan_id: idOf(number), created_at });
  return { ...newScanRow(pendingScan(request), request, 'server', null) };
}

function queueRow(number: number, more: OlderRow): OlderRow {
  const claim = { attempt: 0, lease_until: null, worker: null, cancel_requested: 0, finished_at: null };
  const pauses = { paused_since: null, held_since: null, paused_ms: 0 };
  const row = { scan_id: idOf(number), pool: 'default', state: 'waiting', position: number, created_at };
  return { ...row, ...claim, ...pauses, tenant: null, home: null, ...more };
}

function jobRow(number: number, status: string): OlderRow {
  const job = { job_id: `job-0000000${number}`, created_at, status, tenant: null, type: 'scan' };
  const times = { schedule: '0 3 * * *', zone: 'UTC', next_run_at: '2026-01-02T03:00:00.000Z' };
  const completed_at = status === 'canceled' ? created_at : null;
  return { ...job, ...times, completed_at, pool: 'default', run_count: 1, scan_id: idOf(1), params: '{}' };
}

function shardRow(): OlderRow {
  const shard = { scan_id: idOf(1), shard: 0, of: 1, pool: 'default', state: 'running', attempt: 2 };
  const worker = { lapses: 1, lease_until: 10, rows: 7 };
  return { ...shard, ...worker, command: 'pause', obeyed: 'run', rate: 100, rate_kept: 90 };
}

/** A row in each renamed table and each table with a renamed column. */
const rows: OlderRows = [
  ['scans', scanRow(1)],
  ['scans', scanRow(2)],
  ['jobs', queueRow(1, { home: 'owner', held_since: 500 })],
  ['jobs', queueRow(2, { home: 'other' })],
  ['job_orders', jobRow(1, 'pending')],
  ['job_orders', jobRow(2, 'canceled')],
  ['job_runs', { job_id: 'job-00000001', fire_at: created_at, scan_id: idOf(1), status: 'running' }],
  ['idempotency_keys', { owner: '', key: 'k', digest: 'd', scan_id: 's', created_at, answer: '{"a":1}' }],
  [
    'divisions',
    { scan_id: idOf(1), started_at: created_at, begun: 1, addresses: '["192.0.2.1"]', hostnames: '{}' },
  ],
  ['shards', shardRow()],
];

const oldWords = /\b(jobs|job_orders|divisions|home|answer|held|begun|lapses|obeyed|rate_kept)|rate_kept/;

/** Every name in the schema: tables, columns, indexes, constraints, and triggers with their bodies. */
async function namesIn(store: Store, engine: 'SQLite' | 'PostgreSQL'): Promise<string[]> {
  const text =
    engine === 'SQLite'
      ? "select coalesce(sql, name) as name from sqlite_master where name not like 'sqlite_%'"
      : `select relname::text as name from pg_class where relnamespace = 'portolan'::regnamespace
         union all select attname::text from pg_attribute join pg_class on attrelid = pg_class.oid
           where relnamespace = 'portolan'::regnamespace and relkind = 'r'
         union all select conname::text from pg_constraint where connamespace = 'portolan'::regnamespace
         union all select prosrc || proname from pg_proc where pronamespace = 'portolan'::regnamespace
         union all select tgname::text from pg_trigger join pg_class on tgrelid = pg_class.oid
           where relnamespace = 'portolan'::regnamespace and not tgisinternal`;
  const found = await store.execute(text, []);
  return found.rows.map((row) => (row as { name: string }).name);
}

const obstacle = postgresObstacle();

describe.each([
  { engine: 'SQLite' as const, skip: null },
  { engine: 'PostgreSQL' as const, skip: obstacle },
])('a store of an older version in $engine', ({ engine, skip }) => {
  if (skip !== null) return void it.skip(skip, () => {});

  let dir: string;
  let store: Store;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-store-'));
    let location = join(dir, 'older.db');
    if (engine === 'SQLite') {
      await createOlderFile(location, beforeFieldNames);
      insertIntoFile(location, rows);
    } else {
      location = await emptyDatabase();
      await createOlderDatabase(location, beforeFieldNames);
      await insertIntoDatabase(location, rows);
    }
    store = await openStore(location);
  });
  afterAll(async () => {
    await store?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('has no old name left', async () => {
    const names = await namesIn(store, engine);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => oldWords.test(name))).toEqual([]);
    expect(names.join('\n')).toMatch(/scan_queue_by_state/);
  });

  it('keeps the queue of scans with owners and blackouts', async () => {
    const owned = await store.scanQueue.unfinishedOf(['owner', 'other'], 9);
    expect(owned).toEqual([
      { scanId: idOf(1), owner: 'owner' },
      { scanId: idOf(2), owner: 'other' },
    ]);
    expect([
      await store.scanPauses.isInBlackout(idOf(1)),
      await store.scanPauses.isInBlackout(idOf(2)),
    ]).toEqual([true, false]);
  });

  it('keeps the responses to idempotency keys', async () => {
    const key = await store.idempotency.find('', 'k', Date.parse(created_at) + 1);
    expect(key).toMatchObject({ scan_id: 's', response: '{"a":1}' });
  });

  it('keeps shard plans and shards', async () => {
    expect(await store.shards.plan(idOf(1))).toEqual({ addresses: ['192.0.2.1'], hostnames: {} });
    expect(await store.shards.begin(idOf(1), 0)).toEqual({ startedAt: created_at, first: false });
    expect(await store.shards.ofScan(idOf(1))).toMatchObject([
      { applied_command: 'run', applied_rate: 90, rows: 7 },
    ]);
    expect(await store.shards.silent(idOf(1), 20)).toMatchObject([{ scanId: idOf(1), job: null }]);
  });

  it('keeps jobs with their runs, and counts them on', async () => {
    const total = async (filter: object = {}) =>
      (await store.clientJobs.list({ limit: 9, offset: 0, ...filter })).total;
    expect([await total(), await total({ status: 'canceled' })]).toEqual([2, 1]);
    expect((await store.jobRuns.runs(['job-00000001'])).get('job-00000001')).toHaveLength(1);
    await store.clientJobs.cancel('job-00000001', created_at);
    expect([await total(), await total({ status: 'canceled' })]).toEqual([2, 2]);
    const job = { job_id: 'job-00000003', type: 'scan' as const, schedule: null, pool: 'default' };
    const rest = {
      priority: 5,
      name: null,
      next_run_at: null,
      created_by: null,
      created_at,
      params: {},
      zone: 'UTC',
    };
    await store.clientJobs.insert({ ...job, ...rest });
    expect(await total()).toBe(3);
    await store.clientJobs.deleteEndedBefore('2027');
    expect(await total()).toBe(1);
    const runs = await store.execute('select count(*) as runs from job_runs', []);
    expect(Number((runs.rows[0] as { runs: number }).runs)).toBe(0);
  });
});
