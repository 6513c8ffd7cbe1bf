import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { errorCode, isShortage } from '../net/failure.ts';
import { HostDeadline, processorWaitMs } from '../plugins/sandbox/host-deadline.ts';
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

/** Pause where the machine has no process or memory to spare, milliseconds; doubled with each further attempt. */
const shortageMs = 250;
/** The longest such pause, milliseconds. */
const longestShortageMs = 10_000;
/** For the start, milliseconds: Node.js that gets fewer threads than it needs waits for them without end. */
const startMs = 20_000;

/** A process that runs scans, one after another. It starts once the machine has room for it. */
export class ServingProcess {
  readonly #input: ServingProcessInput;
  /** Null: it waits for its start, or cannot start. */
  #child: ChildProcess | null = null;
  #retry: NodeJS.Timeout | null = null;
  #deadline: HostDeadline | null = null;
  #nice: number = nice.small;
  readonly #exit = Promise.withResolvers<void>();
  #ended = false;
  #listener: ScanListener | null = null;
  #ready = false;
  #run = 0;
  #idle = Promise.withResolvers<ProcessState>();

  constructor(input: ServingProcessInput) {
    this.#input = input;
    this.#launch(shortageMs);
  }

  /** Resolves when the process has exited, or will not start. */
  get gone(): Promise<void> {
    return this.#exit.promise;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Number of scans that were started in it. */
  get scans(): number {
    return this.#run;
  }

  /** Whether it can run a scan. */
  get alive(): boolean {
    return this.#child?.connected ?? !this.#ended;
  }

  /**
   * Begins the next scan.
   * @param isSmall whether it runs before large ones that are short of processor time, too
   * @returns its number, for messages to it
   */
  begin(listener: ScanListener, isSmall: boolean): number {
    this.#nice = isSmall ? nice.small : nice.large;
    setNice(this.pid, this.#nice);
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
    if (this.#child?.connected) this.#child.send(message, () => undefined);
  }

  /** Stops the process where it is. */
  stop(): void {
    if (this.#child === null) return this.#end();
    if (this.#child.connected) this.#child.disconnect();
    this.#child.kill('SIGTERM');
  }

  kill(): void {
    if (this.#child === null) return this.#end();
    this.#child.kill('SIGKILL');
  }

  #launch(pauseMs: number): void {
    try {
      const child = forkScans(this.#input);
      child.on('error', (error) => {
        if (child.pid === undefined) this.#failed(error.message, isShortage(errorCode(error)), pauseMs);
        else this.#listener?.onFault(error.message);
      });
      const { pid } = child;
      if (pid === undefined) return;
      this.#child = child;
      setNice(pid, this.#nice);
      const waitedMs = () => processorWaitMs(pid);
      this.#deadline = new HostDeadline(startMs, waitedMs, () => this.#replace(child, pauseMs));
      child.once('exit', () => this.#child === child && this.#end());
      child.on('message', (message) => this.#take(message as FromChild));
    } catch (error) {
      // Some errors are thrown, such as ENOMEM; whoever listens does so after the constructor.
      const { message } = error as Error;
      process.nextTick(() => this.#failed(message, isShortage(errorCode(error)), pauseMs));
    }
  }

  #replace(child: ChildProcess, pauseMs: number): void {
    this.#child = null;
    child.kill('SIGKILL');
    this.#failed(`the process did not start within ${startMs} ms`, true, pauseMs);
  }

  #failed(message: string, isTemporary: boolean, pauseMs: number): void {
    if (this.#ended) return;
    this.#listener?.onFault(isTemporary ? `${message}, retrying in ${pauseMs} ms` : message);
    if (!isTemporary) return this.#end();
    const next = Math.min(2 * pauseMs, longestShortageMs);
    this.#retry = setTimeout(() => this.#launch(next), pauseMs);
  }

  #end(): void {
    this.#ended = true;
    if (this.#retry) clearTimeout(this.#retry);
    this.#deadline?.stop();
    this.#exit.resolve();
  }

  #take(message: FromChild): void {
    if (message.type === 'ready') {
      this.#ready = true;
      this.#deadline?.stop();
      return this.#listener?.onReady();
    }
    if (message.run !== this.#run) return;
    if (message.type !== 'idle') return this.#listener?.onMessage(message);
    this.#listener = null;
    this.#idle.resolve(message.state);
  }
}

/** @throws Error of the system */
function forkScans({ entryFile, env, onLogLine }: ServingProcessInput): ChildProcess {
  const child = fork(entryFile, ['scan-process'], {
    serialization: 'json',
    execArgv: smallHeapFlags,
    env,
    // Output of a scan is log and must not go to the standard output of a server.
    stdio: onLogLine ? ['ignore', 2, 'pipe', 'ipc'] : ['ignore', 2, 2, 'ipc'],
  });
  if (child.stderr && onLogLine) passLines(child.stderr, onLogLine);
  return child;
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
