import { type ChildProcess, fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import type { EvaluationData } from '../domain/shard.ts';
import { machineNow } from '../net/machine-clock.ts';
import type { ScopeRules } from '../scan-run/control.ts';
import type { FromChild, LiveScan, ScanOutcome, ToChild } from '../scan-run/messages.ts';
import type { RunningScan } from './running-scan.ts';

export interface ScanProcessInput {
  /** The program; it is started with the argument `scan-process`. */
  entryFile: string;
  start: Omit<Extract<ToChild, { type: 'start' }>, 'begunAt'>;
  env: NodeJS.ProcessEnv;
  /** Time between a cancel and the end by force, milliseconds. */
  graceMs: number;
  onNews: () => void;
  /** Called with the packets that were sent since the last call. */
  onPackets: (count: number) => void;
  onFault: (message: string) => void;
  /** Takes each line that the process writes to its log; null lets it write to this process's standard error. */
  onLogLine: ((line: string) => void) | null;
}

/**
 * A scan makes much short-lived garbage. With V8's defaults its heap grows to several times what is alive; with these
 * it stays flat (65,534 hosts: 115 MB instead of 225 MB resident) for about a fifth more time (bench/README.md).
 */
const smallHeapFlags = ['--max-semi-space-size=4', '--optimize-for-size'];

/** An answer to a message is waited for this long. A process that is too busy to read it is too busy to send packets. */
const obeyMs = 900;

/** A process that does not even answer a cancel is killed after this long. */
const deafMs = 1500;

/** The process that runs one scan. */
export class ScanProcess implements RunningScan {
  readonly startedAt: string;
  /** The newest report. */
  live: LiveScan | null = null;
  /** How the scan ended; null when the process died before it said so. */
  outcome: ScanOutcome | null = null;
  /** What a shard was evaluated with; null before it is over. */
  evaluated: EvaluationData | null = null;
  readonly failure = null;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #input: ScanProcessInput;
  readonly #begunAt = machineNow();
  #started = false;
  #packetsSent = 0;
  #canceled = false;
  #killer: NodeJS.Timeout | null = null;
  /** Came before it was started, and hold beside its configuration: that of a worker is not that of the home. */
  readonly #earlyRules: ScopeRules[] = [];
  /** Who waits for an answer, in the order of asking. */
  readonly #asked: (() => void)[] = [];

  constructor(input: ScanProcessInput) {
    this.#input = input;
    this.startedAt = input.start.startedAt;
    this.#child = fork(input.entryFile, ['scan-process'], {
      serialization: 'json',
      execArgv: smallHeapFlags,
      env: input.env,
      // What a scan prints is log; the standard output of a server is not its place.
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

  /** Asks the scan to end and to keep what it has; a process that does not is killed. */
  cancel(): void {
    if (this.#canceled) return;
    this.#canceled = true;
    if (this.#started) this.#sendCancel();
    this.#killer = setTimeout(() => this.kill(), this.#input.graceMs);
  }

  /** Resolves when it sends no packet any more. */
  async pause(): Promise<void> {
    this.#input.start.paused = true;
    if (this.#started) await this.#ask({ type: 'pause' });
  }

  resume(): void {
    this.#input.start.paused = false;
    if (this.#started) this.#send({ type: 'resume' });
  }

  /** Resolves when it keeps to a rate, packets per second. */
  async setRate(rate: number): Promise<void> {
    this.#input.start.rate = rate;
    if (this.#started) await this.#ask({ type: 'rate', rate });
  }

  /** The process may go on until then, see `start.leaseUntil`. */
  renewLease(until: number): void {
    this.#input.start.leaseUntil = until;
    if (this.#started) this.#send({ type: 'lease', until });
  }

  /** From now on only what these rules permit too may be touched. */
  narrow(rules: ScopeRules): void {
    if (this.#started) this.#send({ type: 'scope', rules });
    else this.#earlyRules.push(rules);
  }

  /** Lets the process end where it is; its scan is taken up again later. */
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

  /** A count that does not grow is none: modules run in the process, and the figures of the server are its own. */
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

  /** It has nothing more to do; a handle that somebody left open must not keep its slot. */
  #endSoon(): void {
    if (this.#killer) clearTimeout(this.#killer);
    this.#killer = setTimeout(() => this.kill(), this.#input.graceMs);
  }

  #sendCancel(): void {
    void this.#ask({ type: 'cancel' }, deafMs).then((obeyed) => obeyed || this.kill());
  }

  /** @returns false when no answer came in time; the end of the process is one */
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
    // A process that is gone cannot be told anything; its exit is handled where it is awaited.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

/** Longer lines of a log are cut into several. */
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

/** A sweep takes all the processor time that it gets; people who look at it wait for the server only. */
function yieldToServer(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process is gone already, which is seen elsewhere, or the system does not let us; then all are alike.
  }
}
