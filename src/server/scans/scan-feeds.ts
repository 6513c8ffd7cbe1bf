import { ScanFeed } from '../../actions/scans/scan-feed.ts';
import { eventDamage, type ScanSource } from '../../actions/scans/watch-scan.ts';
import type { Scan } from '../../domain/scan.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { TenantContext } from '../access/tenants.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Poll interval for a scan of another process, which sends no events, milliseconds. */
const lookMs = 1000;

/** One feed per followed scan, for REST and gRPC. */
export class ScanFeeds {
  readonly #workers: WorkerPool;
  readonly #feeds = new Map<string, ScanFeed>();

  constructor(workers: WorkerPool) {
    this.#workers = workers;
  }

  /** Number of followed scans. */
  get size(): number {
    return this.#feeds.size;
  }

  /**
   * Follows a scan; the caller must close the result.
   * @param record held until then; readers of another one, such as a copy that lacks its end, have another feed
   */
  follow(
    space: Pick<TenantContext, 'store' | 'observer'>,
    scanId: string,
    record: ScanRecord,
  ): ScanSource & { close(): void } {
    const key = record.place.folder;
    let feed = this.#feeds.get(key);
    if (!feed) {
      feed = this.#feedOf(space, scanId, key);
      this.#feeds.set(key, feed);
    }
    return feed.subscribe(scanId, record);
  }

  #feedOf(
    { store, observer }: Pick<TenantContext, 'store' | 'observer'>,
    scanId: string,
    key: string,
  ): ScanFeed {
    const workers = this.#workers;
    const input = {
      scan: async () => {
        const scan = await store.scans.get(scanId);
        return scan && workers.freshen(scan);
      },
      changed: (signal: AbortSignal) => workers.changed(scanId, signal, lookMs),
      shownRows: () => workers.shownRows(scanId),
      damageOf: (scan: Scan, record: ScanRecord) => eventDamage(scan, record, observer),
    };
    return new ScanFeed(input, () => this.#feeds.delete(key));
  }
}
