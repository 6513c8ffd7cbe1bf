import { type ChildProcess, fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { scanLogFields } from '../domain/scan-origin.ts';
import type { EvaluationData } from '../domain/shard.ts';
import { addTraffic, noTraffic, type Traffic, trafficGrowth } from '../domain/traffic.ts';
import { machineNow } from '../net/machine-clock.ts';
import type { ScopeRules } from '../scan-run/control.ts';
import {
  type FromChild,
  type LiveScan,
  logFieldsVariable,
  type ProcessCommand,
  type ScanOutcome,
  type ToChild,
} from '../scan-run/messages.ts';
import type { RunningScan } from './running-scan.ts';

export interface ScanProcessInput {
  /** Entry file, started with the argument `scan-process`. */
  entryFile: string;
  start: Omit<Extract<ToChild, { type: 'start' }>, 'begunAt' | 'commands'>;
  env: NodeJS.ProcessEnv;
  /** Grace period between cancel and SIGKILL, milliseconds. */
  graceMs: number;
  onNews: () => void;
  /** Called with what the process sent and received since the last call. */
  onTraffic: (traffic: Traffic) => void;
  onFault: (message: string) => void;
  /** Receives each log line of the process; null lets it write to the standard error of this process. */
  onLogLine: ((line: string) => void) | null;
}

/**
 * A scan produces much short-lived garbage. With V8's defaults its heap grows to several times the live data; with
 * these it stays flat (65,534 hosts: 115 MB instead of 225 MB resident) for about a fifth more time (bench/README.md).
 */
const smallHeapFlags = ['--max-semi-space-size=4', '--optimize-for-size'];

/** Timeout of the acknowledgement of a command. A process too busy to read it is too busy to send packets. */
const ackMs = 900;

/** A process that does not even respond to a cancel is killed after this long. */
const deafMs = 1500;

/** The process that runs one scan. */
export class ScanProcess implements RunningScan {
  readonly startedAt: string;
  /** The newest report. */
  live: LiveScan | null = null;
  /** How the scan ended; null when the process died without reporting it. */
  outcome: ScanOutcome | null = null;
  /** Rules and data versions that evaluated a shard; null until it ends. */
  evaluated: EvaluationData | null = null;
  readonly failure = null;
  /** Resolves when the process has exited. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #input: ScanProcessInput;
  readonly #begunAt = machineNow();
  #started = false;
  #traffic = noTraffic();
  #canceled = false;
  #killer: NodeJS.Timeout | null = null;
  /** Commands from before the start. */
  readonly #early: ProcessCommand[] = [];
  /** Callers waiting for an acknowledgement, in order of their commands. */
  readonly #waiting: (() => void)[] = [];

  constructor(input: ScanProcessInput) {
    this.#input = input;
    this.startedAt = input.start.startedAt;
    this.#child = fork(input.entryFile, ['scan-process'], {
      serialization: 'json',
      execArgv: smallHeapFlags,
      env: { ...input.env, ...logFieldsOf(input.start) },
      // Output of a scan is log and must not go to the standard output of a server.
      stdio: input.onLogLine ? ['ignore', 2, 'pipe', 'ipc'] : ['ignore', 2, 2, 'ipc'],
    });
    yieldToServer(this.#child.pid);
    if (this.#child.stderr && input.onLogLine) passLines(this.#child.stderr, input.onLogLine);
    this.gone = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', (error) => {
        input.onFault(error.message);
        if (this.#child.pid === undefined) resolve();
      });
    });
    this.gone.then(() => this.#killer && clearTimeout(this.#killer));
    this.#child.on('message', (message) => this.#take(message as FromChild));
  }

  get pid(): number | undefined {
    return this.#child.pid;
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
    await this.#command({ type: 'pause' });
  }

  resume(): void {
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
    if (this.#child.connected) this.#child.disconnect();
    this.#child.kill('SIGTERM');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #take(message: FromChild): void {
    switch (message.type) {
      case 'ready':
        return this.#start();
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
        return this.#endSoon();
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
    this.#send({ ...this.#input.start, begunAt: this.#begunAt, commands: this.#early });
  }

  /** The process is done; an open handle must not keep its slot occupied. */
  #endSoon(): void {
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
    this.#send(command);
    const applied = await Promise.race([acknowledged, late, this.gone.then(() => true)]);
    clearTimeout(timer);
    return applied;
  }

  #send(message: ToChild): void {
    // A process that has exited gets no messages; its exit is handled where it is awaited.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

/** What the process writes into each of its log lines: it has some to write before its scan arrives. */
function logFieldsOf({ request, requestId, part }: ScanProcessInput['start']): NodeJS.ProcessEnv {
  const fields = { ...scanLogFields(request.scan_id, requestId), ...(part && { shard: part.shard }) };
  return { [logFieldsVariable]: JSON.stringify(fields) };
}

/** Longer log lines are split. */
const longestLogLine = 64 * 1024;

/** Calls `take` for every line of a stream; a scan process may be killed in the middle of one. */
function passLines(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) for (const piece of cut(line)) take(piece);
    for (; rest.length > longestLogLine; rest = rest.slice(longestLogLine))
      take(rest.slice(0, longestLogLine));
  });
  stream.on('end', () => {
    if (rest !== '') take(rest);
  });
  stream.on('error', () => undefined);
}

function* cut(line: string): Generator<string> {
  for (let at = 0; at === 0 || at < line.length; at += longestLogLine)
    yield line.slice(at, at + longestLogLine);
}

/** Lower priority: a scan takes all the processor time that it gets, and people wait for the server only. */
function yieldToServer(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has exited, which is handled elsewhere, or the system denies it; then all keep the same priority.
  }
}
