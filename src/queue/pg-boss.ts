import type { Store } from '../store/open.ts';
import type { QueueClaim } from '../store/scan-queue.ts';
import type { Dispatcher } from './dispatcher.ts';
import { EmbeddedQueue } from './embedded.ts';

/**
 * The queue of a server that shares its database with others. Its scans lie in its own workspace, so only it claims
 * their jobs; the work within them is divided by `ShardLine`. Slips of pg-boss say that something waits; the table
 * says what has the next turn.
 */
export class PgBossQueue extends EmbeddedQueue {
  readonly #dispatcher: Dispatcher;
  readonly #home: string;
  /** Those taken from the line: so many jobs may wait. */
  #slips = 0;

  /** @param home id of this server */
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

  override async enqueue(store: Store, scanId: string, pool: string): Promise<void> {
    await super.enqueue(store, scanId, pool);
    await announceScans(this.#dispatcher, store, this.#home, [scanId]);
  }

  override async claim(
    worker: string,
    pools?: readonly string[],
    running?: ReadonlyMap<string, number>,
    fullPools?: readonly string[],
  ): Promise<QueueClaim | null> {
    if (pools?.length === 0) return null;
    // Slips are taken by the hundred; a job that was paused, given back or left by a dead server waits without one.
    if (this.#slips > 0) this.#slips -= 1;
    else this.#slips = await this.#dispatcher.takeAll(lineOf(this.#home));
    return await super.claim(worker, pools, running, fullPools);
  }

  override async close(): Promise<void> {
    await this.#dispatcher.close();
  }
}

function lineOf(home: string): string {
  return `scans.${home}`;
}

/**
 * Lays out slips for scans that wait in the table `scan_queue`, as part of the transaction of `store`. The line has to be open
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

export async function openShardQueue(dispatcher: Dispatcher, home: string): Promise<void> {
  await dispatcher.open(lineOf(home));
}
