import type { Store } from '../store/open.ts';
import type { ClaimFilter, QueueClaim, QueuedScan } from '../store/scan-queue.ts';
import type { Dispatcher } from './dispatcher.ts';
import { EmbeddedQueue } from './embedded.ts';

/**
 * The queue of a server that shares its database with others. Its scans are in its own workspace, so only it claims
 * their jobs; their shards are distributed by the shard queue. pg-boss messages announce waiting work; the table
 * decides what is next.
 */
export class PgBossQueue extends EmbeddedQueue {
  readonly #dispatcher: Dispatcher;
  readonly #home: string;
  /** Fetched messages: as many jobs may be waiting. */
  #slips = 0;

  /** @param home ID of this server */
  static async open(
    store: Store,
    dispatcher: Dispatcher,
    options: { leaseMs: number; home: string },
  ): Promise<PgBossQueue> {
    await openShardQueue(dispatcher, options.home);
    return new PgBossQueue(store, dispatcher, options);
  }

  private constructor(store: Store, dispatcher: Dispatcher, options: { leaseMs: number; home: string }) {
    super(store, options);
    this.#dispatcher = dispatcher;
    this.#home = options.home;
  }

  override async enqueue(store: Store, scan: Omit<QueuedScan, 'owner'>): Promise<void> {
    await super.enqueue(store, scan);
    await announceScans(this.#dispatcher, store, this.#home, [scan.scanId]);
  }

  override async claim(worker: string, filter: Omit<ClaimFilter, 'owner'> = {}): Promise<QueueClaim | null> {
    if (filter.pools?.length === 0) return null;
    // Messages are fetched in batches; a job that was paused, given back or left by a dead server waits without one.
    if (this.#slips > 0) this.#slips -= 1;
    else this.#slips = await this.#dispatcher.takeAll(lineOf(this.#home));
    return await super.claim(worker, filter);
  }

  override async close(): Promise<void> {
    await this.#dispatcher.close();
  }
}

function lineOf(home: string): string {
  return `scans.${home}`;
}

/**
 * Sends messages for scans waiting in the table `scan_queue`, as part of the transaction of `store`. The queue must
 * be open before the transaction starts, see `openScanLine`.
 * @param home ID of the server whose workspace they are in
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

export async function openShardQueue(dispatcher: Dispatcher, home: string): Promise<void> {
  await dispatcher.open(lineOf(home));
}
