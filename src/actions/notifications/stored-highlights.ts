import type { Config } from '../../config/schema.ts';
import type { Severity } from '../../domain/finding.ts';
import type { Scan } from '../../domain/scan.ts';
import type { FindingChanges, ShownFinding } from '../../notify/shown-finding.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import { storeObserver } from '../../scan-run/results/open-results.ts';
import type { Store } from '../../store/open.ts';
import type { HeldRecord, ScanRecord } from '../../workspace/record/scan-record.ts';
import { compareScans } from '../results/compare-scans.ts';
import {
  findingChanges,
  firstChanges,
  type ScanHighlights,
  worstFindings,
  worstOfChanges,
  worstOfReport,
} from './scan-highlights.ts';

export interface StoredHighlightsInput {
  /** Of all tenants. */
  store: Store;
  config: Config;
  catalogueOf(tenant: string | null): ModuleCatalog;
  holdRecord(scan: Scan, tenant: string | null): Promise<HeldRecord>;
  /** Called when a record cannot be read: the message is sent with less. */
  onFault?(error: unknown, scanId: string): void;
}

/** Maximum time to read the records for a message, milliseconds. */
const readTimeoutMs = 60_000;

/** Highlights of stored scans. Channels that ask about the same scan at the same time share one reading. */
export class StoredHighlights implements ScanHighlights {
  readonly #input: StoredHighlightsInput;
  readonly #signal: AbortSignal;
  readonly #reading = new Map<string, Promise<unknown>>();

  /** @param signal aborts reading, with its reason */
  constructor(input: StoredHighlightsInput, signal: AbortSignal) {
    this.#input = input;
    this.#signal = signal;
  }

  async worst(scan: Scan): Promise<ShownFinding[]> {
    return await this.#shared(`worst ${scan.scan_id}`, () =>
      this.#orElse(scan, [], (signal) => this.#worst(scan, signal)),
    );
  }

  async changes(scan: Scan, least: Severity | null): Promise<FindingChanges> {
    return await this.#shared(`changes ${scan.scan_id} ${least}`, async () => {
      const against = await this.#input.store.scans.baselineOf(scan.scan_id);
      const compared =
        against !== null &&
        (await this.#orElse(scan, null, (signal) => this.#compare(scan, against.scan_id, least, signal)));
      // A comparison that fails must not keep anything from being reported.
      return compared || (await this.#first(scan, least));
    });
  }

  async #first(scan: Scan, least: Severity | null): Promise<FindingChanges> {
    return await this.#orElse(scan, firstChanges(scan, least, []), (signal) =>
      this.#inRecord(scan, async (record) => {
        const bounds = { most: worstOfChanges, least };
        const worst = await worstFindings(scan, record, storeObserver(this.#input.store), bounds, signal);
        return firstChanges(scan, least, worst.list());
      }),
    );
  }

  async #worst(scan: Scan, signal: AbortSignal): Promise<ShownFinding[]> {
    return await this.#inRecord(scan, async (record) => {
      const bounds = { most: worstOfReport, least: null };
      return (await worstFindings(scan, record, storeObserver(this.#input.store), bounds, signal)).list();
    });
  }

  async #compare(
    scan: Scan,
    against: string,
    least: Severity | null,
    signal: AbortSignal,
  ): Promise<FindingChanges> {
    const { store, config, catalogueOf } = this.#input;
    const tenant = await store.scans.tenantOf(scan.scan_id);
    const held: (() => void)[] = [];
    const recordOf = async (one: Scan) => {
      const { record, release } = await this.#input.holdRecord(one, tenant);
      held.push(release);
      return record;
    };
    try {
      const context = { store, config, catalogue: catalogueOf(tenant), recordOf };
      const comparison = await compareScans(context, scan.scan_id, against, signal);
      return await findingChanges(comparison, least);
    } finally {
      for (const release of held) release();
    }
  }

  async #inRecord<T>(scan: Scan, read: (record: ScanRecord) => Promise<T>): Promise<T> {
    const { store, holdRecord } = this.#input;
    const { record, release } = await holdRecord(scan, await store.scans.tenantOf(scan.scan_id));
    try {
      return await read(record);
    } finally {
      release();
    }
  }

  /** What cannot be read is left out of the message. */
  async #orElse<T>(scan: Scan, without: T, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await read(AbortSignal.any([this.#signal, AbortSignal.timeout(readTimeoutMs)]));
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#input.onFault?.(error, scan.scan_id);
      return without;
    }
  }

  async #shared<T>(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#reading.get(key) as Promise<T> | undefined;
    if (running) return await running;
    const started = read().finally(() => this.#reading.delete(key));
    this.#reading.set(key, started);
    return await started;
  }
}
