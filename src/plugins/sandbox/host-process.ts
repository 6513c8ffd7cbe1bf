import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, extname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, isShortage } from '../../net/failure.ts';
import { encodeFrame, type Frame, FrameReader } from './frames.ts';
import { HostDeadline, processorWaitMs } from './host-deadline.ts';
import { threadCount } from './host-threads.ts';
import type { LauncherSettings } from './launcher.ts';

export interface SandboxOptions {
  /** Script that runs confined; it reads its own folder. */
  program: string;
  /** Flags of Node.js. */
  flags?: string[];
  /** Bytes that a plugin may take (`plugins.limits.memory`). */
  memory: number;
  /** Bytes of a frame from the host (`plugins.limits.output`). */
  output: number;
  /** Threads of the process (`plugins.limits.threads`). */
  threads: number;
  /** Files and folders that the plugin may read. */
  readable?: string[];
  /** Highest ABI of Landlock to use. */
  landlockAbi?: number;
  /** Start without the parts of the sandbox that this system lacks. */
  allowUnconfined?: boolean;
}

/** Why a host ended. `missing`: the kernel or Node.js lacks a part of the sandbox. */
export type SandboxCause =
  | 'missing'
  | 'signal'
  | 'exit'
  | 'memory'
  | 'threads'
  | 'deadline'
  | 'output'
  | 'closed';

export class SandboxFailure extends Error {
  readonly reason: SandboxCause;

  constructor(reason: SandboxCause, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Of the response that says that the host has started. */
const startId = 0;
/** For the launcher and the start of Node.js, milliseconds. */
const startMs = 20_000;
/** Pause where the machine has no process or memory to spare, milliseconds; doubled with each further attempt. */
const shortageMs = 250;
/** After the longest such pause, milliseconds, the host cannot start. */
const longestShortageMs = 8000;
/** Of stderr, kept to tell a lack of memory from other aborts. */
const stderrBytes = 8192;
const stderrShown = 1000;
const outOfMemory = /out of memory|allocation failed|bad_alloc|MemoryChunk/i;
const newestLandlock = 6;
/** Interval at which the threads of a host are counted, milliseconds. */
const countMs = 100;

/** Script that loads plugins. */
export const pluginHostProgram = join(import.meta.dirname, `../host/host${extname(import.meta.filename)}`);

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

interface Call {
  resolve(frame: Frame): void;
  reject(error: SandboxFailure): void;
  deadline: HostDeadline;
}

type Receive = (frame: Frame, host: HostProcess) => void;

/** One confined process. */
export class HostProcess {
  readonly #child: Child;
  readonly #calls = new Map<number, Call>();
  readonly #memory: number;
  readonly #receive: Receive;
  readonly #ended: Promise<void>;
  readonly #counting: NodeJS.Timeout;
  #last = 0;
  #stderr = '';
  #failure: SandboxFailure | null = null;
  #lacks: string[] = [];
  #drain: Promise<void> | null = null;

  private constructor(child: Child, { memory, output, threads }: SandboxOptions, receive: Receive) {
    this.#child = child;
    this.#memory = memory;
    this.#receive = receive;
    // The kernel limits threads per user only.
    this.#counting = setInterval(() => this.#countThreads(threads), countMs).unref();
    const reader = new FrameReader(output);
    child.stdout.on('data', (chunk: Buffer) => this.#read(reader, chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('latin1')).slice(-stderrBytes);
    });
    // Writing to a host that has just ended; its end says why.
    child.stdin.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      // A signal that cannot be sent.
      child.on('error', () => {});
      child.once('close', (code, signal) => this.#fail(this.#causeOf(code, signal), resolve));
    });
  }

  /**
   * @param receive gets every frame that is no response; what it throws ends the host with the cause `output`
   * @throws SandboxFailure
   */
  static async start(options: SandboxOptions, receive: Receive = rejectFrame): Promise<HostProcess> {
    const extension = extname(import.meta.filename);
    const settings: LauncherSettings = {
      program: options.program,
      flags: options.flags ?? [],
      memory: options.memory,
      readable: [...(options.readable ?? []), dirname(options.program)],
      parent: process.pid,
      landlockAbi: options.landlockAbi ?? newestLandlock,
      allowUnconfined: options.allowUnconfined ?? false,
    };
    const launcher = join(import.meta.dirname, `launcher${extension}`);
    const child = await launch(['--no-warnings', launcher, JSON.stringify(settings)]);
    const host = new HostProcess(child, options, receive);
    // Id 0 is the first frame, which the host sends unasked.
    const { message } = await host.#wait(startId, startMs);
    const { lacks } = message as { lacks?: string[] };
    host.#lacks = lacks ?? [];
    return host;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Parts of the sandbox that this system lacks, each with the reason. */
  get lacks(): readonly string[] {
    return this.#lacks;
  }

  /** Resolves when the host has taken most of what was sent to it, or has ended. */
  async drained(): Promise<void> {
    if (!this.#child.stdin.writableNeedDrain || this.#failure) return;
    this.#drain ??= new Promise((resolve) => {
      this.#child.stdin.once('drain', () => {
        this.#drain = null;
        resolve();
      });
    });
    await Promise.race([this.#drain, this.#ended]);
  }

  /** Why it has ended, or null. */
  get failure(): SandboxFailure | null {
    return this.#failure;
  }

  /** @throws SandboxFailure; a call that outlives its deadline ends the host, and with it all calls */
  call(message: object, deadlineMs: number, bytes?: Uint8Array): Promise<Frame> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#last += 1;
    const result = this.#wait(this.#last, deadlineMs);
    this.#child.stdin.write(encodeFrame({ ...message, id: this.#last }, bytes));
    return result;
  }

  /** Sends a message that has no response. */
  send(message: object, bytes?: Uint8Array): void {
    if (this.#failure) return;
    const { stdin } = this.#child;
    // One system call for all responses to what this turn of the event loop brought.
    if (stdin.writableCorked === 0) {
      stdin.cork();
      setImmediate(() => stdin.uncork());
    }
    stdin.write(encodeFrame(message, bytes));
  }

  /** Ends the host with a cause, unless it has one already; its calls fail with it. */
  end(failure: SandboxFailure): void {
    this.#failure ??= failure;
    this.#child.kill('SIGKILL');
  }

  /** Ends the host. Returns once it is gone. */
  async close(): Promise<void> {
    this.end(new SandboxFailure('closed', 'the plugin host was closed'));
    await this.#ended;
  }

  #wait(id: number, deadlineMs: number): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const late = () => this.end(new SandboxFailure('deadline', `no response within ${deadlineMs} ms`));
      // Calls have absolute deadlines: threads of a plugin could make its own process wait.
      const waitedMs = () => (id === startId ? processorWaitMs(this.pid) : 0);
      const deadline = new HostDeadline(deadlineMs, waitedMs, late);
      this.#calls.set(id, { resolve, reject, deadline });
    });
  }

  #read(reader: FrameReader, chunk: Buffer): void {
    if (this.#failure) return;
    try {
      for (const frame of reader.push(chunk)) if (!this.#failure) this.#take(frame);
    } catch (error) {
      this.end(new SandboxFailure('output', (error as Error).message));
    }
  }

  #take(frame: Frame): void {
    const { id, missing, reason } = (frame.message ?? {}) as Record<string, unknown>;
    const starting = this.#calls.has(startId);
    if (typeof missing === 'string' && starting) {
      this.end(new SandboxFailure('missing', `${missing}: ${String(reason)}`));
      return;
    }
    if (id === undefined && !starting) {
      this.#receive(frame, this);
      return;
    }
    const key = starting ? startId : id;
    const call = typeof key === 'number' ? this.#calls.get(key) : undefined;
    if (!call) throw new Error('a response without a request');
    call.deadline.stop();
    this.#calls.delete(key as number);
    call.resolve(frame);
  }

  #countThreads(limit: number): void {
    if (threadCount(this.pid) <= limit) return;
    this.end(
      new SandboxFailure(
        'threads',
        `the plugin host had more than ${limit} threads (plugins.limits.threads)`,
      ),
    );
  }

  #fail(failure: SandboxFailure, done: () => void): void {
    clearInterval(this.#counting);
    this.#failure ??= failure;
    for (const { deadline, reject } of this.#calls.values()) {
      deadline.stop();
      reject(this.#failure);
    }
    this.#calls.clear();
    done();
  }

  #causeOf(code: number | null, signal: string | null): SandboxFailure {
    // V8 aborts where it gets no memory.
    if (signal !== null && signal !== 'SIGSEGV' && outOfMemory.test(this.#stderr)) {
      const limit = Math.floor(this.#memory / 1024 ** 2);
      return new SandboxFailure(
        'memory',
        `the plugin host reached its memory limit of ${limit} MiB (${signal})`,
      );
    }
    if (signal !== null) return new SandboxFailure('signal', `the plugin host was ended by ${signal}`);
    // What it said last, such as an uncaught error.
    const said = this.#stderr.trim().slice(-stderrShown);
    return new SandboxFailure(
      'exit',
      `the plugin host exited with code ${code}${said === '' ? '' : `: ${said}`}`,
    );
  }
}

/** Waits until the machine has room for it. @throws SandboxFailure */
async function launch(args: string[]): Promise<Child> {
  for (let pauseMs = shortageMs; ; pauseMs *= 2) {
    try {
      const child = spawn(process.execPath, args, {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: compileCache(),
        cwd: '/',
      });
      // Rejects if it does not start.
      await once(child, 'spawn');
      return child;
    } catch (error) {
      if (!isShortage(errorCode(error)) || pauseMs > longestShortageMs)
        throw new SandboxFailure('exit', `cannot start: ${(error as Error).message}`);
      await sleep(pauseMs);
    }
  }
}

/** The launcher is the project's own code; the host that it becomes gets an environment without this. */
function compileCache(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

function rejectFrame(): void {
  throw new Error('a response without a request');
}
