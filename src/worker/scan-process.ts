import { type ChildProcess, fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import type { EvaluationData } from '../domain/shard.ts';
import { machineNow } from '../net/machine-clock.ts';
import type { ScopeRules } from '../scan-run/control.ts';
import type { FromChild, LiveScan, ScanOutcome, ToChild } from '../scan-run/messages.ts';
import type { RunningScan } from './running-scan.ts';

export interface ScanProcessInput {
  /** Entry file, started with the argument `scan-process`. */
  entryFile: string;
  start: Omit<Extract<ToChild, { type: 'start' }>, 'begunAt'>;
  env: NodeJS.ProcessEnv;
  /** Grace period between cancel and SIGKILL, milliseconds. */
  graceMs: number;
  onNews: () => void;
  /** Called with the number of packets sent since the last call. */
  onPackets: (count: number) => void;
  onFault: (message: string) => void;
  /** Receives each log line of the process; null lets it write to the standard error of this process. */
  onLogLine: ((line: string) => void) | null;
}

/**
 * A scan produces much short-lived garbage. With V8's defaults its heap grows to several times the live data; with
 * these it stays flat (65,534 hosts: 115 MB instead of 225 MB resident) for about a fifth more time (bench/README.md).
 */
const smallHeapFlags = ['--max-semi-space-size=4', '--optimize-for-size'];

/** Timeout of a response to a message. A process too busy to read it is too busy to send packets. */
const obeyMs = 900;

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
  #packetsSent = 0;
  #canceled = false;
  #killer: NodeJS.Timeout | null = null;
  /** Rules received before the start, in addition to its configuration, which is the worker's and not the owner's. */
  readonly #earlyRules: ScopeRules[] = [];
  /** Callers waiting for a response, in order of their messages. */
  readonly #asked: (() => void)[] = [];

  constructor(input: ScanProcessInput) {
    this.#input = input;
    this.startedAt = input.start.startedAt;
    this.#child = fork(input.entryFile, ['scan-process'], {
      serialization: 'json',
      execArgv: smallHeapFlags,
      env: input.env,
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
    if (this.#started) this.#sendCancel();
    this.#killer = setTimeout(() => this.kill(), this.#input.graceMs);
  }

  /** Resolves when the scan has stopped sending packets. */
  async pause(): Promise<void> {
    this.#input.start.paused = true;
    if (this.#started) await this.#ask({ type: 'pause' });
  }

  resume(): void {
    this.#input.start.paused = false;
    if (this.#started) this.#send({ type: 'resume' });
  }

  /** Resolves when the scan has applied the rate, packets per second. */
  async setRate(rate: number): Promise<void> {
    this.#input.start.rate = rate;
    if (this.#started) await this.#ask({ type: 'rate', rate });
  }

  /** The process may keep sending until then, see `start.leaseUntil`. */
  renewLease(until: number): void {
    this.#input.start.leaseUntil = until;
    if (this.#started) this.#send({ type: 'lease', until });
  }

  /** Narrows the scope: from now on targets must also be permitted by these rules. */
  narrow(rules: ScopeRules): void {
    if (this.#started) this.#send({ type: 'scope', rules });
    else this.#earlyRules.push(rules);
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
      case 'obeyed':
        this.#asked.shift()?.();
        return;
      case 'live':
        this.live = message.live;
        return this.#input.onNews();
      case 'sealed':
        return this.#input.onNews();
      case 'evaluated':
        this.evaluated = message.data;
        return;
      case 'packets':
        return this.#countPackets(message.sent);
      case 'finished':
        this.outcome = message.outcome;
        return this.#endSoon();
      case 'fault':
        return this.#input.onFault(message.message);
    }
  }

  /** Ignores counts that do not grow: modules in that process must not tamper with the counters of the server. */
  #countPackets(sent: number): void {
    if (!Number.isSafeInteger(sent) || sent <= this.#packetsSent) return;
    this.#input.onPackets(sent - this.#packetsSent);
    this.#packetsSent = sent;
  }

  #start(): void {
    this.#started = true;
    this.#send({ ...this.#input.start, begunAt: this.#begunAt });
    for (const rules of this.#earlyRules) this.#send({ type: 'scope', rules });
    if (this.#canceled) this.#sendCancel();
  }

  /** The process is done; an open handle must not keep its slot occupied. */
  #endSoon(): void {
    if (this.#killer) clearTimeout(this.#killer);
    this.#killer = setTimeout(() => this.kill(), this.#input.graceMs);
  }

  #sendCancel(): void {
    void this.#ask({ type: 'cancel' }, deafMs).then((obeyed) => obeyed || this.kill());
  }

  /** @returns false without a response in time; the exit of the process counts as one */
  async #ask(message: ToChild, patienceMs = obeyMs): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const answered = new Promise<boolean>((resolve) => this.#asked.push(() => resolve(true)));
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), patienceMs);
    });
    this.#send(message);
    const obeyed = await Promise.race([answered, late, this.gone.then(() => true)]);
    clearTimeout(timer);
    return obeyed;
  }

  #send(message: ToChild): void {
    // A process that has exited gets no messages; its exit is handled where it is awaited.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
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
