import type { FollowedRecord, RecordReader } from '../../actions/scans/record-reader.ts';
import { showScan } from '../../actions/scans/show-scan.ts';
import {
  EventReport,
  type EventRun,
  type RecordPosition,
  type ScanSource,
  watchScan,
} from '../../actions/scans/watch-scan.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import type { HeldRecord } from '../../workspace/record/scan-record.ts';
import type { ScanFile } from '../../workspace/result-store/fetched-scans.ts';
import type { TenantContext } from '../access/tenants.ts';
import type { RouteContext } from '../context.ts';

/** A record that is being followed. */
interface Part {
  source: ScanSource;
  /** Another server runs the scan: the next part has its end. */
  lacksEnd: boolean;
  close(): void;
}

/** Records of the scans that a client may read. */
export class ScanRecords implements RecordReader {
  readonly #context: Pick<RouteContext, 'feeds'>;
  readonly #space: TenantContext;

  constructor(context: Pick<RouteContext, 'feeds'>, space: TenantContext) {
    this.#context = context;
    this.#space = space;
  }

  async hold(scan: Pick<Scan, 'scan_id' | 'status'>, part?: ScanFile): Promise<HeldRecord> {
    return await this.#space.records.hold(scan, part);
  }

  async follow(scanId: string, from: RecordPosition, signal: AbortSignal): Promise<FollowedRecord> {
    const scan = await showScan(this.#space.store, scanId);
    const followed = { part: await this.#open(scan), isOpen: true };
    const close = () => {
      if (followed.isOpen) followed.part.close();
      followed.isOpen = false;
    };
    return { events: this.#events(scan.scan_id, followed, from, signal), close };
  }

  async #open(scan: Pick<Scan, 'scan_id' | 'status'>): Promise<Part> {
    const { record, release, lacksEnd = false } = await this.hold(scan);
    const source = this.#context.feeds.follow(this.#space, scan.scan_id, record);
    const close = () => {
      source.close();
      release();
    };
    return { source: lacksEnd ? untilEnd(source) : source, lacksEnd, close };
  }

  async *#events(
    scanId: string,
    followed: { part: Part; isOpen: boolean },
    from: RecordPosition,
    signal: AbortSignal,
  ): AsyncGenerator<EventRun, void> {
    const report = new EventReport();
    let position = from;
    for (;;) {
      const { source, lacksEnd } = followed.part;
      for await (const run of watchScan(source, position, signal, report)) {
        position = run.at(-1)?.id ?? position;
        yield run;
      }
      const scan = lacksEnd && !signal.aborted ? await this.#space.store.scans.get(scanId) : null;
      if (scan === null) return;
      const next = await this.#open(scan);
      if (!followed.isOpen) return next.close();
      followed.part.close();
      followed.part = next;
    }
  }
}

/** The source without the end of the scan: a copy of the rows lacks those of the last step. */
function untilEnd(source: ScanSource): ScanSource {
  const scan = async () => {
    const current = await source.scan();
    return current !== null && isFinal(current.status) ? null : current;
  };
  return { ...source, scan };
}
