import { sql } from 'kysely';
import type { JobStatus } from '../../domain/job.ts';
import { deleteInSteps } from '../delete-in-steps.ts';
import type { ListCount } from '../list-count.ts';
import { ViewedTable } from '../store-table.ts';
import { inView, searchedInView } from '../tenant-view.ts';
import { type JobFilter, JobLister, type JobPage } from './job-list.ts';
import { listedColumns, type StoredJob, storedJob } from './job-row.ts';

/** A job to be stored. */
export type NewJob = Pick<
  StoredJob,
  'job_id' | 'type' | 'schedule' | 'pool' | 'priority' | 'name' | 'next_run_at' | 'created_at' | 'created_by'
> & { params: Record<string, unknown>; zone: string };

/** A job whose scan request names something. */
export type NamingJob = Pick<StoredJob, 'job_id' | 'name' | 'schedule'>;

/** Jobs that clients submitted. */
export class ClientJobTable extends ViewedTable {
  /** Stores a job as `pending`. */
  async insert({ params, ...job }: NewJob): Promise<void> {
    await this.db
      .insertInto('client_jobs')
      .values({
        ...job,
        params: JSON.stringify(params),
        status: 'pending',
        tenant: this.view ?? null,
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

  /** Whether the id is taken by a job of any tenant. */
  async isTaken(jobId: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('client_jobs')
      .select('job_id')
      .where('job_id', '=', jobId)
      .executeTakeFirst();
    return row !== undefined;
  }

  async get(jobId: string): Promise<StoredJob | null> {
    const row = await this.db
      .selectFrom('client_jobs')
      .select([...listedColumns, 'params'])
      .where('job_id', '=', jobId)
      .where(inView(this.view))
      .executeTakeFirst();
    return row ? storedJob(row) : null;
  }

  async params(jobId: string): Promise<Record<string, unknown> | null> {
    return (await this.get(jobId))?.params ?? null;
  }

  /** Unfinished jobs whose scan request names a graph or profile, newest first. */
  async naming(member: 'dag' | 'profile', name: string): Promise<NamingJob[]> {
    const rows = await this.db
      .selectFrom('client_jobs')
      .select(['job_id', 'name', 'schedule', 'params'])
      .where('status', 'in', ['pending', 'running'])
      .where(searchedInView(this.view))
      .where(
        sql<boolean>`params like ${`%${JSON.stringify(member)}:${escaped(JSON.stringify(name))}%`} escape '\\'`,
      )
      .orderBy('created_at', 'desc')
      .execute();
    // The text may occur elsewhere in the request.
    const named = rows.filter(
      ({ params }) => (JSON.parse(params) as Record<string, unknown>)[member] === name,
    );
    return named.map(({ job_id, name: title, schedule }) => ({ job_id, name: title, schedule }));
  }

  /** Newest first. @throws PortolanError `invalid_request` for a malformed `cursor` */
  async list(filter: JobFilter): Promise<JobPage> {
    return await new JobLister(this.db, this.view).list(filter);
  }

  /** Page without the total: a caller that reads many pages needs the total only once. */
  async listPart(filter: JobFilter): Promise<Omit<JobPage, keyof ListCount>> {
    return await new JobLister(this.db, this.view).listPart(filter);
  }

  /** Replaces what a recurring job scans and when. @returns false if it has ended, or never recurred */
  async change(
    jobId: string,
    { params, schedule, zone, pool, priority, name, next_run_at }: Omit<NewJob, 'job_id'>,
  ): Promise<boolean> {
    const result = await this.#update(jobId)
      .set({ params: JSON.stringify(params), schedule, zone, pool, priority, name, next_run_at })
      .where('status', 'in', ['pending', 'running'])
      .where('next_run_at', 'is not', null)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Cancels the job: it never runs again. @returns false if it had already ended */
  async cancel(jobId: string, now: string): Promise<boolean> {
    const result = await this.#update(jobId)
      .set({ status: 'canceled', next_run_at: null, completed_at: now, error: null })
      .where('status', 'in', ['pending', 'running'])
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /**
   * Deletes jobs that ended before a time (ISO 8601), with their runs; keeps the scans. @returns number of deleted
   * jobs
   */
  async deleteEndedBefore(time: string): Promise<number> {
    let sum = 0;
    for (const status of ['completed', 'failed', 'canceled'] as const)
      sum += await this.#deleteEnded(status, time);
    return sum;
  }

  async #deleteEnded(status: JobStatus, time: string): Promise<number> {
    return await deleteInSteps(async (limit) => {
      const result = await this.db
        .deleteFrom('client_jobs')
        .where('job_id', 'in', (e) =>
          e
            .selectFrom('client_jobs')
            .select('job_id')
            .where('status', '=', status)
            .where('completed_at', '<', time)
            .where(inView(this.view))
            .limit(limit),
        )
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    });
  }

  #update(jobId: string) {
    return this.db.updateTable('client_jobs').where('job_id', '=', jobId).where(inView(this.view));
  }
}

/** A text in a pattern of `like`. */
function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
