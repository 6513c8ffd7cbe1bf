import type { ExpressionBuilder } from 'kysely';
import type { Job, JobError, JobType } from '../../domain/job.ts';
import type { ClientJobTableRow, Tables } from '../schema/tables.ts';

/** A stored job, without the progress of its scan. */
export interface StoredJob extends Omit<Job, 'params' | 'progress' | 'next_runs' | 'runs' | 'warnings'> {
  /** Null in a list if too long; see `ClientJobTable.params`. */
  params: Record<string, unknown> | null;
  tenant: string | null;
}

export const listedColumns = [
  'job_id',
  'created_at',
  'status',
  'tenant',
  'type',
  'pool',
  'priority',
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

export type ListedJobRow = Pick<ClientJobTableRow, (typeof listedColumns)[number]> & {
  params: string | null;
};

export function storedJob(row: ListedJobRow): StoredJob {
  return {
    ...row,
    type: row.type as JobType,
    last_status: row.last_status as StoredJob['last_status'],
    run_count: Number(row.run_count),
    error: row.error === null ? null : (JSON.parse(row.error) as JobError),
    params: row.params === null ? null : (JSON.parse(row.params) as Record<string, unknown>),
  };
}

/**
 * Status of the job's newest scan, empty without one. Looks the scan up by key: with `exists`, PostgreSQL reads all
 * scans of that status for each job until it has statistics for a freshly grown table.
 */
export function newestScanStatus(e: ExpressionBuilder<Tables, 'client_jobs'>) {
  const status = e
    .selectFrom('scans')
    .select('scans.status')
    .whereRef('scans.scan_id', '=', 'client_jobs.scan_id');
  return e.fn.coalesce(status, e.val(''));
}
