import { ScanFeed } from '../actions/scan-feed.ts';
import type { ScanSource } from '../actions/watch-scan.ts';
import type { Store } from '../store/open.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { WorkerPool } from './workers.ts';

/** A scan that another process runs sends no news; it is looked at this often, milliseconds. */
const lookMs = 1000;

/** One feed for each scan that somebody follows, by REST or gRPC. */
export class ScanFeeds {
  readonly #workers: WorkerPool;
  readonly #feeds = new Map<string, ScanFeed>();

  constructor(workers: WorkerPool) {
    this.#workers = workers;
  }

  /** Scans that are followed now. */
  get size(): number {
    return this.#feeds.size;
  }

  /**
   * Follows a scan; what comes back has to be closed.
   * @param store of the tenant
   * @param folder stays readable until then
   */
  follow(store: Store, scanId: string, folder: ScanFolder): ScanSource & { close(): void } {
    let feed = this.#feeds.get(scanId);
    if (!feed) {
      feed = this.#feedOf(store, scanId);
      this.#feeds.set(scanId, feed);
    }
    return feed.subscribe(scanId, folder);
  }

  #feedOf(store: Store, scanId: string): ScanFeed {
    const workers = this.#workers;
    const input = {
      scan: async () => {
        const scan = await store.scans.get(scanId);
        return scan && workers.freshen(scan);
      },
      changed: (signal: AbortSignal) => workers.changed(scanId, signal, lookMs),
    };
    return new ScanFeed(input, () => this.#feeds.delete(scanId));
  }
}
