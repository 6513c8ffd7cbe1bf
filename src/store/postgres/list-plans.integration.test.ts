import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { postgresObstacle, startPostgres, type TestPostgres } from '../../../test/postgres.ts';
import { isLongRun } from '../../../test/rounds.ts';
import { listScans } from '../../actions/scans/list-scans.ts';
import { numberedScanRequest } from '../fixtures/numbered-scan.ts';
import { openStore, type Store } from '../open.ts';

const scans = isLongRun ? 1_000_000 : 30_000;
const jobs = isLongRun ? 10_000_000 : 60_000;
/** One of so many rows has what a rare filter looks for. */
const rare = scans / 30;
/** Rows of the tables that a page may read. */
const maxRead = 7000;
/** Rows that a count may read: 100,001 that match, and those between them that do not. */
const maxCounted = 105_000;
const populateMs = 1_800_000;

/** The part of a plan that is read here: https://www.postgresql.org/docs/15/using-explain.html */
interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

describe.skipIf(postgresObstacle() !== null)('a list in a large PostgreSQL database', () => {
  let client: pg.Client;
  let store: Store;
  let server: TestPostgres | null = null;

  beforeAll(async () => {
    // Of its own: plans depend on what a vacuum can see, which connections of other databases delay.
    server = await startPostgres({ fsync: 'off' });
    const url = await server.database();
    store = await openStore(url);
    client = new pg.Client({ connectionString: url, options: '-c search_path=portolan' });
    await client.connect();
    await populate();
  }, populateMs);
  afterAll(async () => {
    await client?.end();
    await store?.close();
    await server?.remove();
  });

  /** Copies of one scan and of one job, as old as their number says; every thousandth belongs to a tenant. */
  async function populate(): Promise<void> {
    await store.scans.insert(numberedScanRequest(0));
    await store.clientJobs.insert({
      job_id: 'job-0000',
      created_at: '2026-01-01T00:00:00.000Z',
      type: 'scan',
      name: null,
      params: { targets: ['127.0.0.1'] },
      schedule: null,
      zone: 'UTC',
      pool: 'default',
      priority: 5,
      next_run_at: null,
      created_by: null,
    });
    await client.query('set session_replication_role = replica');
    await client.query(`
      insert into scans select copy.* from scans, generate_series(1, ${scans}) as number,
        jsonb_populate_record(scans, jsonb_build_object(
          'scan_id', '20260101-000000-' || lpad(to_hex(number), 6, '0'),
          'created_at', to_char(timestamp '2026-01-01' + number * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'),
          'started_at', to_char(timestamp '2026-01-01' + number * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'),
          'completed_at', to_char(timestamp '2026-01-01' + number * interval '1 second' + (number % 977) * interval '1 ms', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'status', case when number % ${rare} = 7 then 'failed' else 'completed' end,
          'profile', case when number % ${rare} = 8 then 'rare' else 'default' end,
          'tenant', case when number % 1000 = 9 then 'acme' end,
          'name', 'Branch office ' || number % 1000,
          'vulnerabilities', number % 53,
          'searchable', 'Branch office ' || number % 1000 || E'\\n10.' || number % 250 || '.0.0/24'
            || case when number % ${rare} = 10 then E'\\nlighthouse.example' else '' end
        )) as copy`);
    await client.query(
      `insert into scan_tags (scan_id, tag) select scan_id, case when profile = 'rare' then 'rare' else 'usual' end from scans`,
    );
    await client.query(`
      insert into client_jobs select copy.* from client_jobs, generate_series(1, ${jobs}) as number,
        jsonb_populate_record(client_jobs, jsonb_build_object(
          'job_id', 'job-' || lpad(to_hex(number), 12, '0'),
          'created_at', to_char(timestamp '2026-01-01' + number * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'),
          'completed_at', to_char(timestamp '2026-01-01' + number * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'),
          'status', case when number % ${jobs / 20} = 7 then 'canceled' when number % ${jobs / 20} = 8 then 'running' else 'completed' end,
          'pool', case when number % ${jobs / 20} = 9 then 'rare' else 'default' end,
          'tenant', case when number % 1000 = 9 then 'acme' end
        )) as copy`);
    await client.query('vacuum analyze scans, scan_tags, client_jobs');
  }

  /** The statements that `work` has PostgreSQL run, as plans with what they did. */
  async function plansOf(work: () => Promise<unknown>): Promise<{ text: string; nodes: PlanNode[] }[]> {
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    await work();
    const statements = spy.mock.calls.map(([text, values]) => [text as unknown, values as unknown] as const);
    spy.mockRestore();
    const plans = [];
    for (const [text, values] of statements) {
      if (typeof text !== 'string' || !/from "(scans|client_jobs)"/.test(text)) continue;
      const { rows } = await client.query(`explain (analyze, format json) ${text}`, values as unknown[]);
      plans.push({
        text,
        nodes: nodesOf((rows[0] as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan),
      });
    }
    return plans;
  }

  async function expectNarrow(work: () => Promise<unknown>, most = maxRead): Promise<void> {
    const plans = await plansOf(work);
    expect(plans.length).toBeGreaterThan(0);
    for (const { text, nodes } of plans) {
      const read = nodes.filter((node) => node['Relation Name'] !== undefined).map(rowsReadBy);
      // A count stops at a number of its own; below it, reading the table is the fastest way.
      const isCount = text.includes('count(*)');
      expect(Math.max(...read), text).toBeLessThanOrEqual(isCount ? Math.max(most, maxCounted) : most);
      if (!isCount) expect(kindsOf(nodes), text).not.toContain('Seq Scan');
    }
  }

  const views = () => [store, store.forTenant(null), store.forTenant('acme')];

  it.each([
    {},
    { status: 'completed' },
    { status: 'failed' },
    { status: 'running' },
    { since: '2026-01-01T02:00:00Z', until: '2026-01-01T03:00:00Z' },
    { tag: 'rare' },
    { tag: 'usual' },
    { tag: 'none' },
    { profile: 'rare' },
    { profile: 'default' },
    { profile: 'none' },
    { q: 'lighthouse' },
    { q: 'LIGHTHOUSE.EX' },
    { q: 'nothing like it' },
    { q: 'branch' },
    { q: 'branch', status: 'failed' },
    { q: '10.' },
  ])('of scans with $0 reads no table as a whole', async (query) => {
    for (const view of views()) await expectNarrow(() => listScans(view, query));
  });

  it.each(['created_at', 'name', 'status', 'duration', 'findings'].flatMap((sort) => [sort, `-${sort}`]))(
    'of scans by %s is read in the order of an index, from any page on',
    async (sort) => {
      let cursor: string | undefined;
      await expectNarrow(async () => {
        cursor = (await listScans(store, { sort })).next_cursor ?? undefined;
      });
      expect(cursor).toBeDefined();
      await expectNarrow(() => listScans(store, { sort, cursor }));
    },
  );

  it.each([
    { q: 'lighthouse', sort: '-name' },
    { q: 'lighthouse', sort: 'findings' },
    { q: 'nothing like it', sort: '-created_at', offset: 5 },
    { q: 'lighthouse', offset: 5 },
    { profile: 'rare', sort: 'duration' },
    { status: 'failed', sort: '-findings' },
  ])('of scans with $0 reads no table as a whole', async (query) => {
    await expectNarrow(() => listScans(store, query));
  });

  it('of scans skips positions without reading their rows', async () => {
    const plans = await plansOf(() => listScans(store, { offset: scans - 100 }));
    const skips = plans.filter(({ text }) => text.startsWith('select "created_at", "scan_id" from'));
    expect(skips.length).toBe(Math.ceil((scans - 100) / 20_000));
    for (const { text, nodes } of skips) expect(kindsOf(nodes), text).toContain('Index Only Scan');
    for (const { text, nodes } of plans) expect(kindsOf(nodes), text).not.toContain('Seq Scan');
  });

  it.each([
    {},
    { status: 'completed' },
    { status: 'canceled' },
    { status: 'running' },
    { status: 'pending' },
    { pool: 'rare' },
    { pool: 'default' },
    { type: 'scan' },
    { since: '2026-01-01T02:00:00Z' },
  ])('of jobs with $0 reads no table as a whole', async (query) => {
    for (const view of views())
      await expectNarrow(() => view.clientJobs.list({ limit: 50, offset: 0, ...query } as never));
  });
});

function kindsOf(nodes: readonly PlanNode[]): string[] {
  return nodes.map((node) => node['Node Type']);
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function rowsReadBy(node: PlanNode): number {
  const { 'Rows Removed by Filter': removed = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = node;
  return (node['Actual Rows'] + removed + rechecked) * node['Actual Loops'];
}
