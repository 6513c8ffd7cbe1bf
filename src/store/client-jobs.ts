import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import {
  type Job,
  type JobError,
  type JobRun,
  type JobStatus,
  type JobType,
  jobIdPattern,
} from '../domain/job.ts';
import type { ScanProgress, ScanStatus } from '../domain/scan.ts';
import { type CursorPosition, decodeCursor, encodeCursor } from './cursor.ts';
import { isPostgres } from './database.ts';
import { deleteInSteps } from './delete-in-steps.ts';
import { RowCounts } from './row-counts.ts';
import {
  type AgeRange,
  countInWindows,
  newestOfAll,
  rowsInWindows,
  type SearchedList,
  stepBack,
} from './scans/age-windows.ts';
import type { ClientJobTableRow, JobRunTableRow, Tables } from './schema/tables.ts';
import { inView, searchedInView, type TenantView } from './tenant-view.ts';

/** A job as it is stored; how far its scan has come is not part of it. */
export interface StoredJob extends Omit<Job, 'params' | 'progress' | 'next_runs' | 'runs' | 'warnings'> {
  /** Null in a list when it is long; see `ClientJobTable.params`. */
  params: Record<string, unknown> | null;
  tenant: string | null;
}

/** A job that begins to exist. */
export type NewJob = Pick<
  StoredJob,
  'job_id' | 'type' | 'schedule' | 'pool' | 'name' | 'next_run_at' | 'created_at' | 'created_by'
> & { params: Record<string, unknown>; zone: string };

export interface JobFilter {
  status?: JobStatus;
  /** ISO 8601; jobs created then or later. */
  since?: string;
  pool?: string;
  type?: JobType;
  limit: number;
  /** Jobs to skip; not used together with `cursor`. */
  offset: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
}

type Filters = Pick<JobFilter, 'status' | 'since' | 'pool' | 'type'>;
type ListedRow = Pick<ClientJobTableRow, (typeof listedColumns)[number]> & { params: string | null };

export interface JobPage {
  jobs: StoredJob[];
  total: number;
  nextCursor: string | null;
}

/** A time of a schedule that has come. */
export interface Turn {
  job_id: string;
  tenant: string | null;
  schedule: string;
  /** ISO 8601. */
  fire_at: string;
  /** Of its newest run. */
  scan_id?: string | null;
}

/** How a run stands while its scan is there. */
export interface LiveRun {
  status: ScanStatus;
  percent: number;
  started_at: string | null;
}

/** How a run ended. */
export interface RunOutcome {
  status: 'completed' | 'failed';
  started_at: string | null;
  completed_at: string;
  error: JobError | null;
}

/** A run that is over, as its scan tells, while its job does not know. */
export interface EndedRun {
  job_id: string;
  scan_id: string;
}

/** Runs that are remembered of each job. */
export const maxRuns = 20;
/** Characters of `params` that come with a list; longer ones are read one by one. */
const maxListedParams = 65_536;

/** Jobs that clients submitted, their schedules and their runs. */
export class ClientJobTable {
  readonly #db: Kysely<Tables>;
  readonly #view: TenantView;

  /** @param view whose jobs are seen, changed and made */
  constructor(db: Kysely<Tables>, view: TenantView) {
    this.#db = db;
    this.#view = view;
  }

  /** Stores a job that waits for its time. */
  async insert({ params, ...job }: NewJob): Promise<void> {
    await this.#db
      .insertInto('client_jobs')
      .values({
        ...job,
        params: JSON.stringify(params),
        status: 'pending',
        tenant: this.#view ?? null,
        last_run_at: null,
        last_status: null,
        run_count: 0,
        scan_id: null,
        started_at: null,
        completed_at: null,
        error: null,
      })
      .execute();
  }

  /** Whether a job of anybody, of the tenants out of view too, has the id. */
  async isTaken(jobId: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom('client_jobs')
      .select('job_id')
      .where('job_id', '=', jobId)
      .executeTakeFirst();
    return row !== undefined;
  }

  async get(jobId: string): Promise<StoredJob | null> {
    const row = await this.#db
      .selectFrom('client_jobs')
      .select([...listedColumns, 'params'])
      .where('job_id', '=', jobId)
      .where(inView(this.#view))
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  async params(jobId: string): Promise<Record<string, unknown> | null> {
    return (await this.get(jobId))?.params ?? null;
  }

  /** Newest first. @throws PortolanError `invalid_request` for a malformed `cursor` */
  async list(filter: JobFilter): Promise<JobPage> {
    const total = await this.#count(filter);
    return { ...(await this.listPart(filter)), total };
  }

  /** A page without the total, which whoever reads a long page in parts needs once. */
  async listPart(filter: JobFilter): Promise<Omit<JobPage, 'total'>> {
    const rows = await this.#page(filter);
    const jobs = rows.slice(0, filter.limit).map(fromRow);
    const last = jobs.at(-1);
    const next = last && rows.length > filter.limit ? { createdAt: last.created_at, id: last.job_id } : null;
    return { jobs, nextCursor: next && encodeCursor(next) };
  }

  async #count(filter: JobFilter): Promise<number> {
    if (isIndexed(filter) && filter.since === undefined)
      return (await new RowCounts(this.#db, this.#view).of('client_jobs', filter.status)).total;
    // PostgreSQL searches in a process of its own.
    if (isIndexed(filter) || isLive(filter) || isPostgres(this.#db))
      return await this.#countIn(filter, { before: newestOfAll, from: null });
    return await countInWindows(this.#searched(filter));
  }

  async #countIn(filter: Filters, range: AgeRange): Promise<number> {
    const row = await this.#db
      .selectFrom('client_jobs')
      .select((e) => e.fn.countAll().as('jobs'))
      .where(isLive(filter) ? searchedInView(this.#view) : inView(this.#view))
      .where(matching(filter))
      .where(isInRange(range))
      .executeTakeFirstOrThrow();
    return Number(row.jobs);
  }

  /** One more than the page holds, to know whether another one follows. */
  async #page(filter: JobFilter): Promise<ListedRow[]> {
    const { cursor, offset } = filter;
    const before = cursor === undefined ? newestOfAll : decodeCursor(cursor, jobIdPattern);
    const limit = filter.limit + 1;
    const skip = cursor === undefined ? offset : 0;
    if (isLive(filter) || isPostgres(this.#db))
      return await this.#rows(filter, { before, from: null }, limit, skip);
    if (!isIndexed(filter)) return await rowsInWindows(this.#searched(filter), before, limit, skip);
    const start = await stepBack(before, skip, (position, n) => this.#nthBefore(filter, position, n));
    return start === null ? [] : await this.#rows(filter, { before: start, from: null }, limit, 0);
  }

  #searched(filter: Filters): SearchedList<ListedRow> {
    return {
      nthBefore: (position, n) => this.#nthBefore({}, position, n),
      count: (range) => this.#countIn(filter, range),
      rows: (range, limit, offset) => this.#rows(filter, range, limit, offset),
    };
  }

  async #nthBefore(filter: Filters, position: CursorPosition, n: number): Promise<CursorPosition | null> {
    const row = await this.#db
      .selectFrom('client_jobs')
      .select(['created_at', 'job_id'])
      .where(inView(this.#view))
      .where(matching(filter))
      .where(isInRange({ before: position, from: null }))
      .orderBy('created_at', 'desc')
      .orderBy('job_id', 'desc')
      .limit(1)
      .offset(n - 1)
      .executeTakeFirst();
    return row ? { createdAt: row.created_at, id: row.job_id } : null;
  }

  async #rows(filter: Filters, range: AgeRange, limit: number, offset: number): Promise<ListedRow[]> {
    return await this.#db
      .selectFrom('client_jobs')
      .select(listedColumns)
      .select(sql<string | null>`case when length(params) <= ${maxListedParams} then params end`.as('params'))
      .where(isLive(filter) ? searchedInView(this.#view) : inView(this.#view))
      .where(matching(filter))
      .where(isInRange(range))
      .orderBy('created_at', 'desc')
      .orderBy('job_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
  }

  /** Runs of jobs, newest first, as they were when they were last settled. */
  async runs(jobIds: readonly string[]): Promise<Map<string, JobRun[]>> {
    const runs = new Map<string, JobRun[]>(jobIds.map((id) => [id, []]));
    if (jobIds.length === 0) return runs;
    const rows = await this.#db
      .selectFrom('job_runs')
      .selectAll()
      .where('job_id', 'in', jobIds)
      .orderBy('fire_at', 'desc')
      .execute();
    for (const row of rows) runs.get(row.job_id)?.push(runFromRow(row));
    return runs;
  }

  /** How the scans of runs under way stand. */
  async liveRuns(scanIds: readonly string[]): Promise<Map<string, LiveRun>> {
    if (scanIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('scans')
      .select(['scan_id', 'status', 'progress', 'started_at'])
      .where('scan_id', 'in', scanIds)
      .execute();
    return new Map(rows.map(({ scan_id, ...row }) => [scan_id, liveFromRow(row)]));
  }

  /** Jobs whose time has come and that could not run yet. @param now ISO 8601 */
  async dueCount(now: string): Promise<number> {
    const row = await this.#db
      .selectFrom('client_jobs')
      .select((e) => e.fn.countAll().as('jobs'))
      .where('status', '=', 'pending')
      .where('next_run_at', '<=', now)
      .where(inView(this.#view))
      .executeTakeFirstOrThrow();
    return Number(row.jobs);
  }

  /** Jobs that will run again. */
  async recurringCount(): Promise<number> {
    const row = await this.#db
      .selectFrom('client_jobs')
      .select((e) => e.fn.countAll().as('jobs'))
      .where('status', 'in', ['pending', 'running'])
      .where('next_run_at', 'is not', null)
      .where(inView(this.#view))
      .executeTakeFirstOrThrow();
    return Number(row.jobs);
  }

  /**
   * Times that have come, the longest past one first.
   * @param status `pending`: the job is free to run; `running`: it still does
   * @param now ISO 8601
   * @param tenants whose jobs; null for those without tenant
   */
  async turns(
    status: 'pending' | 'running',
    now: string,
    tenants: readonly string[] | null,
    limit: number,
  ): Promise<Turn[]> {
    const rows = await this.#db
      .selectFrom('client_jobs')
      .select(['job_id', 'tenant', 'schedule', 'next_run_at', 'scan_id'])
      .where('status', '=', status)
      .where('next_run_at', '<=', now)
      .where((e) => (tenants === null ? e('tenant', 'is', null) : e('tenant', 'in', tenants)))
      .where(inView(this.#view))
      .orderBy('next_run_at')
      .orderBy('job_id')
      .limit(limit)
      .execute();
    return rows.flatMap(({ job_id, tenant, schedule, next_run_at, scan_id }) =>
      schedule === null || next_run_at === null
        ? []
        : [{ job_id, tenant, schedule, fire_at: next_run_at, scan_id }],
    );
  }

  /** Whether the time is still to be obeyed: no other process has, and the job was not canceled. */
  async isDue(jobId: string, fireAt: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom('client_jobs')
      .select('job_id')
      .where('job_id', '=', jobId)
      .where('status', '=', 'pending')
      .where('next_run_at', '=', fireAt)
      .where(inView(this.#view))
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * A run has become a scan. Called in the transaction that stores the scan, after `isDue`.
   * @param next the time after, null for a job without schedule
   * @throws what the database says when the run is there already: no time of a job comes twice
   */
  async begin(
    jobId: string,
    run: { fireAt: string; scanId: string; now: string; next: string | null },
  ): Promise<void> {
    await this.#insertRun(jobId, run.fireAt, run.scanId, 'pending');
    await this.#update(jobId)
      .set((e) => ({
        status: 'running',
        scan_id: run.scanId,
        run_count: e('run_count', '+', 1),
        last_run_at: run.now,
        next_run_at: run.next,
        started_at: null,
        error: null,
      }))
      .execute();
  }

  /** A run that was refused before it became a scan. The job waits for its next time. */
  async refuse(
    jobId: string,
    run: { fireAt: string; now: string; next: string | null; error: JobError },
  ): Promise<void> {
    await this.#insertRun(jobId, run.fireAt, null, 'failed', run.now);
    await this.#update(jobId)
      .set((e) => ({
        run_count: e('run_count', '+', 1),
        last_run_at: run.now,
        last_status: 'failed',
        next_run_at: run.next,
        error: JSON.stringify(run.error),
      }))
      .execute();
  }

  async #insertRun(
    jobId: string,
    fireAt: string,
    scanId: string | null,
    status: ScanStatus,
    completedAt: string | null = null,
  ): Promise<void> {
    await this.#db
      .insertInto('job_runs')
      .values({
        job_id: jobId,
        fire_at: fireAt,
        scan_id: scanId,
        status,
        started_at: null,
        completed_at: completedAt,
      })
      .execute();
    await this.#db
      .deleteFrom('job_runs')
      .where('job_id', '=', jobId)
      .where('fire_at', 'not in', (e) =>
        e
          .selectFrom('job_runs')
          .select('fire_at')
          .where('job_id', '=', jobId)
          .orderBy('fire_at', 'desc')
          .limit(maxRuns),
      )
      .execute();
  }

  /**
   * The job waits for its next time although its run is not over: that stays with its server.
   * @returns false when the job does something else by now
   */
  async detach(jobId: string, scanId: string): Promise<boolean> {
    const result = await this.#update(jobId)
      .set({ status: 'pending' })
      .where('scan_id', '=', scanId)
      .where('status', '=', 'running')
      .where('next_run_at', 'is not', null)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Runs that their jobs were detached from, and that are not over as far as the jobs know. */
  async detachedRuns(jobId?: string): Promise<EndedRun[]> {
    const rows = await this.#db
      .selectFrom('job_runs')
      .innerJoin('client_jobs', 'client_jobs.job_id', 'job_runs.job_id')
      .select(['job_runs.job_id', 'job_runs.scan_id'])
      .where('job_runs.completed_at', 'is', null)
      .where('job_runs.scan_id', 'is not', null)
      .where((e) =>
        e.or([
          e('client_jobs.scan_id', '!=', e.ref('job_runs.scan_id')),
          e('client_jobs.status', '=', 'pending'),
        ]),
      )
      .$if(jobId !== undefined, (query) => query.where('job_runs.job_id', '=', jobId ?? ''))
      .execute();
    return rows.flatMap(({ job_id, scan_id }) => (scan_id === null ? [] : [{ job_id, scan_id }]));
  }

  /** How a run ended that its job was detached from. */
  async settleDetached({ job_id, scan_id }: EndedRun, outcome: RunOutcome): Promise<void> {
    const { status, started_at, completed_at } = outcome;
    await this.#db
      .updateTable('job_runs')
      .set({ status, started_at, completed_at })
      .where('job_id', '=', job_id)
      .where('scan_id', '=', scan_id)
      .where('completed_at', 'is', null)
      .execute();
  }

  /** Leaves a time out. @returns false when somebody else has dealt with it */
  async skip(jobId: string, fireAt: string, next: string | null): Promise<boolean> {
    const result = await this.#update(jobId)
      .set({ next_run_at: next })
      .where('next_run_at', '=', fireAt)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Jobs that run, as far as they know, and whose scan is over or was deleted. */
  async endedRuns(limit: number): Promise<EndedRun[]> {
    return await this.#runsOfEndedScans(limit, (e) => e('status', '=', 'running'));
  }

  /** Canceled jobs whose scan is over or was deleted, and whose last run is not as far as they know. */
  async endedCanceledRuns(limit: number): Promise<EndedRun[]> {
    return await this.#runsOfEndedScans(limit, (e) =>
      e.and([
        e('status', '=', 'canceled'),
        // Few runs are open, and very many jobs may be canceled.
        e(
          'job_id',
          'in',
          e.selectFrom('job_runs').select('job_runs.job_id').where('job_runs.completed_at', 'is', null),
        ),
        e.exists(
          e
            .selectFrom('job_runs')
            .select('job_runs.job_id')
            .whereRef('job_runs.job_id', '=', 'client_jobs.job_id')
            .whereRef('job_runs.scan_id', '=', 'client_jobs.scan_id')
            .where('job_runs.completed_at', 'is', null),
        ),
      ]),
    );
  }

  async #runsOfEndedScans(
    limit: number,
    which: (e: ExpressionBuilder<Tables, 'client_jobs'>) => Expression<SqlBool>,
  ): Promise<EndedRun[]> {
    const rows = await this.#db
      .selectFrom('client_jobs')
      .select(['job_id', 'scan_id'])
      .where(which)
      .where(inView(this.#view))
      .where((e) => e(scanStatus(e), 'not in', ['pending', 'running']))
      .limit(limit)
      .execute();
    return rows.flatMap(({ job_id, scan_id }) => (scan_id === null ? [] : [{ job_id, scan_id }]));
  }

  /** The run is over: a job with a schedule waits for its next time, another one is over too. */
  async settle({ job_id, scan_id }: EndedRun, outcome: RunOutcome): Promise<void> {
    const { status, started_at, completed_at, error } = outcome;
    await this.#db
      .updateTable('job_runs')
      .set({ status, started_at, completed_at })
      .where('job_id', '=', job_id)
      .where('scan_id', '=', scan_id)
      .execute();
    const ended = { last_status: status, started_at, error: error && JSON.stringify(error) };
    const own = () => this.#update(job_id).where('scan_id', '=', scan_id).where('status', '=', 'running');
    await own()
      .set({ ...ended, status: 'pending' })
      .where('next_run_at', 'is not', null)
      .execute();
    await own()
      .set({ ...ended, status, completed_at })
      .where('next_run_at', 'is', null)
      .execute();
  }

  /** No further run. @returns false when the job was over already */
  async cancel(jobId: string, now: string): Promise<boolean> {
    const result = await this.#update(jobId)
      .set({ status: 'canceled', next_run_at: null, completed_at: now, error: null })
      .where('status', 'in', ['pending', 'running'])
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** How the scan ended that a canceled job was running; nothing changes when nothing ran. */
  async settleCanceled({ job_id, scan_id }: EndedRun, outcome: RunOutcome): Promise<void> {
    const { status, started_at, completed_at } = outcome;
    const run = await this.#db
      .updateTable('job_runs')
      .set({ status, started_at, completed_at })
      .where('job_id', '=', job_id)
      .where('scan_id', '=', scan_id)
      .where('completed_at', 'is', null)
      .executeTakeFirst();
    if (run.numUpdatedRows === 0n) return;
    await this.#update(job_id).set({ last_status: status, started_at }).execute();
  }

  /** Jobs with a schedule whose next time was worked out in another time zone. */
  async inOtherZone(zone: string): Promise<Turn[]> {
    const rows = await this.#db
      .selectFrom('client_jobs')
      .select(['job_id', 'tenant', 'schedule', 'next_run_at'])
      .where('zone', '!=', zone)
      .where('next_run_at', 'is not', null)
      .where(inView(this.#view))
      .execute();
    return rows.flatMap(({ job_id, tenant, schedule, next_run_at }) =>
      schedule === null || next_run_at === null ? [] : [{ job_id, tenant, schedule, fire_at: next_run_at }],
    );
  }

  /** The next times of all jobs that have one, and the newest that each has obeyed. */
  async nextTimes(): Promise<(Turn & { obeyed: string | null })[]> {
    const rows = await this.#db
      .selectFrom('client_jobs')
      .select(['job_id', 'tenant', 'schedule', 'next_run_at'])
      .select((e) =>
        e
          .selectFrom('job_runs')
          .select((f) => f.fn.max('fire_at').as('newest'))
          .whereRef('job_runs.job_id', '=', 'client_jobs.job_id')
          .as('obeyed'),
      )
      .where('next_run_at', 'is not', null)
      .where(inView(this.#view))
      .execute();
    return rows.flatMap(({ job_id, tenant, schedule, next_run_at, obeyed }) =>
      schedule === null || next_run_at === null
        ? []
        : [{ job_id, tenant, schedule, fire_at: next_run_at, obeyed }],
    );
  }

  async moveToZone({ job_id, fire_at }: Turn, zone: string, next: string | null): Promise<void> {
    await this.#update(job_id).set({ zone, next_run_at: next }).where('next_run_at', '=', fire_at).execute();
  }

  /** Deletes jobs that were over before a time (ISO 8601), with their runs; scans stay. @returns how many */
  async deleteEndedBefore(time: string): Promise<number> {
    let sum = 0;
    for (const status of ['completed', 'failed', 'canceled'] as const)
      sum += await this.#deleteEnded(status, time);
    return sum;
  }

  async #deleteEnded(status: JobStatus, time: string): Promise<number> {
    return await deleteInSteps(async (limit) => {
      const result = await this.#db
        .deleteFrom('client_jobs')
        .where('job_id', 'in', (e) =>
          e
            .selectFrom('client_jobs')
            .select('job_id')
            .where('status', '=', status)
            .where('completed_at', '<', time)
            .where(inView(this.#view))
            .limit(limit),
        )
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    });
  }

  #update(jobId: string) {
    return this.#db.updateTable('client_jobs').where('job_id', '=', jobId).where(inView(this.#view));
  }
}

const listedColumns = [
  'job_id',
  'created_at',
  'status',
  'tenant',
  'type',
  'pool',
  'name',
  'schedule',
  'next_run_at',
  'last_run_at',
  'last_status',
  'run_count',
  'scan_id',
  'started_at',
  'completed_at',
  'error',
  'created_by',
] as const satisfies (keyof ClientJobTableRow)[];

function fromRow(row: ListedRow): StoredJob {
  return {
    ...row,
    type: row.type as JobType,
    last_status: row.last_status as StoredJob['last_status'],
    run_count: Number(row.run_count),
    error: row.error === null ? null : (JSON.parse(row.error) as JobError),
    params: row.params === null ? null : (JSON.parse(row.params) as Record<string, unknown>),
  };
}

function runFromRow({ scan_id, status, started_at, completed_at }: JobRunTableRow): JobRun {
  return { scan_id, status: status as ScanStatus, started_at, completed_at };
}

function liveFromRow(row: { status: string; progress: string; started_at: string | null }): LiveRun {
  const { percent } = JSON.parse(row.progress) as ScanProgress;
  return { status: row.status as ScanStatus, percent, started_at: row.started_at };
}

/** Whether an index leads to the jobs that match, in the order of the list. */
function isIndexed(filter: Filters): boolean {
  return filter.pool === undefined && filter.type === undefined && !isLive(filter);
}

/** Jobs that have not ended: `queue.max_jobs` and the recurring ones at most, which one statement may look at. */
function isLive({ status }: Filters): boolean {
  return status === 'pending' || status === 'running';
}

function isInRange({ before, from }: AgeRange) {
  return (e: ExpressionBuilder<Tables, 'client_jobs'>): Expression<SqlBool> => {
    const position = e.refTuple('created_at', 'job_id');
    return e.and([
      ...(before === newestOfAll ? [] : [e(position, '<', e.tuple(before.createdAt, before.id))]),
      ...(from === null ? [] : [e(position, '>=', e.tuple(from.createdAt, from.id))]),
    ]);
  };
}

function matching(filter: Filters) {
  return (e: ExpressionBuilder<Tables, 'client_jobs'>): Expression<SqlBool> => {
    const conditions: Expression<SqlBool>[] = [];
    if (filter.status !== undefined) conditions.push(hasStatus(e, filter.status));
    if (filter.since !== undefined) conditions.push(e('created_at', '>=', filter.since));
    if (filter.pool !== undefined) conditions.push(e('pool', '=', filter.pool));
    if (filter.type !== undefined) conditions.push(e('type', '=', filter.type));
    return e.and(conditions);
  };
}

/** A job whose scan waits for a worker is listed as pending, and stored as running. */
function hasStatus(e: ExpressionBuilder<Tables, 'client_jobs'>, status: JobStatus): Expression<SqlBool> {
  if (status !== 'pending' && status !== 'running') return e('status', '=', status);
  const live = e('status', 'in', ['pending', 'running']);
  const waiting = e(scanStatus(e), '=', 'pending');
  const runs = e('client_jobs.status', '=', 'running');
  if (status === 'running') return e.and([live, runs, e(scanStatus(e), '!=', 'pending')]);
  return e.and([live, e.or([e('client_jobs.status', '=', 'pending'), e.and([runs, waiting])])]);
}

/**
 * State of the job's newest scan, empty when there is none. Asked by the key of the scan: with `exists`, PostgreSQL goes
 * through all scans of the state for each job until it has gathered its figures of a table that grew just now.
 */
function scanStatus(e: ExpressionBuilder<Tables, 'client_jobs'>) {
  const status = e
    .selectFrom('scans')
    .select('scans.status')
    .whereRef('scans.scan_id', '=', 'client_jobs.scan_id');
  return e.fn.coalesce(status, e.val(''));
}
