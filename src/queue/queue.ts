import type { Store } from '../store/open.ts';
import type { ClaimFilter, QueueClaim, QueuedScan } from '../store/scan-queue.ts';

/**
 * The queue of scans that wait for a worker. A claim is a lease: it expires `leaseMs` after the last heartbeat, and
 * then the job goes to the next worker. Every write of a worker carries its attempt and is rejected (`false`) once
 * another worker has claimed the job, so a worker that overslept its lease does no harm. The table in the store is
 * authoritative, whatever distributes the jobs.
 */
export interface JobQueue {
  /** Appends a stored scan to the queue. `store` is that of the transaction that also stores the scan. */
  enqueue(store: Store, scan: Omit<QueuedScan, 'owner'>): Promise<void>;
  /**
   * Claims a job whose lease expired, or else the waiting one with the highest priority, of equal ones the oldest.
   * @param filter which ones; no tenant waits until another one's queue is empty
   */
  claim(worker: string, filter?: Omit<ClaimFilter, 'owner'>): Promise<QueueClaim | null>;
  /** Renews the lease. `false`: the job belongs to another worker or has ended; the worker must stop. */
  heartbeat(scanId: string, attempt: number): Promise<boolean>;
  complete(scanId: string, attempt: number): Promise<boolean>;
  /** Ends the job and counts it as failed. */
  fail(scanId: string, attempt: number): Promise<boolean>;
  /** Returns the job to its previous position in the queue; if it was canceled meanwhile, it ends instead. */
  release(scanId: string, attempt: number): Promise<boolean>;
  /**
   * Returns the previous state of the job: a `waiting` one ends now, a `running` one is marked and its worker must
   * stop it. A canceled job is never claimed again.
   */
  cancel(scanId: string): Promise<'waiting' | 'running' | 'unknown'>;
  isCanceled(scanId: string): Promise<boolean>;
  /** At server start: voids all earlier leases. @returns the number of jobs that wait again */
  reclaimAll(): Promise<number>;
  remove(scanId: string): Promise<boolean>;
}
