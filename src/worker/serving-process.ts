import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import type { FromChild, ProcessState, ScanMessage, ToChild } from '../scan-run/messages.ts';

export interface ServingProcessInput {
  /** Entry file, started with the argument `scan-process`. */
  entryFile: string;
  env: NodeJS.ProcessEnv;
  /** Receives each log line of the process; null lets it write to the standard error of this process. */
  onLogLine: ((line: string) => void) | null;
}

/** Who follows the scan that a process runs. */
export interface ScanListener {
  onReady(): void;
  onMessage(message: ScanMessage): void;
  onFault(message: string): void;
}

/**
 * A scan produces much short-lived garbage. With V8's defaults its heap grows to several times the live data; with
 * these it stays flat (65,534 hosts: 115 MB instead of 225 MB resident) for about a fifth more time (bench/README.md).
 */
const smallHeapFlags = ['--max-semi-space-size=4', '--min-semi-space-size=4', '--optimize-for-size'];

/**
 * Lower priorities than that of the server: a scan takes all the processor time that it gets. People wait for a small one; it
 * gets three times that of a large one, and so does a process that starts.
 */
const nice = { small: 5, large: 10 } as const;

/** A process that runs scans, one after another. */
export class ServingProcess {
  /** Resolves when the process has exited. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  #listener: ScanListener | null = null;
  #ready = false;
  #run = 0;
  #idle = Promise.withResolvers<ProcessState>();

  constructor(input: ServingProcessInput) {
    this.#child = fork(input.entryFile, ['scan-process'], {
      serialization: 'json',
      execArgv: smallHeapFlags,
      env: input.env,
      // Output of a scan is log and must not go to the standard output of a server.
      stdio: input.onLogLine ? ['ignore', 2, 'pipe', 'ipc'] : ['ignore', 2, 2, 'ipc'],
    });
    setNice(this.#child.pid, nice.small);
    if (this.#child.stderr && input.onLogLine) passLines(this.#child.stderr, input.onLogLine);
    this.gone = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', (error) => {
        this.#listener?.onFault(error.message);
        if (this.#child.pid === undefined) resolve();
      });
    });
    this.#child.on('message', (message) => this.#take(message as FromChild));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Number of scans that were started in it. */
  get scans(): number {
    return this.#run;
  }

  /** Whether it can run a scan. */
  get alive(): boolean {
    return this.#child.connected;
  }

  /**
   * Begins the next scan.
   * @param isSmall whether it runs before large ones that are short of processor time, too
   * @returns its number, for messages to it
   */
  begin(listener: ScanListener, isSmall: boolean): number {
    setNice(this.#child.pid, isSmall ? nice.small : nice.large);
    this.#listener = listener;
    this.#idle = Promise.withResolvers();
    this.#run += 1;
    // Later, as when the process is new: commands from before the start take effect with it.
    if (this.#ready) queueMicrotask(() => listener.onReady());
    return this.#run;
  }

  /** Resolves when the process has left its scan behind; never when it ends with it. */
  get idle(): Promise<ProcessState> {
    return this.#idle.promise;
  }

  send(message: ToChild): void {
    // A process that has exited gets no messages; its exit is handled where it is awaited.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Stops the process where it is. */
  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
    this.#child.kill('SIGTERM');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #take(message: FromChild): void {
    if (message.type === 'ready') {
      this.#ready = true;
      return this.#listener?.onReady();
    }
    if (message.run !== this.#run) return;
    if (message.type !== 'idle') return this.#listener?.onMessage(message);
    this.#listener = null;
    this.#idle.resolve(message.state);
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

function setNice(pid: number | undefined, value: number): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, value);
  } catch {
    // The process has exited, which is handled elsewhere, or the system denies it: only root raises a priority again.
  }
}
