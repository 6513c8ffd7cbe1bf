import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import type { Job } from '../../domain/job.ts';
import type { StoredJob } from '../../store/client-jobs/job-row.ts';
import type { SubmitContext } from '../scans/submit-scan.ts';
import { findJob, type JobView, showStored } from './show-job.ts';
import { decideJob, type JobSubmission } from './submit-job.ts';

/**
 * Replaces what a recurring job scans and when; its id and its runs stay, a run that is under way goes on as it was.
 * @throws PortolanError `not_found`, `conflict` for a job that has ended or runs once, `invalid_request`
 */
export async function changeJob(
  context: SubmitContext,
  jobId: string,
  submission: JobSubmission,
  user: string | null,
): Promise<Job> {
  const { store, config } = context;
  requireRecurring(await findJob(store, jobId), 'changed');
  const { job } = await decideJob(context, submission, user);
  if (job.schedule === null) {
    const reason = 'a recurring job keeps a schedule; cancel it instead';
    throw invalidRequest(`schedule: ${reason}`, [{ field: 'schedule', reason }]);
  }
  const changed = await store.clientJobs.change(jobId, job);
  if (!changed) requireRecurring(await findJob(store, jobId), 'changed');
  return showStored({ store, config }, jobId);
}

/**
 * Makes the next run of a recurring job due now; the runs after it are at their times.
 * @throws PortolanError `not_found`, `conflict` for a job that has ended, runs once, or runs now
 */
export async function runJobNow(
  view: JobView,
  jobId: string,
  { shards = null }: Pick<SubmitContext, 'shards'>,
): Promise<Job> {
  const { store } = view;
  const stored = await findJob(store, jobId);
  const next = requireRecurring(stored, 'run');
  const isRunning = () => new PortolanError('conflict', 'The job runs now.', { status: 'running' });
  if (stored.status === 'running') throw isRunning();
  const now = new Date(shards ? await shards.line.now() : Date.now()).toISOString();
  // It is due already, or another request was faster.
  if (next > now && !(await store.jobSchedules.skip(jobId, next, now))) throw isRunning();
  return showStored(view, jobId);
}

/** @returns its next run @throws PortolanError `conflict` */
function requireRecurring(job: StoredJob, verb: string): string {
  const { status, next_run_at: next } = job;
  if ((status === 'pending' || status === 'running') && next !== null) return next;
  const reason = job.schedule === null ? 'it has no schedule' : `it has ended: ${status}`;
  throw new PortolanError('conflict', `The job cannot be ${verb}: ${reason}.`, { status });
}
