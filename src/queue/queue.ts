import type { Store } from '../store/open.ts';
import type { QueueClaim } from '../store/scan-queue.ts';

/**
 * The line of scans that wait for a worker. A claim is a lease: it lapses `leaseMs` after the last heartbeat and the
 * job goes to the next worker. Every write of a worker names its attempt and is refused (`false`) once another worker
 * has claimed the job, so a worker that slept through its lease cannot do harm. What is true stands in the table
 * `jobs` of the store, whatever hands the jobs out.
 */
export interface JobQueue {
  /** Puts a stored scan at the end of the line. `store` is the one of the transaction that also stores the scan. */
  enqueue(store: Store, scanId: string, pool: string): Promise<void>;
  /**
   * Takes the job that waits longest, or one whose worker let its lease lapse.
   *
   * @param pools only jobs of these pools; all when absent
   * @param running scans of each tenant that the worker runs: no tenant waits until another one's line is empty
   * @param fullPools pools that have as many scans running as they may
   */
  claim(
    worker: string,
    pools?: readonly string[],
    running?: ReadonlyMap<string, number>,
    fullPools?: readonly string[],
  ): Promise<QueueClaim | null>;
  /** Prolongs the lease. `false`: the job is somebody else's or over, the worker must stop. */
  heartbeat(scanId: string, attempt: number): Promise<boolean>;
  complete(scanId: string, attempt: number): Promise<boolean>;
  /** Ends the job and counts it as failed. */
  fail(scanId: string, attempt: number): Promise<boolean>;
  /** Gives the job back to its old place in the line; one that was canceled meanwhile ends instead. */
  release(scanId: string, attempt: number): Promise<boolean>;
  /**
   * What the job was doing: a `waiting` one is over now, a `running` one is marked and its worker has to stop it.
   * A canceled job is never claimed again.
   */
  cancel(scanId: string): Promise<'waiting' | 'running' | 'unknown'>;
  isCanceled(scanId: string): Promise<boolean>;
  /** @param store that of a transaction, so that what is decided by the figures cannot be overtaken */
  counts(store?: Store): Promise<{ pending: number; running: number; failed: number }>;
  /** At server start: the leases that it gave before are void. @returns the number of jobs that wait again */
  reclaimAll(): Promise<number>;
  remove(scanId: string): Promise<boolean>;
  /** Lets go of connections; no call may follow. */
  close(): Promise<void>;
}
