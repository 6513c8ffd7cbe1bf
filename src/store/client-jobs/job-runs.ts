import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { JobError, JobRun } from '../../domain/job.ts';
import type { ScanProgress, ScanStatus } from '../../domain/scan.ts';
import type { JobRunTableRow, Tables } from '../schema/tables.ts';
import { ViewedTable } from '../store-table.ts';
import { inView } from '../tenant-view.ts';
import { newestScanStatus } from './job-row.ts';

/** Status of a run, read from its scan. */
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

/** A run whose scan has finished, but whose job is not finalized yet. */
export interface FinishedRun {
  job_id: string;
  scan_id: string;
}

/** Runs stored per job, the newest ones. */
export const maxRuns = 20;

/** Runs of jobs: each is a scan, or was rejected before it became one. */
export class JobRunTable extends ViewedTable {
  /** The newest runs of jobs, newest first, as last stored. */
  async runs(jobIds: readonly string[]): Promise<Map<string, JobRun[]>> {
    const runs = new Map<string, JobRun[]>(jobIds.map((id) => [id, []]));
    if (jobIds.length === 0) return runs;
    const rows = await this.db
      .selectFrom('job_runs')
      .selectAll()
      .where('job_id', 'in', jobIds)
      .orderBy('fire_at', 'desc')
      .execute();
    for (const row of rows) {
      const newest = runs.get(row.job_id);
      if (newest && newest.length < maxRuns) newest.push(runFromRow(row));
    }
    return runs;
  }

  /** Status of the scans of unfinished runs. */
  async liveRuns(scanIds: readonly string[]): Promise<Map<string, LiveRun>> {
    if (scanIds.length === 0) return new Map();
    const rows = await this.db
      .selectFrom('scans')
      .select(['scan_id', 'status', 'progress', 'started_at'])
      .where('scan_id', 'in', scanIds)
      .execute();
    return new Map(rows.map(({ scan_id, ...row }) => [scan_id, liveFromRow(row)]));
  }

  /**
   * Stores a run that became a scan. Call it in the transaction that stores the scan, after `isDue`.
   * @param next next occurrence; null for a job without schedule
   * @throws the database error if the run exists: each occurrence runs exactly once
   */
  async startRun(
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

  /** Stores a run that was rejected before it became a scan. The job waits for its next occurrence. */
  async rejectRun(
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
    await this.db
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
    await this.#deleteOldRuns(jobId);
  }

  async #deleteOldRuns(jobId: string): Promise<void> {
    const newest = this.db
      .selectFrom('job_runs')
      .select('fire_at')
      .where('job_id', '=', jobId)
      .orderBy('fire_at', 'desc')
      .limit(maxRuns);
    await this.db
      .deleteFrom('job_runs')
      .where('job_id', '=', jobId)
      .where('fire_at', 'not in', newest)
      .execute();
  }

  /**
   * Schedules the job's next occurrence although its run has not finished: that run stays with its server.
   * @returns false if the job has changed meanwhile
   */
  async detachRun(jobId: string, scanId: string): Promise<boolean> {
    const result = await this.#update(jobId)
      .set({ status: 'pending' })
      .where('scan_id', '=', scanId)
      .where('status', '=', 'running')
      .where('next_run_at', 'is not', null)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Detached runs that are not finalized yet. */
  async detachedRuns(jobId?: string): Promise<FinishedRun[]> {
    const rows = await this.db
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
    return rows.flatMap(runOfScan);
  }

  /** Stores how a detached run ended. */
  async finalizeDetachedRun(run: FinishedRun, outcome: RunOutcome): Promise<void> {
    await this.#runEnd(run, outcome).where('completed_at', 'is', null).execute();
  }

  /** Newest runs of jobs stored as running whose scan has finished or was deleted. */
  async finishedRuns(limit: number): Promise<FinishedRun[]> {
    return await this.#runsOfFinishedScans(limit, (e) => e('status', '=', 'running'));
  }

  /** Unfinished newest runs of canceled jobs whose scan has finished or was deleted. */
  async finishedCanceledRuns(limit: number): Promise<FinishedRun[]> {
    return await this.#runsOfFinishedScans(limit, (e) =>
      e.and([
        e('status', '=', 'canceled'),
        // Open runs are few, canceled jobs may be many.
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

  async #runsOfFinishedScans(
    limit: number,
    which: (e: ExpressionBuilder<Tables, 'client_jobs'>) => Expression<SqlBool>,
  ): Promise<FinishedRun[]> {
    const rows = await this.db
      .selectFrom('client_jobs')
      .select(['job_id', 'scan_id'])
      .where(which)
      .where(inView(this.view))
      .where((e) => e(newestScanStatus(e), 'not in', ['pending', 'running']))
      .limit(limit)
      .execute();
    return rows.flatMap(runOfScan);
  }

  /** Stores how a run ended. A job with a schedule waits for its next occurrence; any other job ends with the run. */
  async finalizeRun(run: FinishedRun, outcome: RunOutcome): Promise<void> {
    await this.#runEnd(run, outcome).execute();
    const { status, started_at, completed_at, error } = outcome;
    const ended = { last_status: status, started_at, error: error && JSON.stringify(error) };
    const own = () =>
      this.#update(run.job_id).where('scan_id', '=', run.scan_id).where('status', '=', 'running');
    await own()
      .set({ ...ended, status: 'pending' })
      .where('next_run_at', 'is not', null)
      .execute();
    await own()
      .set({ ...ended, status, completed_at })
      .where('next_run_at', 'is', null)
      .execute();
  }

  /** Stores how the last run of a canceled job ended; changes nothing when no run was unfinished. */
  async finalizeCanceledRun(run: FinishedRun, outcome: RunOutcome): Promise<void> {
    const ended = await this.#runEnd(run, outcome).where('completed_at', 'is', null).executeTakeFirst();
    if (ended.numUpdatedRows === 0n) return;
    const { status: last_status, started_at } = outcome;
    await this.#update(run.job_id).set({ last_status, started_at }).execute();
  }

  #runEnd({ job_id, scan_id }: FinishedRun, { status, started_at, completed_at }: RunOutcome) {
    return this.db
      .updateTable('job_runs')
      .set({ status, started_at, completed_at })
      .where('job_id', '=', job_id)
      .where('scan_id', '=', scan_id);
  }

  #update(jobId: string) {
    return this.db.updateTable('client_jobs').where('job_id', '=', jobId).where(inView(this.view));
  }
}

function runOfScan({ job_id, scan_id }: Pick<JobRunTableRow, 'job_id' | 'scan_id'>): FinishedRun[] {
  return scan_id === null ? [] : [{ job_id, scan_id }];
}

function runFromRow({ scan_id, status, started_at, completed_at }: JobRunTableRow): JobRun {
  return { scan_id, status: status as ScanStatus, started_at, completed_at };
}

function liveFromRow(row: { status: string; progress: string; started_at: string | null }): LiveRun {
  const { percent } = JSON.parse(row.progress) as ScanProgress;
  return { status: row.status as ScanStatus, percent, started_at: row.started_at };
}
