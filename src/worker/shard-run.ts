import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import { defaultPriority, type ScanRequest } from '../domain/scan.ts';
import type { ScanOrigin } from '../domain/scan-origin.ts';
import type { ShardCommand } from '../domain/shard.ts';
import { addTraffic, noTraffic } from '../domain/traffic.ts';
import type { Listener } from '../net/local-listeners.ts';
import { machineNow } from '../net/machine-clock.ts';
import type { PlacedPlugin } from '../plugins/plugin.ts';
import { longestTurnMs, type QueuedShard, type ShardQueue } from '../queue/shard-queue.ts';
import type { ScopeRules } from '../scan-run/control.ts';
import type { LiveScan } from '../scan-run/messages.ts';
import type { ShardCommands } from '../store/shards.ts';
import type { EndedShard } from '../telemetry/scan-spans.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { writeEarlierRows } from './earlier-rows.ts';
import { ScanProcess, type ScanProcessInput } from './scan-process.ts';
import type { ServingProcess } from './serving-process.ts';
import type { ShardOutcome, ShardReport } from './shard-report.ts';
import type { ShardResults } from './shard-results.ts';
import { ShardUpload } from './shard-upload.ts';
import type { WarmProcesses } from './warm-processes.ts';

/** Longest time between two heartbeats, which also fetch commands, milliseconds. */
const heartbeatMs = 500;
/** The lease is renewed after this fraction of it, or after `workers.heartbeat`. */
const longestRenewalFraction = 0.1;
/** Shortest time between two heartbeats, however often the worker is notified, milliseconds. */
const minHeartbeatMs = 50;
/** Timeout of a heartbeat; the next one uses another connection, milliseconds. */
const heartbeatTimeoutMs = 5000;
/** The database may just be restarting: warn only after this many attempts. */
const warnAfterAttempts = 4;
/** Grace period between cancel and SIGKILL, milliseconds. */
const cancelGraceMs = 5000;
/** The process stops sending this fraction of a lease before the lease expires in the store. */
const leaseMarginFraction = 0.1;
/** Longest such margin, milliseconds. */
const maxLeaseMarginMs = 1000;

export interface ShardRunInput {
  shard: QueuedShard;
  request: ScanRequest;
  /** Null without tenants. */
  tenant: string | null;
  /** Of the submission. */
  origin: ScanOrigin;
  /** When the scan started, ISO 8601 UTC by the clock of this machine. */
  startedAt: string;
  /** Paused time of the scan so far, milliseconds. */
  pausedMs: number;
  plugins: PlacedPlugin[];
  config: Config;
  line: ShardQueue;
  results: ShardResults;
  /** Folder of this run only; removed at the end. */
  dir: string;
  /** One of them runs the shard. */
  processes: WarmProcesses;
  /** Listeners of this server. */
  listeners: readonly Listener[];
  /** Called when the owner assigns another rate. */
  onGrant: () => void;
  onWarning: (error: unknown, message: string) => void;
}

/** How a run of a shard ended: done, returned to the queue, abandoned, or lease lost. */
export type ShardEnd = 'done' | 'released' | 'abandoned' | 'lost';

/** Runs one shard: a scan process like any other, whose record and checkpoint are stored for the server that completes it. */
export class ShardRun {
  readonly finished: Promise<ShardEnd>;
  readonly #input: ShardRunInput;
  #process: ScanProcess | null = null;
  /** Runs the shard and other scans before and after; null = the shard has a process of its own. */
  #shared: ServingProcess | null = null;
  #upload: ShardUpload | null = null;
  #applied: ShardCommand;
  /** Packets per second that the owner assigns. */
  #assignedRate = 0;
  #rate = 0;
  /** Epoch milliseconds. */
  readonly #startedAt = Date.now();
  #endedAt: number | null = null;
  #rules: string | null = null;
  #traffic = noTraffic();
  /** Last report written to the store. */
  #storedReport: unknown = null;
  /** When the process must stop sending unless the lease is renewed, see machineNow. */
  #leaseUntil: number;
  /** See machineNow. */
  #renewFrom: number;
  readonly #claimedAt: number;
  #lost = false;
  /** Whether a heartbeat was acknowledged. */
  #isSeen = false;
  #releasing = false;
  #afterOthers = false;
  /** Commands to the process, applied one after another. */
  #commands: Promise<void> = Promise.resolve();
  readonly #ended = new AbortController();
  #nap = new AbortController();

  /** @param claimedAt when the claim was sent, see machineNow */
  constructor(input: ShardRunInput, claimedAt: number) {
    this.#input = input;
    this.#applied = input.shard.command === 'pause' ? 'pause' : 'run';
    this.#leaseUntil = this.#leaseFrom(claimedAt);
    this.#renewFrom = claimedAt + this.#renewalMs;
    this.#claimedAt = claimedAt;
    this.finished = this.#run();
  }

  get scanId(): string {
    return this.#input.shard.scanId;
  }

  get isSmall(): boolean {
    return this.#input.shard.isSmall;
  }

  /** Packets per second that the owner assigns. */
  get granted(): number {
    return this.#process?.outcome ? 0 : this.#assignedRate;
  }

  /** Current rate limit of the process, packets per second. */
  get rate(): number {
    return this.#rate;
  }

  /** Resolves when the process has applied the rate, packets per second. */
  async keep(rate: number): Promise<void> {
    if (this.#process) await this.#process.setRate(rate);
    this.#rate = rate;
    this.wake();
  }

  /** Fetches commands now. */
  wake(): void {
    this.#nap.abort();
  }

  /** This run in the trace of the scan. */
  traceOf(end: ShardEnd): EndedShard {
    const { shard, attempt } = this.#input.shard;
    const { outcome, live } = this.#process ?? { outcome: null, live: null };
    return {
      shard,
      attempt,
      startedAt: this.#startedAt,
      endedAt: this.#endedAt ?? Date.now(),
      end,
      errorCode: outcome?.error?.code ?? null,
      stages: (outcome ?? live)?.stages ?? [],
    };
  }

  /**
   * Stops at the last checkpoint; another worker resumes the shard.
   * @param afterOthers whether shards that wait have their turn before
   */
  release(afterOthers = false): void {
    this.#releasing = true;
    this.#afterOthers = afterOthers;
    this.#process?.detach();
  }

  /** Stops at once, without reporting to the store. */
  kill(): void {
    this.#lost = true;
    this.#process?.kill();
    this.#ended.abort();
  }

  async #run(): Promise<ShardEnd> {
    const heartbeats = this.#heartbeatLoop();
    try {
      return await this.#work();
    } catch (error) {
      this.#input.onWarning(error, 'shard abandoned');
      return await this.#abandon();
    } finally {
      this.#ended.abort();
      this.#process?.kill();
      this.#input.processes.giveBack(this.#shared);
      await heartbeats;
      await rm(this.#input.dir, { recursive: true, force: true });
    }
  }

  async #work(): Promise<ShardEnd> {
    const { results, onWarning } = this.#input;
    const prepared = await this.#prepare();
    if (prepared === null) return await this.#release();
    const { processes, tenant, request } = this.#input;
    this.#shared = await processes.takeFor(tenant, request, this.isSmall);
    if (this.#lost) return 'lost';
    const process = this.#launch(prepared.rows);
    this.#process = process;
    this.#upload = new ShardUpload({
      folder: prepared.folder,
      results,
      sent: prepared.rows,
      onTrouble: (error) => onWarning(error, 'storing shard results failed'),
    });
    if (this.#releasing) process.detach();
    await process.gone;
    this.#rate = 0;
    this.#input.onGrant();
    const everything = await this.#upload.finish(this.#ended.signal);
    if (this.#lost || this.#upload.lost) return 'lost';
    if (!everything) return await this.#abandon();
    return await this.#finish(process);
  }

  async #finish({ outcome, evaluated }: ScanProcess): Promise<ShardEnd> {
    const { line, shard } = this.#input;
    if (outcome === null) return await (this.#releasing ? this.#release() : this.#abandon());
    // Another host may have free disk space.
    if (outcome.error?.code === 'insufficient_storage') return await this.#abandon();
    // The owner continues once it has the outcome.
    this.#endedAt = Date.now();
    const told: ShardOutcome = { ...outcome, ...this.#counters, evaluated };
    const tell = () => line.finish(shard, JSON.stringify(told));
    return (await this.#untilAcknowledged(tell)) ? 'done' : 'lost';
  }

  /** Returns the shard to the queue at once, instead of leaving it until the lease expires. */
  async #release(): Promise<ShardEnd> {
    const { line, shard, request } = this.#input;
    const priority = this.#afterOthers ? (request.priority ?? defaultPriority) : undefined;
    return (await this.#untilAcknowledged(() => line.release(shard, priority))) ? 'released' : 'lost';
  }

  /** Counts as an attempt: the same cause may end it on another worker too. */
  async #abandon(): Promise<ShardEnd> {
    const { line, shard } = this.#input;
    return (await this.#untilAcknowledged(() => line.abandon(shard))) ? 'abandoned' : 'lost';
  }

  /** @returns false when the lease is lost, or the store cannot be reached in time */
  async #untilAcknowledged(tell: () => Promise<boolean>): Promise<boolean> {
    while (!this.#lost) {
      try {
        return await tell();
      } catch {
        // The heartbeat has logged it; without the store the lease expires by itself.
        if (machineNow() > this.#leaseUntil && this.#releasing) return false;
        await sleep(heartbeatMs);
      }
    }
    return false;
  }

  /** Creates the folder of the scan with the rows of earlier attempts. @returns null if the shard must not run */
  async #prepare(): Promise<{ folder: ScanFolder; rows: number } | null> {
    const { shard, dir, results, onWarning } = this.#input;
    for (let tries = 1; !this.#lost && !this.#releasing; tries++) {
      try {
        await rm(dir, { recursive: true, force: true });
        const folder = (await openWorkspace(dir)).scan(shard.scanId);
        await folder.create(this.#request());
        return { folder, rows: await writeEarlierRows(folder, results, shard.rows) };
      } catch (error) {
        const code = error instanceof PortolanError ? error.code : null;
        if (code !== 'unavailable') throw error;
        if (tries === warnAfterAttempts)
          onWarning(error, 'earlier results of the shard unreachable, retrying');
        await sleep(heartbeatMs, undefined, { signal: this.#ended.signal }).catch(() => undefined);
      }
    }
    return null;
  }

  #request(): ScanRequest {
    const { request, shard } = this.#input;
    return { ...request, targets: shard.plan.addresses, notifications: [] };
  }

  #launch(rows: number): ScanProcess {
    const { shard, config, dir, processes, listeners, onWarning, pausedMs, plugins } = this.#input;
    const input: ScanProcessInput = {
      ...processes.settings,
      start: {
        type: 'start',
        request: this.#request(),
        config,
        workspaceDir: dir,
        tenant: null,
        requestId: this.#input.origin.requestId,
        startedAt: this.#input.startedAt,
        resumes: rows > 0 ? 1 : 0,
        rateHistory: null,
        pausedMs,
        listeners: [...listeners],
        plugins,
        part: { shard: shard.shard, of: shard.of, hostnames: shard.plan.hostnames },
        names: {},
        evaluated: null,
      },
      graceMs: cancelGraceMs,
      isSmall: shard.isSmall,
      onNews: () => undefined,
      onTraffic: (traffic) => {
        this.#traffic = addTraffic(this.#traffic, traffic);
      },
      onFault: (message) => onWarning(new Error(message), 'scan process reported a fault'),
      onHang: (seconds) =>
        onWarning(new Error(`silent for ${seconds} s`), 'scan process sends no heartbeat, killed'),
    };
    const process = new ScanProcess(input, this.#shared);
    process.renewLease(this.#leaseUntil);
    void process.setRate(this.#rate);
    if (this.#applied === 'pause') void process.pause();
    if (this.#rules !== null) process.narrow(JSON.parse(this.#rules) as ScopeRules);
    return process;
  }

  #leaseFrom(asked: number): number {
    const { leaseMs } = this.#input.shard;
    return asked + leaseMs - Math.min(maxLeaseMarginMs, leaseMs * leaseMarginFraction);
  }

  /** Runs independently of the process. */
  async #heartbeatLoop(): Promise<void> {
    let warned = false;
    while (!this.#ended.signal.aborted) {
      this.#nap = new AbortController();
      const nap = this.#nap.signal;
      const sentAt = performance.now();
      try {
        await this.#sendHeartbeat();
        warned = false;
      } catch (error) {
        if (!warned && !this.#ended.signal.aborted) {
          const message = 'heartbeat failed, retrying; the shard stops sending when its lease expires';
          this.#input.onWarning(error, message);
        }
        warned = true;
      }
      const signal = AbortSignal.any([nap, this.#ended.signal]);
      await sleep(heartbeatMs, undefined, { signal }).catch(() => undefined);
      // Limits the load on the store, however often this is woken.
      if (nap.aborted) await sleep(Math.max(0, minHeartbeatMs - (performance.now() - sentAt)));
    }
  }

  async #sendHeartbeat(): Promise<void> {
    const { line, shard } = this.#input;
    const asked = machineNow();
    const live = this.#process?.live ?? null;
    const report = live !== null && live !== this.#storedReport ? this.#reportOf(live) : undefined;
    const beat = {
      live: report && JSON.stringify(report),
      appliedCommand: this.#applied,
      appliedRate: Math.ceil(this.#rate),
    };
    const isRenewed = this.#isSeen && asked >= this.#renewFrom;
    const response = this.#isSeen ? line.beat(shard, beat, isRenewed) : line.firstHeartbeat(shard, beat);
    const orders = await inTime(response, heartbeatTimeoutMs);
    if (this.#ended.signal.aborted) return;
    if (orders === null) return this.kill();
    this.#isSeen = true;
    if (report) this.#storedReport = live;
    if (isRenewed) this.#extendLease(asked);
    this.#apply(orders);
    // The queue keeps no claim for ever.
    if (asked - this.#claimedAt > longestTurnMs && !this.#releasing) this.release();
  }

  /** @param asked when the renewal was sent, see machineNow */
  #extendLease(asked: number): void {
    this.#leaseUntil = this.#leaseFrom(asked);
    this.#renewFrom = asked + this.#renewalMs;
    this.#process?.renewLease(this.#leaseUntil);
  }

  get #renewalMs(): number {
    const { shard, config } = this.#input;
    return Math.min(config.workers.heartbeat, shard.leaseMs * longestRenewalFraction);
  }

  #reportOf(live: LiveScan): ShardReport {
    return { ...live, ...this.#counters };
  }

  get #counters(): Pick<ShardReport, 'packets_sent' | 'traffic'> {
    return { packets_sent: this.#traffic.sent, traffic: this.#traffic };
  }

  #apply({ command, rate, rules, givesBack }: ShardCommands): void {
    if (givesBack && !this.#releasing) this.release(true);
    if (command !== this.#applied) this.#enqueue(() => this.#applyCommand(command));
    if (rules !== null && rules !== this.#rules) {
      this.#rules = rules;
      this.#process?.narrow(JSON.parse(rules) as ScopeRules);
    }
    if (rate !== this.#assignedRate) {
      this.#assignedRate = rate;
      this.#input.onGrant();
    }
  }

  async #applyCommand(command: ShardCommand): Promise<void> {
    if (command === this.#applied || this.#applied === 'cancel') return;
    // A process that does not run yet is canceled at the next heartbeat.
    if (command === 'cancel' && !this.#process) return;
    if (command === 'pause' && this.#process) await this.#process.pause();
    if (command === 'run') this.#process?.resume();
    if (command === 'cancel') this.#process?.cancel();
    // Without a process there is nothing to await: it gets the command at its start.
    this.#applied = command;
    this.wake();
  }

  #enqueue(change: () => Promise<void>): void {
    this.#commands = this.#commands
      .then(change)
      .catch((error: unknown) => this.#input.onWarning(error, 'applying a command to a shard failed'));
  }
}

/** @throws PortolanError `unavailable` */
async function inTime<T>(response: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new PortolanError('unavailable', 'The store does not respond.');
    timer = setTimeout(() => reject(error), ms);
  });
  // A response after the deadline is ignored.
  response.catch(() => undefined);
  try {
    return await Promise.race([response, late]);
  } finally {
    clearTimeout(timer);
  }
}
