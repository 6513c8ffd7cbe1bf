import type { ListedScan } from '../../domain/listed-scan.ts';
import { isFinal } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import type { WorkerPool } from '../scans/worker-pool.ts';
import { scanOfEvent, stateSignature } from './event-scan.ts';
import type { ChangeSource, EventSink } from './service-feed.ts';

/** Scans read at once of each state; beyond, readers must load their lists anew. */
const mostScans = 500;
/** Vanished scans looked up per poll. */
const mostLookups = 50;
/** Minimum interval between two reads of the store, milliseconds; of one that several servers share. */
const readMs = 250;
const sharedReadMs = 1000;
/** Interval of the progress of a scan, milliseconds. */
const progressMs = 1000;
/**
 * A scan that is stored may have an earlier time than one that is known, milliseconds: submissions overlap, and the
 * clocks of servers differ.
 */
const overlapMs = 2000;
const sharedOverlapMs = 60_000;
/** Maximum time between two transactions that overlap, milliseconds: both have the clock of the database. */
const removalOverlapMs = 5000;
/** Minimum interval between two events `reset`, milliseconds. */
const resetMs = 5000;

export interface ScanChangesInput {
  /** Of the tenant. */
  store: Store;
  workers: Pick<WorkerPool, 'freshenListed'>;
  /** Whether other servers store scans, too. */
  isShared: boolean;
}

/** Reports new, changed and deleted scans, and the progress of those that run. */
export class ScanChanges implements ChangeSource {
  readonly #input: ScanChangesInput;
  /** State by scan: all that have not ended, and new ones. */
  readonly #known = new Map<string, { state: string; created_at: string; isFinal: boolean }>();
  readonly #progressAt = new Map<string, number>();
  #running: readonly ListedScan[] = [];
  readonly #removals: Removals;
  #version: string | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  /** `created_at` of the newest scan. */
  #newest: string | null = null;
  #begun = false;
  #resetAt = Number.NEGATIVE_INFINITY;

  constructor(input: ScanChangesInput) {
    this.#input = input;
    this.#removals = new Removals(input.store);
  }

  async poll(sink: EventSink): Promise<void> {
    if (this.#isDue()) await this.#read(sink);
    for (const scan of this.#running) this.#reportProgress(scan, sink);
  }

  #isDue(): boolean {
    const { store, isShared } = this.#input;
    const now = performance.now();
    if (now - this.#readAt < (isShared ? sharedReadMs : readMs)) return false;
    const version = store.version();
    if (version === this.#version) return false;
    this.#version = version;
    this.#readAt = now;
    return true;
  }

  async #read(sink: EventSink): Promise<void> {
    const { scans } = this.#input.store;
    const page = { limit: mostScans, offset: 0 };
    this.#newest ??= (await scans.listPart({ limit: 1, offset: 0 })).scans[0]?.created_at ?? null;
    const since = this.#since();
    const recent = await scans.listPart({ ...page, ...(since !== null && { since }) });
    const running = await scans.listPart({ ...page, status: 'running' });
    const pending = await scans.listPart({ ...page, status: 'pending' });
    const found = new Map(
      [...recent.scans, ...pending.scans, ...running.scans].map((one) => [one.scan_id, one]),
    );
    if (recent.nextCursor !== null && since !== null) this.#reset(sink);
    this.#running = running.scans;
    for (const scan of found.values()) this.#report(scan, sink);
    await this.#lookUp(found, sink);
    for (const scanId of await this.#removals.read()) this.#remove(scanId, sink);
    this.#dropEnded();
    this.#begun = true;
  }

  /** From when on new scans are read; null if there are none. */
  #since(): string | null {
    const overlap = this.#input.isShared ? sharedOverlapMs : overlapMs;
    return this.#newest === null ? null : new Date(Date.parse(this.#newest) - overlap).toISOString();
  }

  #reset(sink: EventSink): void {
    const now = performance.now();
    if (!this.#begun || now - this.#resetAt < resetMs) return;
    this.#resetAt = now;
    sink.emit('reset', { reason: 'too_many_changes' });
  }

  /** Emits a changed state. */
  #report(stored: ListedScan, sink: EventSink): void {
    const scan = this.#input.workers.freshenListed(stored);
    const { scan_id, created_at, status } = scan;
    const state = stateSignature(scan);
    const known = this.#known.get(scan_id);
    if (known?.isFinal && !isFinal(status)) return;
    if (this.#newest === null || created_at > this.#newest) this.#newest = created_at;
    this.#known.set(scan_id, { state, created_at, isFinal: isFinal(status) });
    if (known?.state === state) return;
    if (isFinal(status)) this.#dropProgress(scan_id, sink);
    else this.#progressAt.set(scan_id, performance.now());
    if (this.#begun) sink.emit('scan', scanOfEvent(scan));
  }

  #reportProgress(stored: ListedScan, sink: EventSink): void {
    const { scan_id } = stored;
    const now = performance.now();
    if (now - (this.#progressAt.get(scan_id) ?? Number.NEGATIVE_INFINITY) < progressMs) return;
    const scan = this.#input.workers.freshenListed(stored);
    // Its state is newer than the stored one: the next read reports both.
    if (this.#known.get(scan_id)?.state !== stateSignature(scan)) return;
    this.#progressAt.set(scan_id, now);
    sink.setLatest(scan_id, 'scan', scanOfEvent(scan));
  }

  #dropProgress(scanId: string, sink: EventSink): void {
    this.#progressAt.delete(scanId);
    sink.dropLatest(scanId);
  }

  /** Scans that had not ended and are no longer listed as such. */
  async #lookUp(found: ReadonlyMap<string, ListedScan>, sink: EventSink): Promise<void> {
    const vanished = [...this.#known].filter(([scanId, { isFinal: ended }]) => !ended && !found.has(scanId));
    const lookedUp = vanished.slice(0, mostLookups);
    const listed = await this.#input.store.scans.listed(lookedUp.map(([scanId]) => scanId));
    const scans = new Map(listed.map((scan) => [scan.scan_id, scan]));
    for (const [scanId, known] of lookedUp) {
      const scan = scans.get(scanId);
      if (scan) this.#report(scan, sink);
      else this.#remove(scanId, sink);
      // Beyond the lists: the others come first next time.
      if (scan && !isFinal(scan.status)) {
        this.#known.delete(scanId);
        this.#known.set(scanId, known);
      }
    }
  }

  #remove(scanId: string, sink: EventSink): void {
    this.#known.delete(scanId);
    this.#running = this.#running.filter(({ scan_id }) => scan_id !== scanId);
    this.#dropProgress(scanId, sink);
    if (this.#removals.mark(scanId) && this.#begun) sink.emit('scan_deleted', { scan_id: scanId });
  }

  #dropEnded(): void {
    const since = this.#since() ?? '';
    for (const [scanId, { isFinal: ended, created_at }] of this.#known)
      if (ended && created_at < since) this.#known.delete(scanId);
  }
}

/** Deleted scans, each reported once. */
class Removals {
  readonly #store: Store;
  readonly #reported = new Map<string, number>();
  /** Time of the newest removal; null before the first read. */
  #newest: number | null = null;
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The new ones; none at the first call. */
  async read(): Promise<string[]> {
    const { scanRemovals } = this.#store;
    const newest = await scanRemovals.newest();
    const now = performance.now();
    if (newest !== this.#newest) this.#changedAt = now;
    // Transactions that overlap with the newest one have ended by then.
    else if (now - this.#changedAt > 2 * removalOverlapMs) return [];
    const isFirst = this.#newest === null;
    const found = await scanRemovals.from((this.#newest ?? newest) - removalOverlapMs);
    this.#newest = newest;
    for (const [scanId, removedAt] of this.#reported)
      if (removedAt < newest - 2 * removalOverlapMs) this.#reported.delete(scanId);
    if (isFirst) for (const { scanId, removedAt } of found) this.#reported.set(scanId, removedAt);
    return found.flatMap(({ scanId }) => (this.#reported.has(scanId) ? [] : [scanId]));
  }

  /** Marks a scan as reported. @returns whether it was not */
  mark(scanId: string): boolean {
    if (this.#reported.has(scanId)) return false;
    this.#reported.set(scanId, Math.max(this.#newest ?? 0, Date.now()));
    return true;
  }
}
