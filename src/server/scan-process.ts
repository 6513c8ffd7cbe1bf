import { type ChildProcess, fork } from 'node:child_process';
import type { FromChild, LiveScan, ScanOutcome, ToChild } from '../actions/scan-messages.ts';

export interface ScanProcessInput {
  /** The program; it is started with the argument `scan-process`. */
  entryFile: string;
  start: Extract<ToChild, { type: 'start' }>;
  env: NodeJS.ProcessEnv;
  /** Time between a cancel and the end by force, milliseconds. */
  graceMs: number;
  onNews: () => void;
  onFault: (message: string) => void;
}

/**
 * A scan makes much short-lived garbage. With V8's defaults its heap grows to several times what is alive; with these
 * it stays flat (65,534 hosts: 115 MB instead of 225 MB resident) for about a fifth more time (bench/README.md).
 */
const smallHeapFlags = ['--max-semi-space-size=4', '--optimize-for-size'];

/** The process that runs one scan. */
export class ScanProcess {
  /** The newest report. */
  live: LiveScan | null = null;
  /** How the scan ended; null when the process died before it said so. */
  outcome: ScanOutcome | null = null;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #input: ScanProcessInput;
  #started = false;
  #canceled = false;
  #killer: NodeJS.Timeout | null = null;

  constructor(input: ScanProcessInput) {
    this.#input = input;
    this.#child = fork(input.entryFile, ['scan-process'], {
      serialization: 'json',
      execArgv: smallHeapFlags,
      env: input.env,
      // What a scan prints is log; the standard output of a server is not its place.
      stdio: ['ignore', 2, 2, 'ipc'],
    });
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
    if (this.#started) this.#send({ type: 'cancel' });
    this.#killer = setTimeout(() => this.kill(), this.#input.graceMs);
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
      case 'live':
        this.live = message.live;
        return this.#input.onNews();
      case 'sealed':
        return this.#input.onNews();
      case 'finished':
        this.outcome = message.outcome;
        return this.#endSoon();
      case 'fault':
        return this.#input.onFault(message.message);
    }
  }

  #start(): void {
    this.#started = true;
    this.#send(this.#input.start);
    if (this.#canceled) this.#send({ type: 'cancel' });
  }

  /** It has nothing more to do; a handle that somebody left open must not keep its slot. */
  #endSoon(): void {
    if (this.#killer) clearTimeout(this.#killer);
    this.#killer = setTimeout(() => this.kill(), this.#input.graceMs);
  }

  #send(message: ToChild): void {
    // A process that is gone cannot be told anything; its exit is handled where it is awaited.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}
