import type { FailureCode, ScanStatus, ScanWarning } from './scan.ts';

/** States of a job. A recurring job returns to `pending` after each run. */
export const jobStatuses = ['pending', 'running', 'completed', 'failed', 'canceled'] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** Types of jobs. */
export const jobTypes = ['scan'] as const;
export type JobType = (typeof jobTypes)[number];

export const jobIdPattern = /^job-[a-z0-9]{4,16}$/;

/** `job-` and 32 random bits. */
export function newJobId(randomBytes: (size: number) => Uint8Array): string {
  return `job-${Buffer.from(randomBytes(4)).toString('hex')}`;
}

/** Why a run or a job failed: the error of its scan, or why no scan was created. */
export interface JobError {
  code: FailureCode | 'invalid_request' | 'license_required' | 'not_implemented' | 'deleted';
  message: string;
}

/** One run of a job. Times are ISO 8601 UTC. */
export interface JobRun {
  /** Null if the run was rejected before a scan was created. The scan may have been deleted since. */
  scan_id: string | null;
  status: ScanStatus;
  started_at: string | null;
  completed_at: string | null;
}

/** A job as returned by the API. */
export interface Job {
  job_id: string;
  type: JobType;
  /** The submission of the scan, as received. */
  params: Record<string, unknown>;
  /** Five fields of cron; null for a one-off job. */
  schedule: string | null;
  pool: string;
  /** Of its scans. */
  priority: number;
  name: string | null;
  status: JobStatus;
  /** Outcome of the last run. */
  last_status: 'completed' | 'failed' | null;
  /** Of the current run, 0 to 100. */
  progress: number;
  scan_id: string | null;
  run_count: number;
  last_run_at: string | null;
  next_run_at: string | null;
  next_runs: string[];
  /** Newest first. */
  runs: JobRun[];
  created_at: string;
  /** Of the newest run. */
  started_at: string | null;
  /** When the job ended for good. */
  completed_at: string | null;
  error: JobError | null;
  /** Why its run is waiting, as in the scan; absent if it is not. */
  warnings?: ScanWarning[];
  /** ID of the token that submitted it. */
  created_by: string | null;
}
