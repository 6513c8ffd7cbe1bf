import type { EvaluationData } from '../domain/shard.ts';
import { addTraffic, noTraffic, type Traffic, trafficGrowth } from '../domain/traffic.ts';
import { PauseGate } from '../net/gate/pause-gate.ts';
import { machineNow } from '../net/machine-clock.ts';
import type { ScopeRules } from '../scan-run/control.ts';
import { longestTimerMs, type ScanFailure, timeLimit, timeoutFailure } from '../scan-run/finalize/failure.ts';
import {
  type LiveScan,
  logFieldsOf,
  logFieldsVariable,
  type ProcessCommand,
  type ScanMessage,
  type ScanOutcome,
  type ScanStart,
} from '../scan-run/messages.ts';
import { cpuTicks } from '../workspace/process-identity.ts';
import { HeartbeatWatch } from './heartbeat-watch.ts';
import type { RunningScan } from './running-scan.ts';
import { ServingProcess, type ServingProcessInput } from './serving-process.ts';

export interface ScanProcessInput extends ServingProcessInput {
  start: Omit<ScanStart, 'begunAt' | 'commands' | 'reuse'>;
  /** Grace period between cancel and SIGKILL, milliseconds. */
  graceMs: number;
  /** Of at most `maxSmallAddresses`. */
  isSmall: boolean;
  onNews: () => void;
  /** Called with what the process sent and received since the last call. */
  onTraffic: (traffic: Traffic) => void;
  onFault: (message: string) => void;
  /** Called before the process is killed because it sent no heartbeat for so many seconds. */
  onHang: (seconds: number) => void;
}

/** Timeout of the acknowledgement of a command. A process too busy to read it is too busy to send packets. */
const ackMs = 900;

/** A process that does not even respond to a cancel is killed after this long. */
const deafMs = 1500;

/**
 * A scan ends itself at its time limit, and then finishes its record and reports. A process that does not get that far is killed this
 * long after the limit, milliseconds.
 */
const limitMarginMs = 300_000;

/** A scan in a process: one of its own, or one that runs other scans before and after. */
export class ScanProcess implements RunningScan {
  readonly startedAt: string;
  /** The newest report. */
  live: LiveScan | null = null;
  /** How the scan ended; null when the process died without reporting it. */
  outcome: ScanOutcome | null = null;
  /** Rules and data versions that evaluated a shard; null until it ends. */
  evaluated: EvaluationData | null = null;
  failure: ScanFailure | null = null;
  /** Resolves when the scan has stopped: a process of its own has exited, another one runs on. */
  readonly gone: Promise<void>;
  readonly #process: ServingProcess;
  readonly #isShared: boolean;
  readonly #run: number;
  readonly #over = Promise.withResolvers<void>();
  readonly #input: ScanProcessInput;
  readonly #begunAt = machineNow();
  readonly #watch: HeartbeatWatch;
  /** Closed while the scan is paused. */
  readonly #hold = new PauseGate();
  #stopLimit: () => void = () => undefined;
  #started = false;
  #ended = false;
  #traffic = noTraffic();
  #canceled = false;
  #killer: NodeJS.Timeout | null = null;
  /** Commands from before the start. */
  readonly #early: ProcessCommand[] = [];
  /** Callers waiting for an acknowledgement, in order of their commands. */
  readonly #waiting: (() => void)[] = [];

  /** @param shared runs it; null = a process of its own, which ends with it */
  constructor(input: ScanProcessInput, shared: ServingProcess | null = null) {
    this.#input = input;
    this.startedAt = input.start.startedAt;
    this.#isShared = shared !== null;
    this.#process =
      shared ?? new ServingProcess({ ...input, env: { ...input.env, ...logFields(input.start) } });
    this.gone = Promise.race([this.#process.gone, this.#over.promise]);
    this.#watch = new HeartbeatWatch(
      () => cpuTicks(this.pid ?? 0),
      (seconds) => {
        input.onHang(seconds);
        this.kill();
      },
    );
    this.gone.then(() => {
      this.#ended = true;
      this.#watch.end();
      this.#stopLimit();
      if (this.#killer) clearTimeout(this.#killer);
    });
    this.#run = this.#process.begin(
      {
        onReady: () => this.#start(),
        onMessage: (message) => this.#take(message),
        onFault: input.onFault,
      },
      input.isSmall,
    );
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get hangs(): boolean {
    return this.#watch.hangs;
  }

  /** Ends the scan gracefully, results so far are saved; a process that does not respond is killed. */
  cancel(): void {
    if (this.#canceled) return;
    this.#canceled = true;
    void this.#command({ type: 'cancel' }, deafMs).then((applied) => applied || this.kill());
    this.#killer = setTimeout(() => this.kill(), this.#input.graceMs);
  }

  /** Resolves when the scan has stopped sending packets. */
  async pause(): Promise<void> {
    this.#hold.hold();
    await this.#command({ type: 'pause' });
  }

  resume(): void {
    this.#hold.release();
    void this.#command({ type: 'resume' });
  }

  /** Resolves when the scan has applied the rate, packets per second. */
  async setRate(rate: number): Promise<void> {
    await this.#command({ type: 'rate', rate });
  }

  /** The process may keep sending until then, `machineNow()`. */
  renewLease(until: number): void {
    void this.#command({ type: 'lease', until });
  }

  /** Narrows the scope: from now on targets must also be permitted by these rules. */
  narrow(rules: ScopeRules): void {
    void this.#command({ type: 'scope', rules });
  }

  /** Stops the process at its last checkpoint; the scan is resumed later. */
  detach(): void {
    if (!this.#ended) this.#process.stop();
  }

  kill(): void {
    if (!this.#ended) this.#process.kill();
  }

  #take(message: ScanMessage): void {
    this.#watch.heard();
    switch (message.type) {
      case 'heartbeat':
        return;
      case 'ack':
        this.#waiting.shift()?.();
        return;
      case 'live':
        this.live = message.live;
        return this.#input.onNews();
      case 'sealed':
        return this.#input.onNews();
      case 'evaluated':
        this.evaluated = message.data;
        return;
      case 'traffic':
        return this.#countTraffic(message.traffic);
      case 'finished':
        this.outcome = message.outcome;
        return this.#end();
      case 'failed':
        this.failure = message.failure;
        return this.kill();
      case 'fault':
        return this.#input.onFault(message.message);
    }
  }

  /** Ignores counts that do not grow: modules in that process must not tamper with the counters of the server. */
  #countTraffic(reported: unknown): void {
    const growth = trafficGrowth(reported, this.#traffic);
    this.#traffic = addTraffic(this.#traffic, growth);
    this.#input.onTraffic(growth);
  }

  #start(): void {
    this.#started = true;
    const { start } = this.#input;
    this.#keepLimit(timeLimit(start.request.options, start.config.engine.global_timeout));
    this.#process.send({
      ...start,
      reuse: this.#isShared,
      begunAt: this.#begunAt,
      commands: this.#early,
      run: this.#run,
    });
  }

  /** Earlier runs are not counted: the process itself knows their time. */
  #keepLimit(limitMs: number): void {
    const left = limitMs + limitMarginMs;
    if (left > longestTimerMs) return;
    this.#stopLimit = this.#hold.after(left, () => {
      this.failure = timeoutFailure(limitMs);
      this.kill();
    });
  }

  #end(): void {
    if (this.#isShared) {
      this.#ended = true;
      return this.#over.resolve();
    }
    // The process is done; an open handle must not keep its slot occupied.
    if (this.#killer) clearTimeout(this.#killer);
    this.#killer = setTimeout(() => this.kill(), this.#input.graceMs);
  }

  /**
   * The one way of all commands. One from before the start takes effect with it.
   * @returns false without an acknowledgement in time; the exit of the process counts as one
   */
  async #command(command: ProcessCommand, timeoutMs = ackMs): Promise<boolean> {
    if (!this.#started) {
      this.#early.push(command);
      return true;
    }
    let timer: NodeJS.Timeout | undefined;
    const acknowledged = new Promise<boolean>((resolve) => this.#waiting.push(() => resolve(true)));
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), timeoutMs);
    });
    this.#process.send({ ...command, run: this.#run });
    const applied = await Promise.race([acknowledged, late, this.gone.then(() => true)]);
    clearTimeout(timer);
    return applied;
  }
}

/** It has log lines to write before its scan arrives. */
function logFields(start: ScanProcessInput['start']): NodeJS.ProcessEnv {
  return { [logFieldsVariable]: JSON.stringify(logFieldsOf(start)) };
}
