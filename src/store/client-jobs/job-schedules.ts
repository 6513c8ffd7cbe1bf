import { isPostgres } from '../database.ts';
import { numberOfRows } from '../list-count.ts';
import type { ClientJobTableRow } from '../schema/tables.ts';
import { ViewedTable } from '../store-table.ts';
import { inView } from '../tenant-view.ts';

/** An occurrence of a schedule. */
export interface Turn {
  job_id: string;
  tenant: string | null;
  schedule: string;
  /** ISO 8601. */
  fire_at: string;
  /** Scan of the newest run. */
  scan_id?: string | null;
}

/** Next occurrences of jobs. */
export class JobScheduleTable extends ViewedTable {
  /** Number of due jobs that have not run yet. @param now ISO 8601 */
  async dueCount(now: string): Promise<number> {
    return await numberOfRows(
      this.db
        .selectFrom('client_jobs')
        .where('status', '=', 'pending')
        .where('next_run_at', '<=', now)
        .where(inView(this.view)),
    );
  }

  /** Number of jobs that will run again. */
  async recurringCount(): Promise<number> {
    return await numberOfRows(
      this.db
        .selectFrom('client_jobs')
        .where('status', 'in', ['pending', 'running'])
        .where('next_run_at', 'is not', null)
        .where(inView(this.view)),
    );
  }

  /**
   * Due occurrences, oldest first.
   * @param status `pending`: of jobs that can run; `running`: of jobs whose last run has not finished
   * @param now ISO 8601
   * @param tenants whose jobs; null for jobs without a tenant
   */
  async turns(
    status: 'pending' | 'running',
    now: string,
    tenants: readonly string[] | null,
    limit: number,
  ): Promise<Turn[]> {
    const rows = await this.db
      .selectFrom('client_jobs')
      .select(['job_id', 'tenant', 'schedule', 'next_run_at', 'scan_id'])
      .where('status', '=', status)
      .where('next_run_at', '<=', now)
      .where((e) => (tenants === null ? e('tenant', 'is', null) : e('tenant', 'in', tenants)))
      .where(inView(this.view))
      .orderBy('next_run_at')
      .orderBy('job_id')
      .limit(limit)
      .execute();
    return rows.flatMap(turnOf);
  }

  /**
   * Whether the occurrence is still due: no other process has run it, and the job is not canceled. This holds until the end of the
   * transaction.
   */
  async isDue(jobId: string, fireAt: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('client_jobs')
      .select('job_id')
      .where('job_id', '=', jobId)
      .where('status', '=', 'pending')
      .where('next_run_at', '=', fireAt)
      .where(inView(this.view))
      .$if(isPostgres(this.db), (query) => query.forUpdate())
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Skips an occurrence. @returns false if another process has run or skipped it */
  async skip(jobId: string, fireAt: string, next: string | null): Promise<boolean> {
    const result = await this.#update(jobId)
      .set({ next_run_at: next })
      .where('next_run_at', '=', fireAt)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Jobs whose next occurrence was computed in another time zone. */
  async inOtherZone(zone: string): Promise<Turn[]> {
    const rows = await this.db
      .selectFrom('client_jobs')
      .select(['job_id', 'tenant', 'schedule', 'next_run_at'])
      .where('zone', '!=', zone)
      .where('next_run_at', 'is not', null)
      .where(inView(this.view))
      .execute();
    return rows.flatMap(turnOf);
  }

  /** The next occurrence of each job that has one, with the last one that ran. */
  async nextTimes(): Promise<(Turn & { lastFireAt: string | null })[]> {
    const rows = await this.db
      .selectFrom('client_jobs')
      .select(['job_id', 'tenant', 'schedule', 'next_run_at'])
      .select((e) =>
        e
          .selectFrom('job_runs')
          .select((f) => f.fn.max('fire_at').as('newest'))
          .whereRef('job_runs.job_id', '=', 'client_jobs.job_id')
          .as('lastFireAt'),
      )
      .where('next_run_at', 'is not', null)
      .where(inView(this.view))
      .execute();
    return rows.flatMap(turnOf);
  }

  async moveToZone({ job_id, fire_at }: Turn, zone: string, next: string | null): Promise<void> {
    await this.#update(job_id).set({ zone, next_run_at: next }).where('next_run_at', '=', fire_at).execute();
  }

  #update(jobId: string) {
    return this.db.updateTable('client_jobs').where('job_id', '=', jobId).where(inView(this.view));
  }
}

/** None for a job without a schedule. */
function turnOf<R extends Pick<ClientJobTableRow, 'schedule' | 'next_run_at'>>({
  schedule,
  next_run_at: fire_at,
  ...row
}: R) {
  return schedule === null || fire_at === null ? [] : [{ ...row, schedule, fire_at }];
}
