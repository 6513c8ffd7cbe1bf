import { PortolanError } from '../../domain/errors.ts';
import { serverOf } from '../../domain/executor.ts';
import { isFinal } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import { logReason } from '../../worker/log-reason.ts';
import type { FetchedScans } from '../../workspace/result-store/fetched-scans.ts';
import type {
  ResultStore,
  StoreAttempt,
  StoredScanLocation,
} from '../../workspace/result-store/result-store.ts';
import { StagedResults } from '../../workspace/result-store/staged-results.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ServerLog } from '../logging/log.ts';

/** Times in milliseconds. */
export interface MoverIntervals {
  /** Poll interval for results to store, in case the end of a scan is not reported. */
  lookMs: number;
  /** Pause after a failure, doubled with each further one. */
  retryMs: number;
  longestRetryMs: number;
}

const usualPace: MoverIntervals = { lookMs: 30_000, retryMs: 1000, longestRetryMs: 300_000 };

export interface ResultMoverInput {
  /** Of all tenants. */
  store: Store;
  /** Of all tenants. */
  workspace: Workspace;
  results: ResultStore;
  fetched: FetchedScans;
  /** Whether a server is present; null if there is only this one. */
  isPresent: ((serverId: string) => Promise<boolean>) | null;
  log: ServerLog;
  /** Called after every attempt to move a scan, unless it was aborted. */
  onMove?: (status: 'stored' | 'failed') => void;
  pace?: MoverIntervals;
}

/** A finished scan to move, and whether its results wait in the database; otherwise they are in the workspace. */
interface Waiting {
  place: StoredScanLocation;
  staged: StagedResults | null;
}

/** What an attempt to move a scan may have left in the result store. */
interface UnfinishedAttempt extends Waiting {
  names: readonly string[];
}

/** A scan that could not be moved although the result store is reachable. */
interface Setback {
  failures: number;
  /** Monotonic milliseconds. */
  notBefore: number;
}

/**
 * Moves every finished scan of this server into the result store, one after another, including those from before it
 * was configured, and what waits in the database of servers that are away. An aborted move is repeated.
 */
export class ResultMover {
  readonly #input: ResultMoverInput;
  readonly #pace: MoverIntervals;
  readonly #closing = new AbortController();
  readonly #setbacks = new Map<string, Setback>();
  /** Broken-off attempts: if their scans are deleted, nothing else knows what they have stored. */
  readonly #unfinished = new Map<string, UnfinishedAttempt>();
  /** Scans that are being deleted. */
  readonly #doomed = new Set<string>();
  #current: { scanId: string; stop: AbortController; ended: Promise<unknown> } | null = null;
  #running: Promise<void> = Promise.resolve();
  #woken = false;
  #wake: () => void = () => undefined;
  #failures = 0;
  #fault: string | null = null;

  constructor(input: ResultMoverInput) {
    this.#input = input;
    this.#pace = input.pace ?? usualPace;
  }

  /** Why the result store cannot be used; null if it can. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Number of scans that are to be moved. */
  async pending(): Promise<number> {
    const { store, results } = this.#input;
    const staged = results instanceof StagedResults ? await results.countWaiting() : 0;
    return staged + (await store.scanAges.countUnstored());
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Called when a scan has ended. */
  wake(): void {
    this.#woken = true;
    if (this.#failures === 0) this.#wake();
  }

  /** Aborts a running move; the next start repeats it. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#current?.stop.abort();
    this.#wake();
    await this.#running;
  }

  /** Removes a scan from the result store, before its row. @throws PortolanError `unavailable` */
  async remove(place: StoredScanLocation): Promise<void> {
    this.#doomed.add(place.scanId);
    try {
      if (this.#current?.scanId === place.scanId) {
        this.#current.stop.abort();
        await this.#current.ended;
      }
      await this.#markUnstored(place);
      await this.#input.results.remove(place);
      this.#unfinished.delete(place.scanId);
      await this.#input.fetched.forget(place);
    } catch (error) {
      this.#doomed.delete(place.scanId);
      throw error;
    }
  }

  /** See `ResultRemover`. Never rejects: the scan is deleted. */
  async removeLate(place: StoredScanLocation): Promise<void> {
    const { results, isPresent, log } = this.#input;
    if (isPresent === null) return;
    await results.removeLate(place).catch((error: unknown) => {
      const fields = { ...logReason(error), scan_id: place.scanId };
      log.warn(fields, 'the result store may keep files of a deleted scan');
    });
  }

  /**
   * If the deletion is aborted, the scan is stored again. A scan that exists nowhere else stays marked as stored, as does one that
   * other servers may read while the result store is away.
   */
  async #markUnstored({ scanId, tenant }: StoredScanLocation): Promise<void> {
    const { store, workspace, results } = this.#input;
    if (results instanceof StagedResults) return;
    if (!(await workspace.forTenant(tenant).scan(scanId).exists())) return;
    // A full disk must not prevent deletion.
    await store.scans.setStored(scanId, null).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { lookMs, retryMs, longestRetryMs } = this.#pace;
    while (!this.#closing.signal.aborted) {
      this.#woken = false;
      await this.#round();
      const pause = Math.min(longestRetryMs, retryMs * 2 ** (this.#failures - 1));
      await this.#sleep(this.#failures === 0 ? lookMs : pause);
    }
  }

  /** Resolves after the interval or on a wake call, including one during the round. */
  #sleep(ms: number): Promise<void> {
    if (this.#closing.signal.aborted || (this.#woken && this.#failures === 0)) return Promise.resolve();
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #round(): Promise<void> {
    const { log } = this.#input;
    try {
      for (const attempt of this.#unfinished.values()) await this.#finalize(attempt);
      const known = [...this.#doomed, ...this.#setbacks.keys()];
      const waiting = new Set<string>();
      for await (const scan of this.#waiting()) {
        const { scanId } = scan.place;
        if (this.#closing.signal.aborted) return;
        if (this.#doomed.has(scanId) || this.#setbacks.has(scanId)) waiting.add(scanId);
        if (!this.#isPutOff(scanId)) await this.#move(scan);
      }
      this.#forget(known.filter((scanId) => !waiting.has(scanId)));
      this.#failures = 0;
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#failures++;
      const reason = logReason(error);
      if (this.#failures === 1) log.warn(reason, 'cannot move results to the result store, retrying');
      else log.debug(reason, 'still cannot move results to the result store');
    }
  }

  async *#waiting(): AsyncGenerator<Waiting> {
    const { store, results } = this.#input;
    for await (const { scan_id: scanId, tenant } of store.scanAges.unstored())
      yield { place: { scanId, tenant }, staged: null };
    if (!(results instanceof StagedResults)) return;
    for await (const place of results.waiting())
      if (await this.#movesStaged(place.scanId)) yield { place, staged: results };
  }

  /** Those of a server that is away are moved by any other one, even by several. Large ones wait before the end of their scan. */
  async #movesStaged(scanId: string): Promise<boolean> {
    const { store, isPresent } = this.#input;
    const scan = await store.scans.get(scanId);
    if (scan && !isFinal(scan.status)) return false;
    const owner = await store.scans.ownerOf(scanId);
    if (owner === null || owner === serverOf(store.executor)) return true;
    return isPresent !== null && !(await isPresent(owner));
  }

  #isPutOff(scanId: string): boolean {
    const notBefore = this.#setbacks.get(scanId)?.notBefore ?? 0;
    return this.#doomed.has(scanId) || performance.now() < notBefore;
  }

  /** Forgets setbacks of scans that are no longer waiting. */
  #forget(scanIds: readonly string[]): void {
    for (const scanId of scanIds) {
      this.#doomed.delete(scanId);
      this.#setbacks.delete(scanId);
    }
  }

  /** Uploads a scan and records the state of the result store. */
  async #keep({ place, staged }: Waiting, attempt: StoreAttempt): Promise<void> {
    const { workspace, results, log } = this.#input;
    const folder = workspace.forTenant(place.tenant).scan(place.scanId);
    try {
      await (staged ? staged.move(place, attempt) : results.keep(place, folder.path, attempt));
    } catch (error) {
      const isAway = !(error instanceof PortolanError) || error.code === 'unavailable';
      if (isAway && !attempt.signal?.aborted)
        this.#fault = error instanceof PortolanError ? error.message : 'The result store is unavailable.';
      throw error;
    }
    if (this.#fault === null) return;
    this.#fault = null;
    this.#failures = 0;
    log.info('result store available again');
  }

  /** @throws PortolanError `unavailable` if the cause is not this scan */
  async #move(scan: Waiting): Promise<void> {
    const { place } = scan;
    const stop = new AbortController();
    const moving = this.#store(scan, stop.signal);
    this.#current = { scanId: place.scanId, stop, ended: moving.catch(() => undefined) };
    try {
      await moving;
      this.#setbacks.delete(place.scanId);
      this.#input.onMove?.('stored');
    } catch (error) {
      if (stop.signal.aborted) return;
      this.#input.onMove?.('failed');
      if (!(error instanceof PortolanError) || error.code === 'unavailable') throw error;
      await this.#putOff(place, error);
    } finally {
      this.#current = null;
    }
  }

  async #store(scan: Waiting, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#input;
    const { place, staged } = scan;
    const { scanId } = place;
    const remember = (names: readonly string[]) => {
      const earlier = this.#unfinished.get(scanId)?.names ?? [];
      this.#unfinished.set(scanId, { ...scan, names: [...new Set([...earlier, ...names])] });
    };
    let isStored = false;
    try {
      await this.#keep(scan, { signal, onNames: remember });
      isStored = await store.scans.setStored(scanId, new Date().toISOString());
      // Another server has deleted the scan meanwhile: what an earlier attempt has sealed goes too.
      if (!isStored) remember([]);
    } finally {
      if (isStored) this.#unfinished.delete(scanId);
      else await this.#finalizeNow(scanId);
    }
    if (!isStored) return;
    await staged?.clearStage(place);
    log.debug(await store.scans.logFieldsOf(scanId), 'results moved to the result store');
  }

  /** If this is not possible now, the next round does it. */
  async #finalizeNow(scanId: string): Promise<void> {
    const attempt = this.#unfinished.get(scanId);
    if (attempt) await this.#finalize(attempt).catch(() => undefined);
  }

  /**
   * Removes what an attempt has stored of a scan that another server deletes: that one may have removed the list of the files
   * before this one has stored them.
   */
  async #finalize({ place, staged, names }: UnfinishedAttempt): Promise<void> {
    const { store, results } = this.#input;
    const isTaken = await store.scans.isTaken(place.scanId);
    // The folder is still here: the attempt will be repeated.
    if (isTaken && staged === null) return;
    // Whoever deletes what is sealed, there or still in the database, finds all of it. What is sealed nowhere is being deleted.
    if (!isTaken || !(await results.isSealed(place))) await results.remove(place, names);
    this.#unfinished.delete(place.scanId);
  }

  /** The folder of the scan is missing, or is being changed. */
  async #putOff({ scanId }: StoredScanLocation, error: PortolanError): Promise<void> {
    const { store, log } = this.#input;
    if (!(await store.scans.isTaken(scanId))) return;
    const { retryMs, longestRetryMs } = this.#pace;
    const failures = (this.#setbacks.get(scanId)?.failures ?? 0) + 1;
    const pause = Math.min(longestRetryMs, retryMs * 2 ** (failures - 1));
    this.#setbacks.set(scanId, { failures, notBefore: performance.now() + pause });
    // A concurrent change is over after a moment.
    if (failures === 3)
      log.warn(
        { ...(await store.scans.logFieldsOf(scanId)), reason: error.message },
        'cannot store the results of a scan',
      );
  }
}
