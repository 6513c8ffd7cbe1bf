import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { ScanRequest } from '../domain/scan.ts';
import type { ShardCommand } from '../domain/shard.ts';
import type { Listener } from '../net/local-listeners.ts';
import { machineNow } from '../net/machine-clock.ts';
import type { QueuedShard, ShardQueue } from '../queue/shard-queue.ts';
import type { ScopeRules } from '../scan-run/control.ts';
import type { ShardCommands } from '../store/shards.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { writeEarlierRows } from './earlier-rows.ts';
import { ScanProcess } from './scan-process.ts';
import type { ShardHome } from './shard-home.ts';
import type { ShardOutcome, ShardReport } from './shard-report.ts';
import { ShardUpload } from './shard-upload.ts';

/** A sign of life is given, and orders are taken, at least this often, milliseconds. */
const beatMs = 500;
/** Between two signs of life, however often there is news, milliseconds. */
const quietMs = 50;
/** A store that does not answer a sign of life by then is asked again on another connection, milliseconds. */
const longestBeatMs = 5000;
/** A home that begins just now takes rows a moment later; after so many tries it is told that it does not. */
const toldTries = 4;
/** A process that does not end after a cancel is killed. */
const cancelGraceMs = 5000;
/** The process falls silent this share of a lease before the store lets others have the shard. */
const marginShare = 0.1;
const mostMarginMs = 1000;

export interface ShardRunInput {
  shard: QueuedShard;
  request: ScanRequest;
  /** When the scan began, ISO 8601 UTC by the clock of this machine. */
  startedAt: string;
  /** Time that the scan was paused so far, milliseconds. */
  pausedMs: number;
  config: Config;
  line: ShardQueue;
  home: ShardHome;
  /** Folder of this run alone; removed at the end. */
  dir: string;
  entryFile: string;
  env: NodeJS.ProcessEnv;
  /** Where this server takes connections. */
  listeners: readonly Listener[];
  onLogLine: ((line: string) => void) | null;
  /** Called when the home grants another rate. */
  onGrant: () => void;
  onWarning: (error: unknown, message: string) => void;
}

/** How a run of a shard ended: done, given back, given up, or somebody else's. */
export type ShardEnd = 'done' | 'released' | 'abandoned' | 'lost';

/** Runs one shard: a scan process like any other, whose record and checkpoint are mirrored to the home of the scan. */
export class ShardRun {
  readonly finished: Promise<ShardEnd>;
  readonly #input: ShardRunInput;
  #process: ScanProcess | null = null;
  #mirror: ShardUpload | null = null;
  #obeyed: ShardCommand;
  /** Packets per second that the home grants, and that the process keeps to. */
  #granted = 0;
  #rateKept = 0;
  #rules: string | null = null;
  #packets = 0;
  /** The newest report that the store has. */
  #told: unknown = null;
  /** When the process has to be silent unless another sign of life gets through, see machineNow. */
  #leaseUntil: number;
  #lost = false;
  #giveBack = false;
  /** Changes of what the process does, one after another. */
  #orders: Promise<void> = Promise.resolve();
  readonly #ended = new AbortController();
  #nap = new AbortController();

  /** @param claimedAt when the shard was asked for, see machineNow */
  constructor(input: ShardRunInput, claimedAt: number) {
    this.#input = input;
    this.#obeyed = input.shard.command === 'pause' ? 'pause' : 'run';
    this.#leaseUntil = this.#leaseFrom(claimedAt);
    this.finished = this.#run();
  }

  get scanId(): string {
    return this.#input.shard.scanId;
  }

  /** Packets per second that the home grants. */
  get granted(): number {
    return this.#process?.outcome ? 0 : this.#granted;
  }

  /** Packets per second that it may send. */
  get rate(): number {
    return this.#rateKept;
  }

  /** Resolves when it keeps to a rate, packets per second. */
  async keep(rate: number): Promise<void> {
    if (this.#process) await this.#process.setRate(rate);
    this.#rateKept = rate;
    this.wake();
  }

  /** There may be orders. */
  wake(): void {
    this.#nap.abort();
  }

  /** Ends where it is; another worker goes on. */
  release(): void {
    this.#giveBack = true;
    this.#process?.detach();
  }

  /** Ends at once; nothing more is told to anybody. */
  kill(): void {
    this.#lost = true;
    this.#process?.kill();
    this.#ended.abort();
  }

  async #run(): Promise<ShardEnd> {
    const beating = this.#beat();
    try {
      return await this.#work();
    } catch (error) {
      this.#input.onWarning(error, 'a shard is given up');
      return await this.#abandon();
    } finally {
      this.#ended.abort();
      this.#process?.kill();
      await beating;
      await rm(this.#input.dir, { recursive: true, force: true });
    }
  }

  async #work(): Promise<ShardEnd> {
    const { home, onWarning } = this.#input;
    const prepared = await this.#prepare();
    if (prepared === null) return await this.#handBack();
    const process = this.#launch(prepared.rows);
    this.#process = process;
    const trouble = (error: unknown) => onWarning(error, 'the home of a scan does not take what was found');
    this.#mirror = new ShardUpload(prepared.folder, home, prepared.rows, trouble);
    if (this.#giveBack) process.detach();
    await process.gone;
    this.#rateKept = 0;
    this.#input.onGrant();
    const everything = await this.#mirror.finish(this.#ended.signal);
    if (this.#lost || this.#mirror.ended === 'lost') return 'lost';
    if (!everything) return await this.#abandon();
    return await this.#finish(process);
  }

  async #finish({ outcome, evaluated }: ScanProcess): Promise<ShardEnd> {
    const { line, shard } = this.#input;
    if (outcome === null) return await (this.#giveBack ? this.#handBack() : this.#abandon());
    // Another host may have room.
    if (outcome.error?.code === 'insufficient_storage') return await this.#abandon();
    const told: ShardOutcome = { ...outcome, packets_sent: this.#packets, evaluated };
    const tell = () => line.finish(shard, JSON.stringify(told));
    return (await this.#untilTold(tell)) ? 'done' : 'lost';
  }

  /** Nobody waits until its lease lapses. */
  async #handBack(): Promise<ShardEnd> {
    const { line, shard } = this.#input;
    return (await this.#untilTold(() => line.release(shard, shard.pool))) ? 'released' : 'lost';
  }

  /** Costs a try: what ended it here may end it elsewhere too. */
  async #abandon(): Promise<ShardEnd> {
    const { line, shard } = this.#input;
    return (await this.#untilTold(() => line.abandon(shard))) ? 'abandoned' : 'lost';
  }

  /** @returns false when the shard is somebody else's, or the store cannot be reached in time */
  async #untilTold(tell: () => Promise<boolean>): Promise<boolean> {
    while (!this.#lost) {
      try {
        return await tell();
      } catch {
        // The sign of life has said so; without the store the lease ends by itself.
        if (machineNow() > this.#leaseUntil && this.#giveBack) return false;
        await sleep(beatMs);
      }
    }
    return false;
  }

  /** Lays the folder of the scan, with what earlier attempts found. @returns null when the shard is not to be run */
  async #prepare(): Promise<{ folder: ScanFolder; rows: number } | null> {
    const { shard, dir, home, onWarning } = this.#input;
    for (let tries = 1; !this.#lost && !this.#giveBack; tries++) {
      try {
        await rm(dir, { recursive: true, force: true });
        const folder = (await openWorkspace(dir)).scan(shard.scanId);
        await folder.create(this.#request());
        return { folder, rows: await writeEarlierRows(folder, home) };
      } catch (error) {
        const code = error instanceof PortolanError ? error.code : null;
        if (code === 'conflict' || code === 'not_found' || code === 'unauthorized') this.#lost = true;
        else if (code === 'network' || code === 'unavailable') {
          if (tries === toldTries)
            onWarning(error, 'the home of a scan cannot be reached; it is tried again');
          await sleep(beatMs, undefined, { signal: this.#ended.signal }).catch(() => undefined);
        } else throw error;
      }
    }
    return null;
  }

  #request(): ScanRequest {
    const { request, shard } = this.#input;
    return { ...request, targets: shard.division.addresses, notifications: [] };
  }

  #launch(rows: number): ScanProcess {
    const { shard, config, dir, entryFile, env, listeners, onLogLine, onWarning, pausedMs } = this.#input;
    const process = new ScanProcess({
      entryFile,
      start: {
        type: 'start',
        request: this.#request(),
        config,
        workspaceDir: dir,
        tenant: null,
        startedAt: this.#input.startedAt,
        resumes: rows > 0 ? 1 : 0,
        paused: this.#obeyed === 'pause',
        pausedMs,
        rate: this.#rateKept,
        listeners: [...listeners],
        part: { shard: shard.shard, of: shard.of, hostnames: shard.division.hostnames },
        names: {},
        evaluated: null,
        leaseUntil: this.#leaseUntil,
      },
      env,
      graceMs: cancelGraceMs,
      onNews: () => undefined,
      onPackets: (count) => {
        this.#packets += count;
      },
      onFault: (message) => onWarning(new Error(message), 'the process of a shard reports a fault'),
      onLogLine,
    });
    if (this.#rules !== null) process.narrow(JSON.parse(this.#rules) as ScopeRules);
    return process;
  }

  #leaseFrom(asked: number): number {
    const { leaseMs } = this.#input.line;
    return asked + leaseMs - Math.min(mostMarginMs, leaseMs * marginShare);
  }

  /** Never depends on what the process does. */
  async #beat(): Promise<void> {
    let warned = false;
    while (!this.#ended.signal.aborted) {
      this.#nap = new AbortController();
      const nap = this.#nap.signal;
      try {
        await this.#beatOnce();
        warned = false;
      } catch (error) {
        if (!warned && !this.#ended.signal.aborted) {
          const message = 'the queue cannot be reached; the shard falls silent when its lease ends';
          this.#input.onWarning(error, message);
        }
        warned = true;
      }
      const signal = AbortSignal.any([nap, this.#ended.signal]);
      await sleep(beatMs, undefined, { signal }).catch(() => undefined);
      // However often it is woken, the store has more to do.
      if (nap.aborted) await sleep(quietMs);
    }
  }

  async #beatOnce(): Promise<void> {
    const { line, shard } = this.#input;
    const asked = machineNow();
    const live = this.#process?.live ?? null;
    const report = live !== null && live !== this.#told ? this.#reportOf(live) : undefined;
    const beat = line.beat(shard, {
      live: report && JSON.stringify(report),
      obeyed: this.#obeyed,
      rateKept: Math.ceil(this.#rateKept),
    });
    const orders = await inTime(beat, longestBeatMs);
    if (this.#ended.signal.aborted) return;
    if (orders === null) return this.kill();
    if (report) this.#told = live;
    this.#leaseUntil = this.#leaseFrom(asked);
    this.#process?.renewLease(this.#leaseUntil);
    this.#obey(orders);
  }

  #reportOf(live: Omit<ShardReport, 'packets_sent'>): ShardReport {
    return { ...live, packets_sent: this.#packets };
  }

  #obey({ command, rate, rules }: ShardCommands): void {
    if (command !== this.#obeyed) this.#enqueue(() => this.#follow(command));
    if (rules !== null && rules !== this.#rules) {
      this.#rules = rules;
      this.#process?.narrow(JSON.parse(rules) as ScopeRules);
    }
    if (rate !== this.#granted) {
      this.#granted = rate;
      this.#input.onGrant();
    }
  }

  async #follow(command: ShardCommand): Promise<void> {
    if (command === this.#obeyed || this.#obeyed === 'cancel') return;
    // What does not run yet is canceled when it does, at the next sign of life.
    if (command === 'cancel' && !this.#process) return;
    if (command === 'pause' && this.#process) await this.#process.pause();
    if (command === 'run') this.#process?.resume();
    if (command === 'cancel') this.#process?.cancel();
    // Without a process nothing was awaited: it is told at its start.
    this.#obeyed = command;
    this.wake();
  }

  #enqueue(change: () => Promise<void>): void {
    this.#orders = this.#orders
      .then(change)
      .catch((error: unknown) => this.#input.onWarning(error, 'an order did not reach a shard'));
  }
}

/** @throws PortolanError `unavailable` */
async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new PortolanError('unavailable', 'The store does not answer.');
    timer = setTimeout(() => reject(error), ms);
  });
  // What comes after the deadline is of no use any more.
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
