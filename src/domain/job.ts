import type { FailureCode, ScanStatus, ScanWarning } from './scan.ts';

/** States of a job. One that has a schedule goes back to `pending` after each run. */
export const jobStatuses = ['pending', 'running', 'completed', 'failed', 'canceled'] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** What jobs do. */
export const jobTypes = ['scan'] as const;
export type JobType = (typeof jobTypes)[number];

export const jobIdPattern = /^job-[a-z0-9]{4,16}$/;

/** `job-` and 32 random bits. */
export function newJobId(randomBytes: (size: number) => Uint8Array): string {
  return `job-${Buffer.from(randomBytes(4)).toString('hex')}`;
}

/** Why a run, or a job, failed: that of its scan, or why there could be no scan. */
export interface JobError {
  code: FailureCode | 'invalid_request' | 'license_required' | 'not_implemented' | 'deleted';
  message: string;
}

/** One run of a job. Times are ISO 8601 UTC. */
export interface JobRun {
  /** Null when the run was refused before it became a scan. The scan may have been deleted since. */
  scan_id: string | null;
  status: ScanStatus;
  started_at: string | null;
  completed_at: string | null;
}

/** A job as the API shows it. */
export interface Job {
  job_id: string;
  type: JobType;
  /** The submission of a scan, as it was sent. */
  params: Record<string, unknown>;
  /** Five fields of cron; null for one run at once. */
  schedule: string | null;
  pool: string;
  name: string | null;
  status: JobStatus;
  /** How the last run ended. */
  last_status: 'completed' | 'failed' | null;
  /** Of the run that is under way, 0 to 100. */
  progress: number;
  scan_id: string | null;
  run_count: number;
  last_run_at: string | null;
  next_run_at: string | null;
  next_runs: string[];
  /** The newest first. */
  runs: JobRun[];
  created_at: string;
  /** Of the newest run. */
  started_at: string | null;
  /** When the job was over. */
  completed_at: string | null;
  error: JobError | null;
  /** What holds its run up, as the scan says too; absent when nothing does. */
  warnings?: ScanWarning[];
  /** Id of the token that submitted it. */
  created_by: string | null;
}
