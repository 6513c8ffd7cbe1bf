import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type StoreEngine, storeEngines } from '../../../test/store-engines.ts';
import type { Config } from '../../config/schema.ts';
import { ScanQueue } from '../../queue/scan-queue.ts';
import { openStore, type Store } from '../../store/open.ts';
import { License } from '../../workspace/license/read-license.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { choices, scheduleConfig, scheduleContext } from '../fixtures/schedule-context.ts';
import { cancelJob } from './cancel-job.ts';
import { expireJobs } from './expire-jobs.ts';
import { finalizeDetachedRuns } from './finalize-runs.ts';
import { listJobs } from './list-jobs.ts';
import { moveSchedules, restoreSchedules, runSchedules, type TurnReport } from './run-schedules.ts';
import { showJob } from './show-job.ts';
import { submitJob } from './submit-job.ts';

let dir: string;
let config: Config;
let store: Store;
let workspace: Workspace;
/** Of a server among many; without it the queue of the only one. */
let queue: ScanQueue | undefined;
const stores: Store[] = [];
const servers: ChildProcess[] = [];

/** Opens a second store on the same place. */
async function openAnother(engine: StoreEngine): Promise<Store> {
  const opened = await openStore(engine.place());
  stores.push(opened);
  return opened;
}

async function openQueue(engine: StoreEngine): Promise<ScanQueue | undefined> {
  if (engine.name === 'SQLite') return undefined;
  return new ScanQueue(await engine.empty(), { leaseMs: 30_000, home: 'here' });
}

/** Three servers: on one file they share the folder too, on a database each has its own. */
async function startServers(engine: StoreEngine): Promise<((now: Date) => Promise<TurnReport[]>)[]> {
  const file = fileURLToPath(new URL('../fixtures/schedule-process.ts', import.meta.url));
  const folder = (number: number) => (engine.name === 'SQLite' ? dir : join(dir, `server-${number}`));
  const children = [1, 2, 3].map((number) => fork(file, [folder(number), engine.place()]));
  servers.push(...children);
  await Promise.all(children.map((child) => once(child, 'message')));
  return children.map((child) => async (now) => {
    const response = once(child, 'message');
    child.send(now.toISOString());
    const [reports] = (await response) as [TurnReport[]];
    return reports;
  });
}

type Context = Awaited<ReturnType<typeof scheduleContext>>;

async function contextOf(own: Store = store, tenants: string[] | null = null): Promise<Context> {
  return { ...(await scheduleContext(own, workspace, config, queue)), tenants };
}

async function submit(context: Context, more: object = {}, tenant: string | null = null) {
  const own = { ...context, store: context.store.forTenant(tenant), workspace: workspace.forTenant(tenant) };
  const body = { type: 'scan', params: { targets: ['127.0.0.1'] }, schedule: '0 2 * * *', ...more };
  return (await submitJob(own, body, 'abc123')).job;
}

/** As long after the next time of a job. */
const afterNext = (job: { next_run_at: string | null }, ms: number) =>
  new Date(Date.parse(job.next_run_at ?? '') + ms);
const day = 86_400_000;
const scans = async () => (await store.scans.totals()).scan_count;

/** Makes 4000 more of each row, with other texts in the given columns. */
async function multiply(...tables: [table: string, ...columns: string[]][]): Promise<void> {
  for (const [table, ...columns] of tables) {
    const changed = columns.map((column) => `'${column}', one.${column} || n`).join(', ');
    const row = `jsonb_populate_record(one, jsonb_build_object(${changed}))`;
    await store.execute(
      `insert into ${table} select (${row}).* from ${table} one, generate_series(1, 4000) n`,
      [],
    );
  }
}

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

/** Rows that a part of a plan gave and left out, each time it ran, and its parts. */
function rowsOf(node: PlanNode): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Join Filter': unjoined = 0 } = node;
  const rows = (node['Actual Rows'] + filtered + unjoined) * node['Actual Loops'];
  return (node.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), rows);
}

/** Rows that PostgreSQL reads for the queries of some work; 0 in SQLite. */
async function rowsVisited(work: () => Promise<void>): Promise<number> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await work();
  const requested = query.mock.calls as unknown as [text: unknown, values?: unknown[]][];
  query.mockRestore();
  let rows = 0;
  for (const [text, values = []] of requested) {
    if (typeof text !== 'string' || !text.startsWith('select')) continue;
    const explained = await store.execute(`explain (analyze, format json) ${text}`, values);
    const [plan] = explained.rows as { 'QUERY PLAN': [{ Plan: PlanNode }] }[];
    if (plan) rows += rowsOf(plan['QUERY PLAN'][0].Plan);
  }
  return rows;
}

async function end(scanId: string | null | undefined, status: 'completed' | 'failed' = 'completed') {
  const at = new Date().toISOString();
  await store.scans.update(scanId ?? '', { status: 'running', started_at: at });
  await store.scans.update(scanId ?? '', { status, completed_at: at });
  await store.scanQueue.cancel(scanId ?? '', Date.now());
}

describe.each(storeEngines())('with a store in $name,', (engine) => {
  if (engine.skip !== null) return void it.skip(engine.skip, () => {});

  beforeAll(async () => {
    await engine.begin();
    queue = await openQueue(engine);
  });
  afterAll(async () => {
    await engine.end();
  });
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'portolan-schedules-'));
    config = scheduleConfig(dir);
    workspace = await openWorkspace(config.workspace.dir);
    store = await engine.empty();
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    }
    for (const each of stores.splice(0)) await each.close();
    await rm(dir, { recursive: true, force: true });
  });

  describe('schedules', () => {
    it('run a job when its time has come, not before, and once', async () => {
      const context = await contextOf();
      const job = await submit(context);
      expect(await runSchedules(context, afterNext(job, -1))).toEqual([]);
      const now = afterNext(job, 500);
      const [report, ...others] = await runSchedules(context, now);
      expect(others).toEqual([]);
      expect(report).toMatchObject({ job_id: job.job_id, fire_at: job.next_run_at, outcome: 'started' });
      expect(await runSchedules(context, now)).toEqual([]);
      expect(await scans()).toBe(1);

      const running = await showJob(context, job.job_id);
      expect(running).toMatchObject({
        status: 'pending',
        scan_id: report?.scan_id,
        run_count: 1,
        last_run_at: now.toISOString(),
        next_run_at: job.next_runs[1],
        runs: [{ scan_id: report?.scan_id, status: 'pending', completed_at: null }],
      });
      await store.scans.update(report?.scan_id ?? '', { status: 'running' });
      expect((await showJob(context, job.job_id)).status).toBe('running');
      await end(report?.scan_id);
      expect(await showJob(context, job.job_id)).toMatchObject({
        status: 'pending',
        last_status: 'completed',
        completed_at: null,
        next_runs: [job.next_runs[1], job.next_runs[2], expect.any(String)],
        runs: [{ status: 'completed', completed_at: expect.any(String) }],
      });
    });

    it('run once for each minute with three servers at the same store, and after a restart', async () => {
      const context = await contextOf();
      let job: Awaited<ReturnType<typeof submit>> = await submit(context, { schedule: '* * * * *' });
      const runDue = await startServers(engine);
      const first = Date.parse(job.next_run_at ?? '');
      let now = new Date(first);
      for (let minute = 0; minute < 10; minute++) {
        now = afterNext(job, 1000);
        const said = await Promise.all(runDue.map((server) => server(now)));
        expect(said.flat()).toMatchObject([{ outcome: 'started', fire_at: job.next_run_at }]);
        await end(said.flat()[0]?.scan_id);
        job = await showJob(context, job.job_id);
      }
      const fired: unknown[] = [];
      for await (const runs of store.rows.pages('job_runs')) fired.push(...runs.map((run) => run['fire_at']));
      const minutes = Array.from({ length: 10 }, (_, n) => new Date(first + n * 60_000).toISOString());
      expect(fired).toEqual(minutes);
      expect(await scans()).toBe(10);
      expect(await runSchedules(await contextOf(await openAnother(engine)), now)).toEqual([]);
      expect(await scans()).toBe(10);
    });

    it.each(['obeyed by another process', 'taken back with its job'])(
      'leave a time alone that was %s after it was seen',
      async (what) => {
        const context = await contextOf();
        const job = await submit(context);
        const now = afterNext(job, 0);
        const seen = await store.jobSchedules.turns('pending', now.toISOString(), null, 9);
        if (what.startsWith('obeyed')) await runSchedules(context, now);
        else await store.clientJobs.cancel(job.job_id, now.toISOString());
        const before = await showJob(context, job.job_id);
        // What the slower process goes by: the store has changed since it looked.
        const late = {
          jobRuns: { finishedRuns: async () => [] },
          jobSchedules: { turns: async (status: string) => (status === 'pending' ? seen : []) },
          forTenant: (tenant: string | null) => store.forTenant(tenant),
        } as unknown as Store;
        expect(await runSchedules({ ...context, store: late }, now)).toEqual([]);
        expect(await showJob(context, job.job_id)).toEqual(before);
        expect(await scans()).toBe(before.run_count);
        expect(await readdir(join(workspace.dir, 'scans'))).toHaveLength(before.run_count);
      },
    );

    it('take times that were missed as one', async () => {
      const context = await contextOf();
      const job = await submit(context, { schedule: '* * * * *' });
      const now = afterNext(job, 3 * day);
      expect(await runSchedules(context, now)).toMatchObject([{ outcome: 'late', fire_at: job.next_run_at }]);
      expect(await scans()).toBe(1);
      const { next_run_at: next } = await showJob(context, job.job_id);
      expect(Date.parse(next ?? '')).toBeGreaterThan(now.getTime());
    });

    it('leave a time out while the run before goes on', async () => {
      const context = await contextOf();
      const job = await submit(context, { schedule: '* * * * *' });
      const [first] = await runSchedules(context, afterNext(job, 0));
      const second = await showJob(context, job.job_id);
      expect(await runSchedules(context, afterNext(second, 0))).toMatchObject([{ outcome: 'skipped' }]);
      expect(await scans()).toBe(1);
      await end(first?.scan_id);
      const third = await showJob(context, job.job_id);
      expect(third.run_count).toBe(1);
      expect(await runSchedules(context, afterNext(third, 0))).toMatchObject([{ outcome: 'started' }]);
      expect(await scans()).toBe(2);
    });

    it('continue without a run whose server is away and store its outcome when that returns', async () => {
      const isAbandoned = async (scanId: string) => scanId === away;
      let away = '';
      const context = { ...(await contextOf()), isAbandoned };
      const job = await submit(context, { schedule: '* * * * *' });
      const [first] = await runSchedules(context, afterNext(job, 0));
      const second = await showJob(context, job.job_id);
      expect(await runSchedules(context, afterNext(second, 0))).toMatchObject([{ outcome: 'skipped' }]);
      away = first?.scan_id ?? '';
      const third = await showJob(context, job.job_id);
      const reports = await runSchedules(context, afterNext(third, 0));
      expect(reports).toMatchObject([{ outcome: 'detached', scan_id: away }, { outcome: 'started' }]);
      const newest = reports[1]?.scan_id ?? '';
      expect(await scans()).toBe(2);
      await store.scans.update(away, { status: 'running', started_at: '2026-10-06T14:30:22.101Z' });
      const runsOf = async () => (await showJob(context, job.job_id)).runs;
      expect(await runsOf()).toMatchObject([
        { scan_id: newest, status: 'pending' },
        { scan_id: away, status: 'running', completed_at: null },
      ]);

      await end(away);
      await finalizeDetachedRuns(store);
      expect(await showJob(context, job.job_id)).toMatchObject({ scan_id: newest, run_count: 2 });
      expect((await runsOf())[1]).toMatchObject({ scan_id: away, status: 'completed' });
      expect((await runsOf())[1]?.completed_at).not.toBeNull();
    });

    it('and runs that they went on without are canceled with their job', async () => {
      const context = { ...(await contextOf()), isAbandoned: async () => true };
      const job = await submit(context, { schedule: '* * * * *' });
      const [first] = await runSchedules(context, afterNext(job, 0));
      const [, second] = await runSchedules(context, afterNext(await showJob(context, job.job_id), 0));
      const canceled = await cancelJob({ ...context, workers: { stop: async () => undefined } }, job.job_id);
      expect(canceled.status).toBe('canceled');
      for (const run of [first, second])
        expect(await store.scanQueue.isCancelRequested(run?.scan_id ?? '')).toBe(true);
    });

    it('are not lost for years to a clock that was ahead by years', async () => {
      const context = await contextOf();
      const job = await submit(context);
      const other = await submit(context, { schedule: '0 3 * * *' });
      const now = afterNext(job, 500);
      const [report] = await runSchedules(context, afterNext(job, 10 * 365 * day));
      await end(report?.scan_id);
      await restoreSchedules(context, now);
      const next = async () => (await showJob(context, job.job_id)).next_run_at;
      expect(await next()).toBe(afterNext(job, day).toISOString());
      // A clock that is right changes nothing.
      await restoreSchedules(context, now);
      expect(await next()).toBe(afterNext(job, day).toISOString());
      // Occurrences run by a wrong clock do not run again, however far it was ahead.
      await restoreSchedules(context, afterNext(job, -500));
      expect(await next()).toBe(afterNext(job, day).toISOString());
      expect((await showJob(context, other.job_id)).run_count).toBeLessThan(2);
    });

    it('do not come again when the clock is set back', async () => {
      const context = await contextOf();
      const job = await submit(context, { schedule: '* * * * *' });
      const [first] = await runSchedules(context, afterNext(job, 100));
      await end(first?.scan_id);
      expect(await runSchedules(context, afterNext(job, -3_600_000))).toEqual([]);
      expect(await runSchedules(context, afterNext(job, 100))).toEqual([]);
      expect(await scans()).toBe(1);
      expect((await showJob(context, job.job_id)).next_run_at).toBe(job.next_runs[1]);
    });

    it('keep a run due while the queue is full, and count it as waiting', async () => {
      const context = await contextOf();
      const jobs = [await submit(context), await submit(context), await submit(context)];
      const now = afterNext(jobs[0] ?? { next_run_at: null }, 0);
      const reports = await runSchedules(context, now);
      expect(reports.map(({ outcome }) => outcome)).toEqual(['started', 'started', 'crowded']);
      expect(await scans()).toBe(2);
      expect(await store.jobSchedules.dueCount(now.toISOString())).toBe(1);
      await end(reports[0]?.scan_id);
      expect(await runSchedules(context, now)).toMatchObject([
        { outcome: 'started', fire_at: jobs[2]?.next_run_at },
      ]);
    });

    it('count a due job against those who come later', async () => {
      const context = await contextOf();
      const job = await submit(context);
      await submit(context);
      await store.jobSchedules.skip(job.job_id, job.next_run_at ?? '', '2026-01-01T00:00:00.000Z');
      await submit(context, { schedule: undefined });
      await expect(submit(context, { schedule: undefined })).rejects.toMatchObject({ code: 'queue_full' });
      expect(await runSchedules(context, new Date())).toMatchObject([
        { outcome: 'late', job_id: job.job_id },
      ]);
    });

    it('record a run that the settings of the day refuse, and go on', async () => {
      const context = await contextOf();
      const job = await submit(context, { params: { targets: ['127.0.0.1'], profile: 'quick' } });
      const fewer = { ...choices, profiles: choices.profiles.slice(0, 1) };
      const without = { ...context, plannedWith: () => ({ ...context, choices: fewer }) };
      expect(await runSchedules(without, afterNext(job, 0))).toMatchObject([{ outcome: 'refused' }]);
      expect(await showJob(context, job.job_id)).toMatchObject({
        status: 'pending',
        last_status: 'failed',
        scan_id: null,
        run_count: 1,
        error: { code: 'invalid_request', message: expect.stringContaining('unknown profile') },
        runs: [{ scan_id: null, status: 'failed' }],
      });
      const next = await showJob(context, job.job_id);
      expect(await runSchedules(context, afterNext(next, 0))).toMatchObject([{ outcome: 'started' }]);
      expect((await showJob(context, job.job_id)).error).toBeNull();
    });

    it('fail without the license that they need', async () => {
      const context = await contextOf();
      const job = await submit(context);
      const installed = { ...context.installed, license: new License(true, null, 'there is none') };
      expect(
        await runSchedules({ ...context, plannedWith: () => ({ choices, installed }) }, afterNext(job, 0)),
      ).toMatchObject([{ outcome: 'refused' }]);
      expect((await showJob(context, job.job_id)).error?.code).toBe('license_required');
      expect(await scans()).toBe(0);
    });

    it('remember the last 20 runs', async () => {
      const context = await contextOf();
      const job = await submit(context, { schedule: '* * * * *' });
      for (let run = 0, next = job; run < 23; run++) {
        const [done] = await runSchedules(context, afterNext(next, 0));
        await end(done?.scan_id, run % 2 ? 'failed' : 'completed');
        next = await showJob(context, job.job_id);
      }
      const { runs, run_count, scan_id } = await showJob(context, job.job_id);
      expect([runs.length, run_count, runs[0]?.scan_id]).toEqual([20, 23, scan_id]);
      expect(runs.slice(0, 2).map(({ status }) => status)).toEqual(['completed', 'failed']);
    });

    it('are compared with the last completed one behind any number of failed ones', async () => {
      const context = await contextOf();
      const job = await submit(context, { schedule: '* * * * *' });
      const scanIds: string[] = [];
      for (let run = 0, next = job; run < 24; run++) {
        const [done] = await runSchedules(context, afterNext(next, 0));
        scanIds.push(done?.scan_id ?? '');
        await end(done?.scan_id, run < 2 ? 'completed' : 'failed');
        next = await showJob(context, job.job_id);
      }
      expect((await context.store.scans.baselineOf(scanIds[23] ?? ''))?.scan_id).toBe(scanIds[1]);
      expect((await showJob(context, job.job_id)).runs.map(({ scan_id }) => scan_id)).toEqual(
        scanIds.slice(4).toReversed(),
      );
    });

    it('follow the time zone of the settings, also a changed one', async () => {
      const context = await contextOf();
      const job = await submit(context);
      expect(job.next_run_at).toMatch(/T02:00/);
      config.queue.timezone = 'Asia/Kolkata';
      await moveSchedules(context, new Date());
      expect((await showJob(context, job.job_id)).next_run_at).toMatch(/T20:30/);
    });

    it('follow a zone that is set back after the one between them came with a time that was due', async () => {
      const context = await contextOf();
      const job = await submit(context);
      const now = afterNext(job, 1000);
      config.queue.timezone = 'Asia/Kolkata';
      await moveSchedules(context, now);
      expect((await showJob(context, job.job_id)).next_run_at).toBe(job.next_run_at);
      await runSchedules(context, now);
      expect((await showJob(context, job.job_id)).next_run_at).toMatch(/T20:30/);
      config.queue.timezone = 'UTC';
      await moveSchedules(context, now);
      expect((await showJob(context, job.job_id)).next_run_at).toMatch(/T02:00/);
    });

    it('serve only the configured tenants', async () => {
      await workspace.makeTenants(['acme', 'gone']);
      const context = await contextOf(store, ['acme']);
      const [acme, gone, none] = [
        await submit(context, {}, 'acme'),
        await submit(context, {}, 'gone'),
        await submit(context),
      ];
      const reports = await runSchedules(context, afterNext(acme, 0));
      expect(reports).toMatchObject([{ job_id: acme.job_id, tenant: 'acme', outcome: 'started' }]);
      expect(await store.scans.tenantOf(reports[0]?.scan_id ?? '')).toBe('acme');
      for (const { job_id } of [gone, none]) expect((await store.clientJobs.get(job_id))?.run_count).toBe(0);
      const other = { config, store: store.forTenant('gone') };
      await expect(showJob(other, acme.job_id)).rejects.toMatchObject({ code: 'not_found' });
      await expect(showJob(other, 'job-ffffffff')).rejects.toMatchObject({ code: 'not_found' });
      const canceling = { ...context, ...other, workers: { stop: async () => undefined } };
      await expect(cancelJob(canceling, acme.job_id)).rejects.toMatchObject({ code: 'not_found' });
      expect((await store.clientJobs.get(acme.job_id))?.status).toBe('running');
    });
  });

  describe('jobs', () => {
    it('are listed by their state at once when thousands came just now', async () => {
      const context = await contextOf();
      await end((await submit(context, { schedule: undefined })).scan_id);
      await listJobs(context, {});
      // What the database knows of the tables then is no longer so.
      await store.execute('analyze', []);
      const { job_id } = await submit(context, { schedule: undefined });
      if (engine.name !== 'SQLite')
        await multiply(['scans', 'scan_id'], ['client_jobs', 'job_id', 'scan_id']);
      const listed = async (status: string) => {
        let jobs: unknown[] = [];
        const rows = await rowsVisited(async () => {
          ({ jobs } = await listJobs(context, { status, limit: 1 }));
        });
        // Comparing each of the 4000 jobs with each of the scans would visit 16 million.
        expect(rows).toBeLessThan(100_000);
        return jobs.length;
      };
      expect(await listed('running')).toBe(0);
      expect(await listed('pending')).toBe(1);
      const { scan_id } = await showJob(context, job_id);
      await store.scans.update(scan_id ?? '', { status: 'running' });
      expect(await listed('running')).toBe(1);
    });
  });

  describe('old jobs', () => {
    it('go after queue.retention with their places in the line; their scans stay', async () => {
      const context = await contextOf();
      const job = await submit(context, { schedule: undefined });
      const recurring = await submit(context);
      const late = new Date(Date.now() + config.queue.retention + 60_000);
      expect(await expireJobs(context, late)).toBe(0);
      await end(job.scan_id);
      await showJob(context, job.job_id);
      expect(await expireJobs(context, new Date())).toBe(0);
      expect(await expireJobs(context, late)).toBe(1);
      await expect(showJob(context, job.job_id)).rejects.toMatchObject({ code: 'not_found' });
      expect(await store.scans.get(job.scan_id ?? '')).not.toBeNull();
      expect(await store.scanQueue.delete(job.scan_id ?? '')).toBe(false);
      expect((await showJob(context, recurring.job_id)).status).toBe('pending');
    });
  });
});
