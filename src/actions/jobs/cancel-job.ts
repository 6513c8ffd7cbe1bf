import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Job } from '../../domain/job.ts';
import { type CancelContext, cancelScan } from '../scans/cancel-scan.ts';
import { finalizeCanceledRuns, finalizeJobRuns } from './finalize-runs.ts';
import { findJob, showJob } from './show-job.ts';

export type CancelJobContext = CancelContext & { config: Config };

/**
 * Cancels a job: nothing of it runs any more, and nothing will.
 * @throws PortolanError `not_found`, or `conflict` for a job that has already ended otherwise
 */
export async function cancelJob(context: CancelJobContext, jobId: string): Promise<Job> {
  const { store } = context;
  await finalizeJobRuns(store);
  const { job, detached } = await store.transaction(async (inside) => {
    const now = new Date();
    await inside.clientJobs.cancel(jobId, now.toISOString());
    const found = await findJob(inside, jobId);
    if (found.status !== 'canceled') return { job: found, detached: [] };
    const runs = (await inside.jobRuns.detachedRuns(jobId)).filter((run) => run.scan_id !== found.scan_id);
    // In one transaction with the job, so that the next server ends the scans if this one dies here.
    for (const { scan_id } of [found, ...runs])
      if (scan_id !== null) await inside.scanQueue.cancel(scan_id, now.getTime());
    return { job: found, detached: runs };
  });
  const { status, scan_id: scanId } = job;
  if (status !== 'canceled')
    throw new PortolanError('conflict', `The job has already ended: ${status}.`, { status });
  await Promise.all([
    ...(scanId === null ? [] : [stopScan(context, jobId, scanId)]),
    // Their owner is down; it ends them when it is back.
    ...detached.map(({ scan_id }) => cancelScan(context, scan_id).catch(ignoreAway)),
  ]);
  return await showJob(context, jobId);
}

async function stopScan(context: CancelJobContext, jobId: string, scanId: string): Promise<void> {
  await cancelScan(context, scanId).catch(ignoreEnd);
  await finalizeCanceledRuns(context.store, { job_id: jobId, scan_id: scanId });
}

function ignoreAway(error: unknown): void {
  if (!(error instanceof PortolanError && error.code === 'unavailable')) ignoreEnd(error);
}

/** It may have ended, or been deleted, just before. */
function ignoreEnd(error: unknown): void {
  if (!(error instanceof PortolanError && ['conflict', 'not_found'].includes(error.code))) throw error;
}
