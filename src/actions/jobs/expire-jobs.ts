import type { Config } from '../../config/schema.ts';
import type { Store } from '../../store/open.ts';

/**
 * Deletes the records of jobs and of queue entries that ended longer ago than `queue.retention`. The scans stay.
 * @returns the number of deleted jobs
 */
export async function expireJobs(
  { store, config }: { store: Store; config: Pick<Config, 'queue'> },
  now: Date,
): Promise<number> {
  const before = new Date(now.getTime() - config.queue.retention).toISOString();
  await store.scanQueue.deleteEndedBefore(before);
  return await store.clientJobs.deleteEndedBefore(before);
}
