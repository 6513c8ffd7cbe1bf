import type { Claim } from '../store/jobs.ts';
import type { Store } from '../store/open.ts';
import type { Dispatcher } from './dispatcher.ts';
import { failureMemoryMs } from './embedded.ts';
import type { JobQueue } from './queue.ts';

/**
 * The queue of a server that shares its database with others. Its scans lie in its own workspace, so only it claims
 * their jobs; the work within them is divided by `ShardLine`. Slips of pg-boss say that something waits; the table
 * says what has the next turn.
 */
export class PgBossQueue implements JobQueue {
  readonly #store: Store;
  readonly #dispatcher: Dispatcher;
  readonly #leaseMs: number;
  readonly #home: string;
  /** Those taken from the line: so many jobs may wait. */
  #slips = 0;

  /** @param home id of this server */
  static async open(
    store: Store,
    dispatcher: Dispatcher,
    options: { leaseMs: number; home: string },
  ): Promise<PgBossQueue> {
    const queue = new PgBossQueue(store, dispatcher, options);
    await dispatcher.open(queue.#line);
    return queue;
  }

  private constructor(store: Store, dispatcher: Dispatcher, options: { leaseMs: number; home: string }) {
    this.#store = store;
    this.#dispatcher = dispatcher;
    this.#leaseMs = options.leaseMs;
    this.#home = options.home;
  }

  get #line(): string {
    return lineOf(this.#home);
  }

  async enqueue(store: Store, scanId: string, pool: string): Promise<void> {
    await store.jobs.insert(scanId, pool, Date.now(), this.#home);
    await announceScans(this.#dispatcher, store, this.#home, [scanId]);
  }

  async claim(
    worker: string,
    pools?: readonly string[],
    running?: ReadonlyMap<string, number>,
    fullPools?: readonly string[],
  ): Promise<Claim | null> {
    if (pools?.length === 0) return null;
    // Slips are taken by the hundred; a job that was paused, given back or left by a dead server waits without one.
    if (this.#slips > 0) this.#slips -= 1;
    else this.#slips = await this.#dispatcher.takeAll(this.#line);
    const now = Date.now();
    const filter = { pools, running, fullPools, home: this.#home };
    return await this.#store.jobs.claim(worker, now, now + this.#leaseMs, filter);
  }

  async heartbeat(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.jobs.extend({ scanId, attempt }, Date.now() + this.#leaseMs);
  }

  async complete(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.jobs.finish({ scanId, attempt }, 'done', Date.now());
  }

  async fail(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.jobs.finish({ scanId, attempt }, 'failed', Date.now());
  }

  async release(scanId: string, attempt: number): Promise<boolean> {
    return await this.#store.jobs.release({ scanId, attempt }, Date.now());
  }

  async cancel(scanId: string): Promise<'waiting' | 'running' | 'unknown'> {
    return await this.#store.jobs.cancel(scanId, Date.now());
  }

  async isCanceled(scanId: string): Promise<boolean> {
    return await this.#store.jobs.isCancelRequested(scanId);
  }

  async counts(store: Store = this.#store): Promise<{ pending: number; running: number; failed: number }> {
    return await store.jobs.counts(new Date(Date.now() - failureMemoryMs).toISOString());
  }

  async reclaimAll(): Promise<number> {
    return await this.#store.jobs.releaseAll(Date.now(), this.#home);
  }

  async remove(scanId: string): Promise<boolean> {
    return await this.#store.jobs.delete(scanId);
  }

  async close(): Promise<void> {
    await this.#dispatcher.close();
  }
}

function lineOf(home: string): string {
  return `scans.${home}`;
}

/**
 * Lays out slips for scans that wait in the table `jobs`, as part of the transaction of `store`. The line has to be open
 * before it begins, see `openScanLine`.
 *
 * @param home id of the server in whose workspace they lie
 */
export async function announceScans(
  dispatcher: Dispatcher,
  store: Store,
  home: string,
  scanIds: readonly string[],
): Promise<void> {
  if (scanIds.length === 0) return;
  await dispatcher.send(
    store,
    lineOf(home),
    scanIds.map((scanId) => ({ data: { scan_id: scanId } })),
  );
}

export async function openScanLine(dispatcher: Dispatcher, home: string): Promise<void> {
  await dispatcher.open(lineOf(home));
}
