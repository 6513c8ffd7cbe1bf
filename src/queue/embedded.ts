import type { Claim } from '../store/jobs.ts';
import type { Store } from '../store/open.ts';

/** A failed job counts in the queue's figures for so long. */
const failureMemoryMs = 7 * 24 * 3600 * 1000;

/**
 * The job queue that lives in the store. A claim is a lease: it lapses `leaseMs` after the last heartbeat and the job
 * goes to the next worker. Every write of a worker names its attempt and is refused (`false`) once another worker has
 * claimed the job, so a worker that slept through its lease cannot do harm.
 */
export class EmbeddedQueue {
  readonly #store: Store;
  readonly #leaseMs: number;

  constructor(store: Store, options: { leaseMs: number }) {
    this.#store = store;
    this.#leaseMs = options.leaseMs;
  }

  /** Puts a stored scan at the end of the line. `store` is the one of the transaction that also stores the scan. */
  async enqueue(store: Store, scanId: string, pool: string): Promise<void> {
    await store.jobs.insert(scanId, pool, Date.now());
  }

  /**
   * Takes the job that waits longest, or one whose worker let its lease lapse.
   *
   * @param pools only jobs of these pools; all when absent
   * @param running scans of each tenant that the worker runs: no tenant waits until another one's line is empty
   * @param fullPools pools that have as many scans running as they may
   */
  async claim(
    worker: string,
    pools?: readonly string[],
    running?: ReadonlyMap<string, number>,
    fullPools?: readonly string[],
  ): Promise<Claim | null> {
    const now = Date.now();
    return await this.#store.jobs.claim(worker, now, now + this.#leaseMs, pools, running, fullPools);
  }

  /** Prolongs the lease. `false`: the job is somebody else's or over, the worker must stop. */
  async heartbeat(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.jobs.extend({ scanId, attempt }, Date.now() + this.#leaseMs);
  }

  async complete(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.jobs.finish({ scanId, attempt }, 'done', Date.now());
  }

  /** Ends the job and counts it as failed. */
  async fail(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.jobs.finish({ scanId, attempt }, 'failed', Date.now());
  }

  /** Gives the job back to its old place in the line; one that was canceled meanwhile ends instead. */
  async release(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.jobs.release({ scanId, attempt }, Date.now());
  }

  /**
   * What the job was doing: a `waiting` one is over now, a `running` one is marked and its worker has to stop it.
   * A canceled job is never claimed again.
   */
  async cancel(scanId: string): Promise<'waiting' | 'running' | 'unknown'> {
    return await this.#store.jobs.cancel(scanId, Date.now());
  }

  async isCanceled(scanId: string): Promise<boolean> {
    return await this.#store.jobs.isCancelRequested(scanId);
  }

  /** @param store that of a transaction, so that what is decided by the figures cannot be overtaken */
  async counts(store: Store = this.#store): Promise<{ pending: number; running: number; failed: number }> {
    return await store.jobs.counts(new Date(Date.now() - failureMemoryMs).toISOString());
  }

  /** At server start: the leases of the server before are void. @returns the number of jobs that wait again */
  async reclaimAll(): Promise<number> {
    return await this.#store.jobs.releaseAll(Date.now());
  }

  async remove(scanId: string): Promise<boolean> {
    return await this.#store.jobs.delete(scanId);
  }
}
