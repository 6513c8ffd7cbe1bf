import type { ScanRequest } from '../../../domain/scan.ts';
import type { LiveScan, ScanOutcome } from '../../../scan-run/messages.ts';
import type { ScanRows } from '../../../store/scans/scan-rows.ts';

/** Updates the row of the scan in the store while it runs. Without a store it does nothing. */
export class ScanBook {
  /** When the scan was first started, ISO 8601 UTC. */
  readonly startedAt: string;
  readonly #rows: ScanRows | null;
  readonly #scanId: string;
  /** Serializes updates, so that an old state never overwrites a new one. */
  #writing: Promise<unknown> = Promise.resolve();
  #latest: LiveScan | null = null;

  constructor(rows: ScanRows | null, { scan_id }: ScanRequest, startedAt = new Date().toISOString()) {
    this.startedAt = startedAt;
    this.#rows = rows;
    this.#scanId = scan_id;
  }

  /** @param executor the process that runs the scan */
  static async open(rows: ScanRows, request: ScanRequest, executor: string): Promise<ScanBook> {
    const book = new ScanBook(rows, request);
    await rows.transaction(async ({ scans }) => {
      await scans.insert(request, executor);
      await scans.update(request.scan_id, { status: 'running', started_at: book.startedAt });
    });
    return book;
  }

  /** A lost update does no harm: the next one or the end corrects it. */
  live(live: LiveScan): void {
    if (this.#latest === null)
      this.#writing = this.#writing.then(() => this.#writeLatest()).catch(() => undefined);
    this.#latest = live;
  }

  async #writeLatest(): Promise<void> {
    const live = this.#latest;
    this.#latest = null;
    if (live) await this.#rows?.scans.update(this.#scanId, live);
  }

  async finish(outcome: ScanOutcome, sizeBytes: number): Promise<void> {
    await this.#writing;
    await this.#rows?.transaction(async ({ scans }) => {
      await scans.update(this.#scanId, outcome);
      await scans.setSize(this.#scanId, sizeBytes);
    });
  }
}
