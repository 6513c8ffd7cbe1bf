import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, loopbackOnly, root } from '../program.ts';

/** Looks at a worker that starts, each 50 ms after the one before: a minute, for a machine that does much else. */
const maxTries = 1200;

/** A worker of this program in a process of its own. */
export class WorkerProcess {
  readonly workspace = mkdtempSync(join(tmpdir(), 'portolan-worker-'));
  readonly #program: string;
  readonly #args: string[];
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;
  #log = '';

  /** @param program path of another one than that of this checkout */
  constructor(args: string[], env: NodeJS.ProcessEnv = {}, program = join(root, 'bin/portolan')) {
    this.#program = program;
    this.#args = args;
    this.#env = env;
  }

  /** What it wrote to its standard error. */
  get log(): string {
    return this.#log;
  }

  get ended(): boolean {
    return this.#child !== null && (this.#child.exitCode !== null || this.#child.signalCode !== null);
  }

  get pid(): number {
    if (!this.#child?.pid) throw new Error('the worker is not running');
    return this.#child.pid;
  }

  /** Processes that run its shards, and those that wait for one. */
  shards(): number[] {
    return childrenOf(this.pid);
  }

  /** Resolves when it is ready to take shards. */
  async start(): Promise<this> {
    const args = ['worker', 'start', '--workspace-dir', this.workspace, ...this.#args];
    const child = spawn(this.#program, args, {
      env: { ...process.env, ...loopbackOnly, XDG_CONFIG_HOME: this.workspace, ...this.#env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-64 * 1024);
    });
    this.#child = child;
    for (let tries = 0; !this.#log.includes('worker started'); tries++) {
      if (tries === maxTries) throw new Error(`the worker did not start:\n${this.#log}`);
      if (child.exitCode !== null) throw new Error(`the worker ended with ${child.exitCode}:\n${this.#log}`);
      await sleep(50);
    }
    return this;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Ends it and waits for its end. @returns its exit code */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    child.kill(signal);
    return await ended;
  }

  async dispose(): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) this.signal('SIGCONT');
    await this.stop('SIGKILL');
    rmSync(this.workspace, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
