import { EventEmitter } from 'node:events';
import type { ScanStopper } from '../../actions/scans/cancel-scan.ts';
import type { PauseSwitch } from '../../actions/scans/pause-scan.ts';
import { progressOutsideWindow, windowWarning } from '../../actions/scans/window-warning.ts';
import type { Config } from '../../config/schema.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import { isFinal, type Scan, type ScanWarning } from '../../domain/scan.ts';
import type { BlackoutWindow } from '../../domain/time/scan-calendar.ts';
import type { Listener } from '../../net/local-listeners.ts';
import type { QueueClaim } from '../../store/scan-queue.ts';
import { logReason } from '../../worker/log-reason.ts';
import type { WarmProcesses } from '../../worker/warm-processes.ts';
import { PeriodicTasks } from '../background/periodic-tasks.ts';
import { UndividedScan } from '../shards/undivided-scan.ts';
import { Blackout } from './blackout.ts';
import { ClaimLoop } from './claim-loop.ts';
import { renewLeases } from './lease-renewal.ts';
import { storeProgress, withListedProgress, withLiveProgress } from './live-progress.ts';
import { PoolCapacity } from './pool-capacity.ts';
import type { PoolContext, WorkerPoolInput } from './pool-context.ts';
import { RateSharing } from './rate-sharing.ts';
import { recoverScans, stopWaiting, takeOverAbandoned } from './recover-scans.ts';
import { ScanEnds } from './scan-end.ts';
import { ScanRunner } from './scan-runner.ts';
import { cancelSlot, openSlot, type ScanSlot, slotFields } from './scan-slot.ts';
import type { WindowedPool } from './scan-windows.ts';

/** Interval at which the progress of running scans is stored, milliseconds. */
const storeMs = 1000;
/** A process for the first scan starts this long after the pool, milliseconds. */
const prepareMs = 300;
/** Interval at which scans of absent servers are looked for, milliseconds. */
const takeOverMs = 5000;
/** Interval at which commands of other servers for the scans here are read, milliseconds. */
const commandsMs = 1000;

/**
 * Runs waiting scans, each in a separate process, one per worker. Renews their leases, stores their progress,
 * notifies their followers, and resumes scans whose process died.
 */
export class WorkerPool implements ScanStopper, PauseSwitch, WindowedPool {
  readonly #context: PoolContext;
  readonly #stopping = new AbortController();
  readonly #blackout: Blackout;
  readonly #capacity: PoolCapacity;
  readonly #rates: RateSharing;
  readonly #ends: ScanEnds;
  readonly #runner: ScanRunner;
  readonly #claims: ClaimLoop;
  readonly #timers: NodeJS.Timeout[] = [];
  #forgetNews: () => void = () => undefined;
  readonly #commands = new PeriodicTasks(() => this.#followCommands(), {
    firstMs: commandsMs,
    betweenMs: commandsMs,
  });
  readonly #takeovers = new PeriodicTasks(() => this.#takeOver(), {
    firstMs: takeOverMs,
    betweenMs: takeOverMs,
  });

  constructor(input: WorkerPoolInput) {
    const news = new EventEmitter().setMaxListeners(0);
    const context = { ...input, slots: new Map(), news, stopping: this.#stopping.signal, listeners: [] };
    this.#context = context;
    this.#blackout = new Blackout(context);
    this.#capacity = new PoolCapacity(context);
    this.#rates = new RateSharing(context, this.#blackout);
    this.#ends = new ScanEnds(context);
    this.#runner = new ScanRunner(context, this.#ends, this.#blackout, this.#rates);
    this.#claims = new ClaimLoop(context, this.#blackout, this.#capacity, (claim) => this.#begin(claim));
  }

  /** Returns the scans of a server that died to the queue, then starts claiming. */
  async start(): Promise<void> {
    const { shards, config } = this.#context;
    await recoverScans(this.#context, this.#ends);
    await this.#blackout.storeMarks();
    const renew = () => void renewLeases(this.#context, this.#claims);
    this.#timers.push(setInterval(renew, config.workers.heartbeat));
    this.#timers.push(setInterval(() => void this.#storeProgress(), storeMs));
    if (shards) {
      this.#commands.start();
      this.#takeovers.start();
    }
    shards?.presence.onServed(() => this.wake());
    this.#forgetNews = shards?.line.onNews((scanId) => this.#followNews(scanId)) ?? this.#forgetNews;
    this.#claims.start();
    // The start of the server comes first.
    this.#timers.push(setTimeout(() => this.processes.prepare(), prepareMs));
  }

  /** Stops all scans at their checkpoint; the next start resumes them. Kills processes that do not exit in time. */
  async close(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#takeovers.close();
    const processesGone = this.processes.close();
    await this.#claims.close();
    const slots = [...this.#context.slots.values()];
    for (const slot of slots) slot.process?.detach();
    const late = setTimeout(() => slots.forEach((slot) => slot.process?.kill()), timeoutMs);
    await Promise.all(slots.map((slot) => slot.ended));
    clearTimeout(late);
    await processesGone;
    for (const timer of this.#timers) clearInterval(timer);
    this.#forgetNews();
    await this.#commands.close();
  }

  /** The processes of this server that run scans. */
  get processes(): WarmProcesses {
    return this.#runner.processes;
  }

  /** False if no scan would be started. */
  get alive(): boolean {
    return this.#claims.alive;
  }

  get closure(): BlackoutWindow | null {
    return this.#blackout.window;
  }

  get listeners(): readonly Listener[] {
    return this.#context.listeners;
  }

  set listeners(listeners: readonly Listener[]) {
    this.#context.listeners = listeners;
  }

  /** Current packets per second of this server's scans, on all their workers. */
  get packetRate(): number {
    const sending = [...this.#context.slots.values()].filter(({ paused }) => !paused);
    return sending.reduce((sum, { process }) => sum + (process?.live?.progress.rate ?? 0), 0);
  }

  /** Number of scans here whose process sends no heartbeat. */
  get hanging(): number {
    return [...this.#context.slots.values()].filter(({ process }) => process?.hangs).length;
  }

  /** Number of scans that this server has claimed. */
  get claimed(): number {
    return this.#context.slots.size;
  }

  counts(): { active: number; idle: number; total: number } {
    return this.#capacity.counts();
  }

  /** Called when a scan may be waiting. */
  wake(): void {
    this.#claims.wake();
  }

  #begin(claim: QueueClaim): void {
    const { slots, log } = this.#context;
    const held = slots.get(claim.scanId);
    if (held && (held.isLeaving || held.leaseLost)) {
      void held.ended.then(() => {
        if (this.alive) this.#begin(claim);
        // A cancel in between found the run that ended.
        const slot = slots.get(claim.scanId);
        if (held.canceled && slot) cancelSlot(slot);
      });
      return;
    }
    if (held) {
      // The lease expired although the scan still runs here (the machine slept, the disk was full): it continues.
      held.attempt = claim.attempt;
      return;
    }
    const slot = openSlot(claim);
    slots.set(claim.scanId, slot);
    slot.ended = this.#runner
      .run(slot)
      .then(() => this.#ends.removeShards(slot))
      .catch((err) => log.error({ err, ...slotFields(slot) }, 'cannot run a scan'))
      .finally(() => this.#free(slot));
  }

  #free(slot: ScanSlot): void {
    const { scanId, process, leaseLost } = slot;
    const { slots, news, onScanEnd } = this.#context;
    slots.delete(scanId);
    this.#rates.renew();
    news.emit(scanId);
    onScanEnd(slot);
    // An end makes room; a scan that has not ended waits again.
    const hasEnded = Boolean(process?.outcome) && !leaseLost;
    if (this.alive && !(hasEnded && this.#claims.foundNothing)) this.wake();
  }

  async stop(scanId: string): Promise<void> {
    await this.#claims.lastClaim;
    const { slots, shards } = this.#context;
    const slot = slots.get(scanId);
    if (slot) {
      cancelSlot(slot);
      return await slot.ended;
    }
    await shards?.elsewhere.cancel(scanId);
    await stopWaiting(this.#context, scanId);
  }

  async pause(scanId: string): Promise<void> {
    const { slots, shards, news } = this.#context;
    const slot = slots.get(scanId);
    if (slot) {
      slot.paused = true;
      const marked = this.#readPauseMark(slot);
      await slot.process?.pause();
      await marked;
      this.#rates.renew();
    } else await shards?.elsewhere.pause(scanId);
    news.emit(scanId);
    this.wake();
  }

  async resume(scanId: string): Promise<void> {
    const { slots, shards, news } = this.#context;
    const slot = slots.get(scanId);
    if (slot) {
      slot.paused = false;
      slot.pauseMark = null;
      if (this.#blackout.window === null) slot.process?.resume();
      this.#rates.renew();
    } else await shards?.elsewhere.resume(scanId);
    news.emit(scanId);
    this.wake();
  }

  async #readPauseMark(slot: ScanSlot): Promise<void> {
    const { store, log } = this.#context;
    try {
      const mark = await store.scanPauses.markOf(slot.scanId);
      if (slot.paused) slot.pauseMark = mark;
    } catch (err) {
      log.debug(logReason(err), 'cannot read who paused a scan');
    }
  }

  setClosure(window: BlackoutWindow | null): void {
    if (!this.#blackout.set(window)) return;
    this.#rates.renew();
    if (this.alive) this.wake();
  }

  /**
   * Applies changed rules to the running scans as far as they narrow the scope. Later scans use the current
   * configuration.
   */
  narrowScope({ scope: { allow, deny }, blocklist }: Pick<Config['scanner'], 'scope' | 'blocklist'>): void {
    for (const { process } of this.#context.slots.values()) process?.narrow({ allow, deny, blocklist });
  }

  /** Takes over scans of servers that are gone. */
  async #takeOver(): Promise<void> {
    try {
      if ((await takeOverAbandoned(this.#context, this.#ends)) > 0) this.wake();
    } catch (err) {
      this.#context.log.debug(logReason(err), 'cannot look for scans of absent servers, retrying');
    }
  }

  /** Another server has notified its workers, which an undivided scan has none of. */
  #followNews(scanId: string): void {
    if (this.#context.slots.get(scanId)?.process instanceof UndividedScan) void this.#followCommands();
  }

  /** Applies requests of clients of other servers to the scans here. */
  async #followCommands(): Promise<void> {
    const { store, shards, log, slots } = this.#context;
    if (slots.size === 0) return;
    try {
      for (const { scanId, canceled, paused } of await store.scanQueue.controlRequests(shards?.home ?? '')) {
        const slot = slots.get(scanId);
        if (!slot) continue;
        if (canceled) cancelSlot(slot);
        else if (paused !== slot.paused) {
          await (paused ? this.pause(scanId) : this.resume(scanId));
          // The progress stored meanwhile does not include it.
          slot.storedReport = null;
        }
      }
    } catch (err) {
      log.debug(logReason(err), 'cannot read the commands of other servers, retrying');
    }
  }

  /** Wakes the followers of a scan that another server runs. */
  reportRows(scanId: string): void {
    this.#context.news.emit(scanId);
  }

  /** Rows of a running scan that may be shown. */
  shownRows(scanId: string): number {
    return this.#context.slots.get(scanId)?.process?.storedRows ?? Number.POSITIVE_INFINITY;
  }

  /** The absent part that a scan waits for: its server, or a worker of its pool. */
  readonly waitsFor = (scan: Pick<Scan, 'scan_id' | 'pool' | 'status'>): ScanWarning[] =>
    this.#context.shards?.presence.warningsOf(scan) ?? [];

  /** The scan with the newest progress of its process, and what stops it from sending. */
  freshen(scan: Scan): Scan {
    const fresh = withLiveProgress(this.#context.slots, scan);
    const { warnings, progress } = this.#waiting(fresh);
    if (warnings.length === 0) return fresh;
    return { ...fresh, progress, warnings: [...fresh.warnings, ...warnings] };
  }

  /** The same of a scan of a list. */
  freshenListed(scan: ListedScan): ListedScan {
    const fresh = withListedProgress(this.#context.slots, scan);
    const { warnings, progress } = this.#waiting(fresh);
    if (warnings.length === 0) return fresh;
    return { ...fresh, progress, warnings_total: fresh.warnings_total + warnings.length };
  }

  /** What stops a scan from sending. */
  #waiting(
    scan: Pick<Scan, 'scan_id' | 'pool' | 'status' | 'progress'>,
  ): Pick<Scan, 'progress' | 'warnings'> {
    const warnings = this.waitsFor(scan);
    const { window } = this.#blackout;
    if (window === null || !this.#blackout.concerns(scan.scan_id) || isFinal(scan.status))
      return { progress: scan.progress, warnings };
    return {
      progress: progressOutsideWindow(scan.progress),
      warnings: [...warnings, windowWarning(window)],
    };
  }

  /** Resolves at the next event of a scan, after `ms`, or on abort. */
  async changed(scanId: string, signal: AbortSignal, ms: number): Promise<void> {
    if (signal.aborted) return;
    const { news } = this.#context;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        news.off(scanId, done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      news.on(scanId, done);
    });
  }

  async #storeProgress(): Promise<void> {
    for (const slot of this.#context.slots.values()) await storeProgress(this.#context, slot);
  }
}
