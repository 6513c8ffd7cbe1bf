import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { Job } from '../domain/job.ts';
import { type CancelContext, cancelScan } from './cancel-scan.ts';
import { settleCanceled, settleJobs } from './settle-jobs.ts';
import { findJob, showJob } from './show-job.ts';

export type CancelJobContext = CancelContext & { config: Config };

/**
 * Ends a job: nothing of it runs any more, and nothing will.
 * @throws PortolanError `not_found`, or `conflict` for a job that was over in another way
 */
export async function cancelJob(context: CancelJobContext, jobId: string): Promise<Job> {
  const { store } = context;
  await settleJobs(store);
  const { status, scan_id: scanId } = await store.transaction(async (inside) => {
    const now = new Date();
    await inside.jobOrders.cancel(jobId, now.toISOString());
    const job = await findJob(inside, jobId);
    // In one with the job, so that the next server ends the scan if this one dies here.
    if (job.status === 'canceled' && job.scan_id !== null)
      await inside.jobs.cancel(job.scan_id, now.getTime());
    return job;
  });
  if (status !== 'canceled') throw new PortolanError('conflict', `The job is over: ${status}.`, { status });
  if (scanId !== null) await stopScan(context, jobId, scanId);
  return await showJob(context, jobId);
}

async function stopScan(context: CancelJobContext, jobId: string, scanId: string): Promise<void> {
  await cancelScan(context, scanId).catch(ignoreEnd);
  await settleCanceled(context.store, { job_id: jobId, scan_id: scanId });
}

/** It may have ended, or been deleted, just before. */
function ignoreEnd(error: unknown): void {
  if (!(error instanceof PortolanError && ['conflict', 'not_found'].includes(error.code))) throw error;
}
