import type { FollowedRecord, RecordReader } from '../../actions/scans/record-reader.ts';
import { showScan } from '../../actions/scans/show-scan.ts';
import {
  EventReport,
  type EventRun,
  type RecordPosition,
  type ScanSource,
  watchScan,
} from '../../actions/scans/watch-scan.ts';
import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import type { HeldRecord, RowRecord } from '../../workspace/record/scan-record.ts';
import type { ScanFile } from '../../workspace/result-store/fetched-scans.ts';
import type { TenantContext } from '../access/tenants.ts';
import type { RouteContext } from '../context.ts';
import { RemoteRecord } from '../results/remote-record.ts';
import { callOwner, type ForwardedClient, forwardEvents } from '../shards/call-owner.ts';

/** Records of the scans that a client may read. */
export class ScanRecords implements RecordReader {
  readonly #context: Pick<RouteContext, 'feeds' | 'shards'>;
  readonly #space: TenantContext;
  readonly #head: ForwardedClient['head'];

  /** @param head of the request: the owner of a scan accepts the same token */
  constructor(
    context: Pick<RouteContext, 'feeds' | 'shards'>,
    space: TenantContext,
    head: ForwardedClient['head'],
  ) {
    this.#context = context;
    this.#space = space;
    this.#head = head;
  }

  async hold(scan: Pick<Scan, 'scan_id' | 'status'>, part?: ScanFile): Promise<HeldRecord> {
    return await this.#space.records.hold(scan, part);
  }

  async holdRows(
    scan: Pick<Scan, 'scan_id' | 'status'>,
    signal: AbortSignal,
  ): Promise<HeldRecord<RowRecord>> {
    const { scan_id } = scan;
    if (!(await this.#context.shards?.homes.isElsewhere(scan_id))) return await this.hold(scan);
    const read = async (url: string) => {
      const response = await callOwner(
        this.#context,
        { head: this.#head, signal, stays: true },
        scan_id,
        'GET',
        url,
      );
      if (response) return response;
      throw new PortolanError('unavailable', 'The record of the scan has moved to this server meanwhile.');
    };
    return { record: new RemoteRecord(scan_id, read), release: () => undefined };
  }

  async follow(scanId: string, from: RecordPosition, signal: AbortSignal): Promise<FollowedRecord> {
    const scan = await showScan(this.#space.store, scanId);
    if (await this.#context.shards?.homes.hasRows(scan.scan_id)) {
      const events = this.#eventsElsewhere(scan.scan_id, from, signal);
      return { events, close: () => void events.return(undefined) };
    }
    return await this.#followEnd(scan, from, signal);
  }

  /** A scan that this server runs, or that has ended. */
  async #followEnd(
    scan: Pick<Scan, 'scan_id' | 'status'>,
    from: RecordPosition,
    signal: AbortSignal,
    report?: EventReport,
  ): Promise<FollowedRecord> {
    const url = `/api/v1/scans/${scan.scan_id}/events`;
    const position = { 'last-event-id': String(from) };
    const client = { head: this.#head, signal };
    const remote = await callOwner(this.#context, client, scan.scan_id, 'GET', url, position);
    if (remote) {
      // A body that is being read is canceled by its reader.
      const close = () => void remote.body?.cancel().catch(() => undefined);
      return { events: this.#remoteEvents(scan.scan_id, remote, signal), close };
    }
    const { record, release } = await this.hold(scan);
    const source = this.#context.feeds.follow(this.#space, scan.scan_id, record);
    let isOpen = true;
    return {
      events: watchScan(source, from, signal, report),
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        source.close();
        release();
      },
    };
  }

  /** Another server runs the scan: its rows come from the database, its end from where the results are. */
  async *#eventsElsewhere(
    scanId: string,
    from: RecordPosition,
    signal: AbortSignal,
  ): AsyncGenerator<EventRun, void> {
    const { scans } = this.#space.store;
    const report = new EventReport();
    let position = from;
    for (
      let scan = await scans.get(scanId);
      scan !== null && !signal.aborted;
      scan = await scans.get(scanId)
    ) {
      const isRunning = await this.#context.shards?.homes.hasRows(scanId);
      const part = isRunning
        ? await this.#followCopy(scan, position, signal, report)
        : await this.#followEnd(scan, position, signal, report);
      try {
        for await (const run of part.events) {
          position = run.at(-1)?.id ?? position;
          yield run;
        }
      } finally {
        part.close();
      }
      if (!isRunning) return;
    }
  }

  /** Up to the end of the scan, which a copy of its rows lacks. */
  async #followCopy(
    scan: Pick<Scan, 'scan_id' | 'status'>,
    from: RecordPosition,
    signal: AbortSignal,
    report: EventReport,
  ): Promise<FollowedRecord> {
    const { record, release } = await this.hold(scan);
    const source = this.#context.feeds.follow(this.#space, scan.scan_id, record);
    const close = () => {
      source.close();
      release();
    };
    return { events: watchScan(untilEnd(source), from, signal, report), close };
  }

  async *#remoteEvents(scanId: string, response: Response, signal: AbortSignal): AsyncGenerator<EventRun> {
    for await (const run of forwardEvents(response)) {
      yield run;
      if (run.at(-1)?.event === 'end') return;
    }
    if (signal.aborted || (await this.#space.store.scans.get(scanId)) === null) return;
    throw new PortolanError('unavailable', 'The server that has the scan closed the stream.');
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
