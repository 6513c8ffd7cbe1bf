import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScanStopper } from '../../actions/scans/cancel-scan.ts';
import type { PauseSwitch } from '../../actions/scans/pause-scan.ts';
import { scanOutsideWindow } from '../../actions/scans/window-warning.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import {
  type FailureCode,
  isFinal,
  type Scan,
  type ScanProgress,
  type ScanRequest,
  type ScanWarning,
} from '../../domain/scan.ts';
import type { BlackoutWindow } from '../../domain/scan-calendar.ts';
import { Slots } from '../../net/gate/slots.ts';
import type { Listener } from '../../net/local-listeners.ts';
import type { JobQueue } from '../../queue/queue.ts';
import { concludeScan } from '../../scan-run/finalize-scan.ts';
import { interruptScan, isDeadCommandLine } from '../../scan-run/interrupt-scan.ts';
import type { ScanOutcome } from '../../scan-run/messages.ts';
import type { Store } from '../../store/open.ts';
import type { QueueClaim } from '../../store/scan-queue.ts';
import { logReason } from '../../worker/log-reason.ts';
import { rateShares } from '../../worker/rate-shares.ts';
import type { RunningScan } from '../../worker/running-scan.ts';
import { ScanProcess, type ScanProcessInput } from '../../worker/scan-process.ts';

import type { AuditLogs } from '../../workspace/audit/audit-logs.ts';
import { checkpointProgress } from '../../workspace/record/checkpoint.ts';
import { recordSummary } from '../../workspace/record/record-reader.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { PeriodicTasks } from '../background/periodic-tasks.ts';
import type { Installed } from '../installed.ts';
import { scanCompleted, scanStarted } from '../logging/audit.ts';
import { logEnvironment, type ServerLog } from '../logging/log.ts';
import type { LogOutput } from '../logging/log-output.ts';
import type { Metrics } from '../logging/metrics.ts';
import type { Distribution } from '../shards/distribution.ts';
import { removeShards } from '../shards/shard-ingest.ts';
import { ShardedScan, type ShardedScanInput } from '../shards/sharded-scan.ts';
import { nextResumeMark, readResumeMark, removeResumeMark, writeResumeMark } from './resume-mark.ts';
import type { WindowedPool } from './scan-windows.ts';
import { WorkerScale } from './worker-scale.ts';

export interface WorkerPoolInput {
  store: Store;
  queue: JobQueue;
  workspace: Workspace;
  config: Config;
  entryFile: string;
  log: ServerLog;
  /** Told whenever a scan has left its worker. */
  onScanEnd: () => void;
  audit: AuditLogs;
  metrics: Pick<Metrics, 'scanEnded' | 'packetsSent'>;
  /** Where the log lines of scan processes go. */
  logOutput: LogOutput;
  /** Scans are divided among workers; null = each runs in a process here. */
  shards: Distribution | null;
  installed: Installed;
}

/** One claimed scan and the process that runs it. */
interface Slot extends QueueClaim {
  process: RunningScan | null;
  canceled: boolean;
  /** Somebody paused it. */
  paused: boolean;
  /** Packets per second that the scan asked for. */
  asked: number;
  /** Packets per second that its process was told to keep to. */
  share: number;
  /** Another worker has the scan now; nothing of it may be written any more. */
  lost: boolean;
  /** Resolves when everything about the scan is stored. */
  settled: Promise<void>;
  /** The live report that is stored last. */
  stored: unknown;
}

/** A scan that does not end by itself after a cancel is killed. */
const cancelGraceMs = 5000;
/** The queue is looked at this often even when nobody says that something waits. */
const pollMs = 2000;
/** Live figures are stored this often. */
const storeMs = 1000;
/** What other servers were asked to do with a scan of this one is looked at this often, milliseconds. */
const wishesMs = 1000;
/** Pause before a scan whose process died is started again; doubled with every further death. */
const backoffMs = 250;

/** Scans of one pool at a time that are divided among workers. */
const mostDivided = 64;

const canceledError = { code: 'canceled' as const, message: 'The scan was canceled.' };

/**
 * Runs waiting scans, each in a process of its own, as many at a time as there are workers. Keeps their leases
 * alive, their figures stored and their listeners informed, and takes scans up again whose process died.
 */
export class WorkerPool implements ScanStopper, PauseSwitch, WindowedPool {
  readonly #input: WorkerPoolInput;
  readonly #slots = new Map<string, Slot>();
  readonly #news = new EventEmitter().setMaxListeners(0);
  readonly #timers: NodeJS.Timeout[] = [];
  #filling: Promise<void> | null = null;
  #fillAgain = false;
  #claiming = false;
  /** The log was told that the queue cannot be read. */
  #queueFault = false;
  /** The claim that was asked for last: a scan that it brings has no place here yet. */
  #underClaim: Promise<unknown> = Promise.resolve();
  #draining = false;
  /** Changes of the shares of the rate, one after the other. */
  #sharing: Promise<void> = Promise.resolve();
  /** The server's own, which `scanner.scope.protect_self` keeps every scan away from. */
  listeners: readonly Listener[] = [];
  readonly #scale: WorkerScale;
  /** What other servers want of the scans here. */
  readonly #wishes = new PeriodicTasks(() => this.#followWishes(), {
    firstMs: wishesMs,
    betweenMs: wishesMs,
  });
  /** Scans in shards end in a process here. */
  readonly #lastSteps: Slots;
  #closure: BlackoutWindow | null = null;
  /** Scans that are held in the store. */
  #held: ReadonlySet<string> = new Set();
  /** The store may hold scans, of the server before too, although they may send. */
  #holding = true;

  constructor(input: WorkerPoolInput) {
    this.#input = input;
    this.#scale = new WorkerScale(input.config);
    this.#lastSteps = new Slots(input.config.server.workers);
  }

  /** False when no scan would be started. */
  get alive(): boolean {
    return this.#claiming && !this.#draining;
  }

  get closure(): BlackoutWindow | null {
    return this.#closure;
  }

  counts(): { active: number; idle: number; total: number } {
    const { shards } = this.#input;
    const active = shards ? shards.presence.workers.active : this.#taken;
    const total = shards ? shards.presence.workers.total : Math.max(this.#scale.size, active);
    return { active, idle: Math.max(0, total - active), total };
  }

  /** Places that are taken. */
  get #taken(): number {
    return placesOf([...this.#slots.values()], this.#scale.most);
  }

  /** Puts the scans of a server that died back in line, then begins to work. */
  async start(): Promise<void> {
    await this.#recover();
    await this.#keepHolds();
    this.#claiming = true;
    const { heartbeat } = this.#input.config.workers;
    this.#timers.push(setInterval(() => this.wake(), pollMs));
    this.#timers.push(setInterval(() => void this.#heartbeat(), heartbeat));
    this.#timers.push(setInterval(() => void this.#storeLive(), storeMs));
    if (this.#input.shards) this.#wishes.start();
    this.#input.shards?.presence.onServed(() => this.wake());
    this.wake();
  }

  /**
   * Lets no scan send any more, or all but those that somebody paused. None begins meanwhile, and what a person
   * paused or resumed before and during it holds after it.
   */
  setClosure(closure: BlackoutWindow | null): void {
    const turns = (closure === null) !== (this.#closure === null);
    this.#closure = closure;
    if (!turns) return;
    for (const { scanId, process, paused } of this.#slots.values()) {
      if (closure) {
        process?.pause().catch((err: unknown) => {
          this.#input.log.error({ err, scan_id: scanId }, 'a scan could not be held');
        });
      } else if (!paused) process?.resume();
      this.#news.emit(scanId);
    }
    this.#shareRate();
    if (this.alive) this.wake();
  }

  /** Something may wait in the queue. */
  wake(): void {
    this.#fillAgain = true;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = null;
      if (this.#fillAgain && this.alive) this.wake();
    });
  }

  /**
   * Makes changed rules hold for the scans that run, as far as they take something away. Scans that begin later have
   * the configuration of the day.
   */
  narrowScope({ scope: { allow, deny }, blocklist }: Pick<Config['scanner'], 'scope' | 'blocklist'>): void {
    for (const { process } of this.#slots.values()) process?.narrow({ allow, deny, blocklist });
  }

  async pause(scanId: string): Promise<void> {
    const slot = this.#slots.get(scanId);
    if (slot) {
      slot.paused = true;
      await slot.process?.pause();
      this.#shareRate();
    } else await this.#input.shards?.elsewhere.pause(scanId);
    this.#news.emit(scanId);
    this.wake();
  }

  async resume(scanId: string): Promise<void> {
    const slot = this.#slots.get(scanId);
    if (slot) {
      slot.paused = false;
      if (this.#closure === null) slot.process?.resume();
      this.#shareRate();
    } else await this.#input.shards?.elsewhere.resume(scanId);
    this.#news.emit(scanId);
    this.wake();
  }

  async stop(scanId: string): Promise<void> {
    await this.#underClaim;
    const slot = this.#slots.get(scanId);
    if (!slot) return await this.#input.shards?.elsewhere.cancel(scanId);
    cancelSlot(slot);
    await slot.settled;
  }

  /** What a scan waits for that is not present: its server, or a worker of its pool. */
  readonly waitsFor = (scan: Pick<Scan, 'scan_id' | 'pool' | 'status'>): ScanWarning[] =>
    this.#input.shards?.presence.warningsOf(scan) ?? [];

  /** The scan with the newest figures of its process. */
  freshen<S extends Scan>(scan: S): S {
    const fresh = this.#fresh(scan);
    const waits = this.waitsFor(scan);
    const shown = waits.length > 0 ? { ...fresh, warnings: [...fresh.warnings, ...waits] } : fresh;
    const held = this.#closure !== null && (this.#slots.has(scan.scan_id) || this.#held.has(scan.scan_id));
    return held && !isFinal(shown.status) ? scanOutsideWindow(shown, this.#closure as BlackoutWindow) : shown;
  }

  #fresh<S extends Scan>(scan: S): S {
    const slot = this.#slots.get(scan.scan_id);
    if (!slot || scan.status !== 'running') return scan;
    const fresh = slot.process?.live ? { ...scan, ...slot.process.live } : scan;
    return { ...fresh, progress: { ...fresh.progress, ...standing(slot) } };
  }

  /** Resolves at the next news of a scan, after `ms`, or on abort. */
  async changed(scanId: string, signal: AbortSignal, ms: number): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#news.off(scanId, done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      this.#news.on(scanId, done);
    });
  }

  /** Stops all scans where they are, to be resumed at the next start. A process that does not end is killed. */
  async close(timeoutMs: number): Promise<void> {
    this.#draining = true;
    await this.#filling;
    const slots = [...this.#slots.values()];
    for (const slot of slots) slot.process?.detach();
    const late = setTimeout(() => slots.forEach((slot) => slot.process?.kill()), timeoutMs);
    await Promise.all(slots.map((slot) => slot.settled));
    clearTimeout(late);
    for (const timer of this.#timers) clearInterval(timer);
    await this.#wishes.close();
  }

  async #followWishes(): Promise<void> {
    const { store, shards, log } = this.#input;
    if (this.#slots.size === 0) return;
    try {
      for (const { scanId, canceled, paused } of await store.jobs.wishes(shards?.home ?? '')) {
        const slot = this.#slots.get(scanId);
        if (!slot) continue;
        if (canceled) cancelSlot(slot);
        else if (paused !== slot.paused) {
          await (paused ? this.pause(scanId) : this.resume(scanId));
          // The figures that were stored meanwhile know nothing of it.
          slot.stored = null;
        }
      }
    } catch (err) {
      log.debug(logReason(err), 'what is wanted of the scans could not be read; it is tried again');
    }
  }

  #runningByTenant(): Map<string, number> {
    const running = new Map<string, number>();
    for (const { tenant } of this.#slots.values()) {
      if (tenant !== null) running.set(tenant, (running.get(tenant) ?? 0) + 1);
    }
    return running;
  }

  /** Pools that have as many scans running as they may; a paused one has given its place away. */
  #fullPools(): string[] {
    const limits = Object.entries(this.#input.config.workers.pools ?? {});
    const sending = [...this.#slots.values()].filter(({ paused }) => !paused);
    return limits.flatMap(([name, { max }]) =>
      max !== null && sending.filter(({ pool }) => pool === name).length >= max ? [name] : [],
    );
  }

  /**
   * Pools from which a scan may be divided; undefined where nothing is divided. What waits in a pool that nobody serves
   * takes no place, and what waits in one pool takes none of another.
   */
  #poolsWithPlace(): string[] | undefined {
    const pools = this.#input.shards?.presence.servedPools;
    const slots = [...this.#slots.values()];
    const taken = (pool: string) =>
      placesOf(
        slots.filter((slot) => slot.pool === pool),
        mostDivided,
      );
    return pools && [...pools].filter((pool) => taken(pool) < mostDivided);
  }

  #claim(): Promise<QueueClaim | null> {
    const running = this.#runningByTenant();
    const pools = this.#poolsWithPlace();
    const claim = this.#input.queue.claim(`server:${process.pid}`, pools, running, this.#fullPools());
    this.#underClaim = claim.catch(() => null);
    return claim;
  }

  async #fill(): Promise<void> {
    const { log } = this.#input;
    try {
      while (this.#fillAgain && this.alive) {
        this.#fillAgain = false;
        await this.#keepHolds();
        while (this.alive && this.#closure === null && this.#hasPlace) {
          const claim = await this.#claim();
          if (claim === null) break;
          this.#begin(claim);
          this.#scale.follow(this.#taken);
        }
        this.#scale.follow(this.#taken);
        this.#queueFault = false;
      }
    } catch (err) {
      // The poll tries again; until then the health answer shows that the store is not reachable.
      if (!this.#queueFault) log.error({ err }, 'the queue cannot be read; it is tried again');
      this.#queueFault = true;
    }
  }

  /** The store holds scans as long as they may not send, also those that came meanwhile. */
  async #keepHolds(): Promise<void> {
    const { jobs } = this.#input.store;
    const home = this.#input.shards?.home;
    if (this.#closure !== null) {
      this.#holding = true;
      const held = await jobs.hold(Date.now(), home);
      const more = held.filter((scanId) => !this.#held.has(scanId));
      for (const scanId of more) await this.#holdShards(scanId);
      this.#held = new Set(held);
      for (const scanId of more) this.#news.emit(scanId);
    } else if (this.#holding) {
      await jobs.unhold(Date.now(), home);
      this.#holding = false;
      const before = this.#held;
      this.#held = new Set();
      for (const scanId of before) this.#news.emit(scanId);
    }
  }

  /** Workers elsewhere may be at work for a scan that has no place here: it is not claimed while it is held. */
  async #holdShards(scanId: string): Promise<void> {
    if (!this.#slots.has(scanId)) await this.#input.shards?.line.command(scanId, 'pause');
  }

  #begin(claim: QueueClaim): void {
    const own = this.#slots.get(claim.scanId);
    if (own) {
      // The lease lapsed although the scan still runs here (the machine slept, the disk was full): it goes on.
      own.attempt = claim.attempt;
      return;
    }
    const slot: Slot = {
      ...claim,
      process: null,
      canceled: false,
      paused: false,
      asked: 0,
      share: 0,
      lost: false,
      settled: Promise.resolve(),
      stored: null,
    };
    this.#slots.set(claim.scanId, slot);
    slot.settled = this.#work(slot)
      .then(() => this.#forgetShards(claim))
      .catch((err) => this.#input.log.error({ err, scan_id: claim.scanId }, 'a scan could not be carried on'))
      .finally(() => {
        this.#slots.delete(claim.scanId);
        this.#shareRate();
        this.#news.emit(claim.scanId);
        this.#input.onScanEnd();
        if (this.alive) this.wake();
      });
  }

  async #work(slot: Slot): Promise<void> {
    const { store, queue } = this.#input;
    const [scan, request] = await Promise.all([
      store.scans.get(slot.scanId),
      store.scans.request(slot.scanId),
    ]);
    if (!scan || !request || isFinal(scan.status)) {
      await queue.complete(slot.scanId, slot.attempt);
      return;
    }
    const folder = this.#homeOf(slot).scan(slot.scanId);
    const stalled = scan.started_at === null ? 0 : await this.#prepareResume(slot, scan, folder);
    if (stalled === null) return;
    await this.#run(slot, scan, request);
    await this.#settle(slot, folder, stalled);
  }

  /** @returns resumes in a row without progress, this one included; null when the scan is over */
  async #prepareResume(slot: Slot, scan: Scan, folder: ScanFolder): Promise<number | null> {
    const { config } = this.#input;
    const record = await openRecord(folder);
    const { rows, finished } = record;
    await record.close();
    if (finished) {
      await this.#conclude(slot, folder);
      return null;
    }
    const reached = rows + (await checkpointProgress(folder));
    const mark = nextResumeMark(await readResumeMark(folder), reached);
    if (mark.stalled > config.scanner.max_resumes) {
      const tries = `${scan.progress.resumes + 1} times`;
      const message = `The process of the scan ended ${tries}, the last ${mark.stalled} without new progress.`;
      await this.#interrupt(slot, { code: 'interrupted', message });
      return null;
    }
    await writeResumeMark(folder, mark);
    return mark.stalled;
  }

  async #run(slot: Slot, scan: Scan, request: ScanRequest): Promise<void> {
    const { store, config, workspace, entryFile, log } = this.#input;
    const resumes = scan.started_at === null ? 0 : scan.progress.resumes + 1;
    // A scan that is divided begins when a worker has a shard of it.
    const waits = this.#input.shards !== null && scan.started_at === null;
    const startedAt = scan.started_at ?? new Date().toISOString();
    const known = await (waits
      ? store.scans.update(scan.scan_id, { status: 'pending' })
      : this.#storeBegin(slot, scan, startedAt, resumes));
    if (!known) {
      // It ended or was deleted a moment ago, and whoever did that has told so.
      slot.lost = true;
      await this.#input.queue.complete(scan.scan_id, slot.attempt);
      return;
    }
    // Asked after the scan has its place here: a pause that came before is seen, a later one finds the place.
    const { paused, pausedMs } = await store.jobs.pauseOf(scan.scan_id, Date.now());
    slot.paused = paused;
    slot.asked = request.rate;
    if (this.#draining || slot.canceled) return;
    const begin = {
      startedAt: scan.started_at,
      storeBegin: async (at: string) => void (await this.#storeBegin(slot, scan, at, resumes)),
      onBegin: () => this.#tellBegin(slot, request, resumes),
    };
    const input: ScanProcessInput = {
      entryFile,
      start: {
        type: 'start',
        request,
        config,
        workspaceDir: workspace.dir,
        tenant: slot.tenant,
        startedAt,
        resumes,
        paused: paused || this.#closure !== null,
        pausedMs,
        rate: 0,
        listeners: [...this.listeners],
        part: null,
        names: {},
        evaluated: null,
        leaseUntil: null,
      },
      env: { ...process.env, ...logEnvironment(config.logging) },
      graceMs: cancelGraceMs,
      onLogLine: this.#input.logOutput.lineTaker(),
      onNews: () => this.#news.emit(scan.scan_id),
      onPackets: (count) => this.#input.metrics.packetsSent(count),
      onFault: (message) =>
        log.error({ scan_id: scan.scan_id, fault: message }, 'the process of a scan reports a fault'),
    };
    slot.process = this.#launch(slot, input, begin);
    if (!waits) this.#tellBegin(slot, request, resumes);
    await slot.process.gone;
  }

  /** @returns false when the scan is over or deleted */
  async #storeBegin(
    slot: Slot,
    { scan_id, progress }: Scan,
    startedAt: string,
    resumes: number,
  ): Promise<boolean> {
    const begun = await this.#input.store.scans.update(scan_id, {
      status: 'running',
      started_at: startedAt,
      progress: { ...progress, ...standing(slot), phase: 'starting', resumes },
    });
    if (begun) this.#news.emit(scan_id);
    return begun;
  }

  #tellBegin({ scanId, process, tenant }: Slot, request: ScanRequest, resumes: number): void {
    const { log, audit } = this.#input;
    log.info({ scan_id: scanId, pid: process?.pid, resumes }, 'scan started');
    void audit.record(scanStarted(request, tenant, resumes));
    this.#shareRate();
  }

  #launch(
    slot: Slot,
    process: ScanProcessInput,
    begin: Pick<ShardedScanInput, 'startedAt' | 'storeBegin' | 'onBegin'>,
  ): RunningScan {
    const { shards, installed, store, log } = this.#input;
    if (shards === null) return new ScanProcess(process);
    const folder = this.#homeOf(slot).scan(slot.scanId);
    return new ShardedScan({
      store,
      line: shards.line,
      intakes: shards.intakes,
      folder,
      lastSteps: this.#lastSteps,
      process,
      ...begin,
      catalogue: installed.of(slot.tenant),
      onWarning: (err, message) => log.warn({ ...logReason(err), scan_id: slot.scanId }, message),
    });
  }

  async #settle(slot: Slot, folder: ScanFolder, stalled: number): Promise<void> {
    const outcome = slot.process?.outcome;
    if (slot.lost) return;
    if (outcome) return await this.#storeOutcome(slot, folder, outcome);
    if (slot.canceled) return await this.#interrupt(slot, canceledError);
    if (slot.process?.failure) return await this.#interrupt(slot, slot.process.failure);
    const { queue, log } = this.#input;
    await this.#storeFigures(slot);
    if (this.#draining) {
      await writeResumeMark(folder, { ...(await readResumeMark(folder)), orderly: true });
    } else {
      log.warn({ scan_id: slot.scanId, stalled }, 'the process of a scan died; the scan is resumed');
      await this.#backOff(slot, backoffMs * 2 ** Math.min(stalled, 6));
      if (slot.canceled) return await this.#interrupt(slot, canceledError);
    }
    await queue.release(slot.scanId, slot.attempt);
  }

  /** The record of a scan that is over has all that was found; workers that still have a shard of it let go. */
  async #forgetShards({ scanId, tenant }: Pick<QueueClaim, 'scanId' | 'tenant'>): Promise<void> {
    const { store, shards } = this.#input;
    if (!shards) return;
    const scan = await store.scans.get(scanId);
    if (scan && !isFinal(scan.status)) return;
    await store.shards.deleteOf(scanId);
    const folder = this.#homeOf({ tenant }).scan(scanId);
    if (!scan || !(await removeShards(folder))) return;
    await store.scans.setSize(scanId, await folder.sizeBytes());
  }

  /** Waits, unless the server stops or the scan is canceled meanwhile. */
  async #backOff(slot: Slot, ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (performance.now() < until && !this.#draining && !slot.canceled) await sleep(50);
  }

  /** The end of a scan and of its job are one fact: both are stored or none. */
  async #storeOutcome(slot: Slot, folder: ScanFolder, outcome: ScanOutcome): Promise<void> {
    const { store, log } = this.#input;
    const { scanId } = slot;
    // A cancel that came when the scan was just done changes nothing.
    const jobState = outcome.status === 'completed' || outcome.error?.code === 'canceled' ? 'done' : 'failed';
    const write = () =>
      store.transaction(async (inside) => {
        if (!(await inside.jobs.finish(slot, jobState, Date.now()))) return;
        await inside.scans.update(scanId, outcome);
      });
    await this.#untilStored(scanId, write);
    await removeResumeMark(folder);
    await this.#untilStored(scanId, async () => {
      await store.scans.setSize(scanId, await folder.sizeBytes());
    });
    log.info({ scan_id: scanId, status: outcome.status, error: outcome.error?.code }, 'scan ended');
    await this.#recordEnd(slot);
  }

  async #recordEnd({ scanId, tenant }: Pick<QueueClaim, 'scanId' | 'tenant'>): Promise<void> {
    const scan = await this.#input.store.scans.get(scanId);
    if (!scan) return;
    const summary = await recordSummary(this.#homeOf({ tenant }).scan(scanId)).catch(() => null);
    this.#input.metrics.scanEnded(scan, summary?.duration_seconds);
    await this.#input.audit.record(scanCompleted(scan, tenant));
  }

  /** The workspace that holds the scan's folder: that of its tenant. */
  #homeOf({ tenant }: Pick<QueueClaim, 'tenant'>): Workspace {
    return this.#input.workspace.forTenant(tenant);
  }

  /** A full disk may get room again; until then a scan that has ended keeps its place, and is not run a second time. */
  async #untilStored(scanId: string, write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (err) {
        if (this.#draining) throw err;
        if (tries === 1) {
          this.#input.log.error({ err, scan_id: scanId }, 'the end of a scan cannot be stored yet');
          if (await this.#madeRoom(err)) continue;
        }
        await sleep(storeMs);
      }
    }
  }

  /** Gives up the reserve for the end of a scan: its client is not to wait for somebody to clear the disk. */
  async #madeRoom(error: unknown): Promise<boolean> {
    if (!(error instanceof PortolanError && error.code === 'insufficient_storage')) return false;
    const { workspace, store } = this.#input;
    await workspace.giveUpReserve();
    try {
      await store.emptyLog();
    } catch {
      // The room that the reserve leaves has to do.
    }
    return true;
  }

  /** The record was finished by a process that could not tell any more. */
  async #conclude(slot: Slot, folder: ScanFolder): Promise<void> {
    const { store, queue } = this.#input;
    await concludeScan({ store, workspace: this.#homeOf(slot), config: this.#input.config }, slot.scanId);
    await queue.complete(slot.scanId, slot.attempt);
    await removeResumeMark(folder);
    await this.#recordEnd(slot);
  }

  async #interrupt(slot: Slot, error: { code: FailureCode; message: string }): Promise<void> {
    const { store, log } = this.#input;
    const workspace = this.#homeOf(slot);
    await this.#untilStored(slot.scanId, async () => {
      await interruptScan({ store, workspace, config: this.#input.config }, slot.scanId, error);
    });
    const state = error.code === 'canceled' ? 'done' : 'failed';
    await store.jobs.finish({ scanId: slot.scanId, attempt: slot.attempt }, state, Date.now());
    await removeResumeMark(workspace.scan(slot.scanId));
    log.info({ scan_id: slot.scanId, error: error.code }, 'scan ended');
    await this.#recordEnd(slot);
  }

  /** As many scans at a time as there are workers, and never so many that one would get no packet a second. */
  get #hasPlace(): boolean {
    const { max_rate } = this.#input.config.scanner;
    // Those that are divided have places in their pools.
    return this.#taken < (this.#input.shards ? max_rate : Math.min(this.#scale.most, max_rate));
  }

  /**
   * Divides `scanner.max_rate` among the scans that send. Whoever gets less is told first, so that the sum holds at
   * every moment.
   */
  #shareRate(): void {
    this.#sharing = this.#sharing
      .then(() => this.#applyShares())
      .catch((err) => this.#input.log.error({ err }, 'the rate could not be divided'));
  }

  async #applyShares(): Promise<void> {
    const running = [...this.#slots.values()].filter(({ process }) => process && !process.outcome);
    const sending = running.filter(
      ({ paused, process }) => !paused && this.#closure === null && process?.startedAt,
    );
    const asked = new Map(sending.map((slot) => [slot.scanId, slot.asked]));
    const shares = rateShares(asked, this.#input.config.scanner.max_rate);
    const shareOf = ({ scanId }: Slot) => shares.get(scanId) ?? 0;
    const apply = async (slot: Slot) => {
      slot.share = shareOf(slot);
      await slot.process?.setRate(slot.share);
    };
    await Promise.all(running.filter((slot) => shareOf(slot) < slot.share).map(apply));
    for (const slot of running) if (shareOf(slot) > slot.share) void apply(slot);
  }

  async #heartbeat(): Promise<void> {
    const { queue, log } = this.#input;
    for (const slot of this.#slots.values()) {
      try {
        const { attempt } = slot;
        if (await queue.heartbeat(slot.scanId, attempt)) continue;
        // After a lapse, a claim of this server may have taken the scan up while this was under way.
        await this.#underClaim;
        if (slot.attempt !== attempt) continue;
        if (!this.#slots.has(slot.scanId) || slot.process?.outcome) continue;
        slot.lost = true;
        slot.process?.kill();
        log.error({ scan_id: slot.scanId }, 'the lease of a scan is lost; its process was ended');
      } catch (err) {
        log.error({ err, scan_id: slot.scanId }, 'a lease could not be renewed');
      }
    }
  }

  async #storeLive(): Promise<void> {
    for (const slot of this.#slots.values()) await this.#storeFigures(slot);
  }

  async #storeFigures(slot: Slot): Promise<void> {
    const { store, log } = this.#input;
    const live = slot.process?.live;
    if (!live || live === slot.stored || slot.process?.outcome || !slot.process?.startedAt) return;
    slot.stored = live;
    await store.scans
      .update(slot.scanId, {
        ...live,
        progress: { ...live.progress, ...standing(slot) },
        status: 'running',
      })
      .catch((err: unknown) => log.warn({ err, scan_id: slot.scanId }, 'figures of a scan were not stored'));
  }

  /** Nothing runs yet: what is stored as running belongs to a process that is gone, or to a command line. */
  async #recover(): Promise<void> {
    const { store, queue, log } = this.#input;
    const reclaimed = await queue.reclaimAll();
    if (reclaimed > 0) log.info({ scans: reclaimed }, 'scans of the server before are resumed');
    for (const scanId of await store.jobs.pausedScans()) await this.#showPaused(scanId);
    for (const scan_id of await store.scans.unfinished()) {
      const tenant = await store.scans.tenantOf(scan_id);
      const workspace = this.#homeOf({ tenant });
      if (await queue.isCanceled(scan_id))
        await interruptScan({ store, workspace, config: this.#input.config }, scan_id, canceledError);
      else if (isDeadCommandLine(await store.scans.executor(scan_id), store.executor)) {
        const message = 'The command line that ran the scan ended before the scan did.';
        await interruptScan({ store, workspace, config: this.#input.config }, scan_id, {
          code: 'interrupted',
          message,
        });
      } else continue;
      await this.#recordEnd({ scanId: scan_id, tenant });
    }
    if (!this.#input.shards) return;
    for (const scanId of await store.shards.endedScans())
      await this.#forgetShards({ scanId, tenant: await store.scans.tenantOf(scanId) });
  }

  /** The figures that were stored last may be older than the pause. */
  async #showPaused(scanId: string): Promise<void> {
    const { scans } = this.#input.store;
    const scan = await scans.get(scanId);
    if (scan && !isFinal(scan.status))
      await scans.update(scanId, { progress: { ...scan.progress, ...standing({ paused: true }) } });
  }
}

function cancelSlot(slot: Slot): void {
  slot.canceled = true;
  slot.process?.cancel();
}

/**
 * Places that scans take. A paused scan gives its place to another one, but no more of them than there are places, so
 * that pausing does not let processes grow without limit.
 */
function placesOf(slots: readonly Pick<Slot, 'paused'>[], places: number): number {
  const paused = slots.filter((slot) => slot.paused).length;
  return slots.length - Math.min(paused, places);
}

/** What a pause shows of the progress. */
function standing({ paused }: Pick<Slot, 'paused'>): Partial<ScanProgress> {
  return paused ? { paused, rate: 0, eta_seconds: null } : { paused };
}
