import type { Store } from '../store/open.ts';
import type { ClaimFilter, QueueClaim, QueuedScan } from '../store/scan-queue.ts';
import type { JobQueue } from './queue.ts';

/** Canceled scans of dead workers are looked for at most this often, milliseconds. */
const sweepMs = 1000;

/**
 * The scans that wait for one of this server's workers: rows of the store, also where servers share it. Which one is next
 * depends on the shares of tenants at that moment, and nobody else claims them, so no message is needed.
 */
export class ScanQueue implements JobQueue {
  readonly #store: Store;
  readonly #leaseMs: number;
  readonly #home: string | undefined;
  /** When canceled scans of dead workers are looked for again, performance.now(). */
  #sweepFrom = 0;

  /** @param options.home ID of this server, if others use the same table */
  constructor(store: Store, options: { leaseMs: number; home?: string }) {
    this.#store = store;
    this.#leaseMs = options.leaseMs;
    this.#home = options.home;
  }

  async enqueue(store: Store, scan: Omit<QueuedScan, 'owner'>): Promise<void> {
    await store.scanQueue.insert({ ...scan, owner: this.#home ?? null }, Date.now());
  }

  async claim(worker: string, filter: Omit<ClaimFilter, 'owner'> = {}): Promise<QueueClaim | null> {
    if (filter.pools?.length === 0) return null;
    const now = Date.now();
    const own = { ...filter, owner: this.#home };
    const claim = await this.#store.scanQueue.claim(worker, now, now + this.#leaseMs, own);
    // Whoever waits for a scan asks again and again.
    if (claim === null && performance.now() >= this.#sweepFrom)
      await this.#endCanceledOfDeadWorkers(now, own);
    return claim;
  }

  async #endCanceledOfDeadWorkers(now: number, own: Pick<ClaimFilter, 'owner' | 'held'>): Promise<void> {
    this.#sweepFrom = performance.now() + sweepMs;
    await this.#store.scanQueue.endCanceledOfDeadWorkers(now, own);
  }

  async heartbeat(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.scanQueue.extend({ scanId, attempt }, Date.now() + this.#leaseMs);
  }

  async complete(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.scanQueue.finish({ scanId, attempt }, 'done', Date.now());
  }

  async fail(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.scanQueue.finish({ scanId, attempt }, 'failed', Date.now());
  }

  async release(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.scanQueue.release({ scanId, attempt }, Date.now());
  }

  async cancel(scanId: string): Promise<'waiting' | 'running' | 'unknown'> {
    return await this.#store.scanQueue.cancel(scanId, Date.now());
  }

  async isCanceled(scanId: string): Promise<boolean> {
    return await this.#store.scanQueue.isCancelRequested(scanId);
  }

  async reclaimAll(): Promise<number> {
    return await this.#store.scanQueue.releaseAll(Date.now(), this.#home);
  }

  async remove(scanId: string): Promise<boolean> {
    return await this.#store.scanQueue.delete(scanId);
  }
}
