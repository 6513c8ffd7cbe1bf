import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const root = resolve(import.meta.dirname, '..');
const launcher = join(root, 'bin/portolan');
/** What the program starts with when it runs from its sources, as commands in the process of a test do. */
export const sourceEntry = join(root, 'src/main.ts');

/** Keeps the scans of a test on this machine. The environment is stronger than files: undefined leaves it to them. */
export const loopbackOnly = { SERVICE_SCANNER__SCOPE__ALLOW: '127.0.0.0/8,::1/128' };

/** Looks at a server that starts, each 50 ms after the one before: two minutes, for a machine that does much else. */
const maxTries = 2400;
/** A scan that takes longer hangs, also beside much other work, milliseconds. */
const longestScanMs = 240_000;

/** What a test asks a server, wherever it runs. */
export class ServerClient {
  url = '';

  async request(
    path: string,
    init: RequestInit = {},
  ): Promise<{ status: number; body: unknown; headers: Headers }> {
    const response = await fetch(`${this.url}${path}`, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
  }

  /** Submits a scan; resolves once it is acknowledged. */
  async submit(submission: Record<string, unknown>): Promise<string> {
    const { status, body } = await this.request('/api/v1/scans', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(submission),
    });
    if (status !== 201) throw new Error(`not acknowledged: ${status} ${JSON.stringify(body)}`);
    return (body as { data: { scan_id: string } }).data.scan_id;
  }

  async detail(scanId: string): Promise<ScanDetail> {
    const { status, body } = await this.request(`/api/v1/scans/${scanId}`);
    if (status !== 200) throw new Error(`${scanId}: ${status} ${JSON.stringify(body)}`);
    return (body as { data: ScanDetail }).data;
  }

  async waitForEnd(scanId: string): Promise<ScanDetail> {
    const giveUpAt = performance.now() + longestScanMs;
    for (let looks = 1; ; looks++) {
      const detail = await this.detail(scanId);
      if (detail.status === 'completed' || detail.status === 'failed') return detail;
      if (performance.now() > giveUpAt)
        throw new Error(`${scanId} is still ${detail.status}: ${JSON.stringify(detail)}`);
      // Also within the usual rate limit of 100 requests a minute, where a busy machine scans for minutes.
      await sleep(looks < 30 ? 100 : 1000);
    }
  }
}

/** A server of this program in a process of its own, on a free port of loopback. */
export class ServerProcess extends ServerClient {
  readonly workspace: string;
  readonly #args: string[];
  #program: string;
  #env: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;
  #log = '';

  /** @param options `program`: path of another one than that of this checkout */
  constructor(options: { args?: string[]; env?: NodeJS.ProcessEnv; program?: string } = {}) {
    super();
    this.workspace = mkdtempSync(join(tmpdir(), 'portolan-test-'));
    this.#args = options.args ?? [];
    this.#program = options.program ?? launcher;
    this.#env = options.env ?? {};
  }

  /** The environment of the next start, in place of the one before. */
  set env(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Path of the program of the next start. */
  set program(program: string) {
    this.#program = program;
  }

  get pid(): number {
    if (!this.#child?.pid) throw new Error('the server is not running');
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What the server wrote to its standard error. */
  get log(): string {
    return this.#log;
  }

  /** Starts the server and waits until it serves. */
  async start(): Promise<void> {
    // A test that failed may have left it running; its next attempt begins anew.
    if (this.#child !== null) await this.stop('SIGKILL');
    const args = ['server', 'start', '--workspace-dir', this.workspace, '--bind', '127.0.0.1:0'];
    const child = spawn(this.#program, [...args, ...this.#args], {
      env: { ...process.env, ...loopbackOnly, XDG_CONFIG_HOME: this.workspace, ...this.#env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-64 * 1024);
    });
    this.#child = child;
    await this.#waitUntilServing(child);
  }

  async #waitUntilServing(child: ChildProcess): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) {
      const ended = child.exitCode ?? child.signalCode;
      if (ended !== null) throw new Error(`the server ended with ${ended}:\n${this.#log}`);
      const url = this.#urlFromLock(child.pid as number);
      // Behind a certificate that nobody knows, the lock has to do: it names the place once the server serves.
      if (url && (url.startsWith('https:') || (await answers(`${url}/readyz`)))) {
        this.url = url;
        return;
      }
      await sleep(50);
    }
    throw new Error(`the server did not begin to serve:\n${this.#log}`);
  }

  #urlFromLock(pid: number): string | null {
    try {
      const lock = JSON.parse(readFileSync(join(this.workspace, 'workspace.lock'), 'utf8')) as {
        pid: number;
        url: string;
      };
      return lock.pid === pid && !lock.url.endsWith(':0') ? lock.url : null;
    } catch {
      return null;
    }
  }

  /** Ends the server in the given way and waits for its end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolveEnd) => child.once('exit', (code) => resolveEnd(code)));
    child.kill(signal);
    const code = await ended;
    this.#child = null;
    return code;
  }

  /** Ids of the processes that run a scan for this server, and of those that wait for one. */
  scanProcesses(): number[] {
    return childrenOf(this.pid);
  }

  async dispose(): Promise<void> {
    await this.stop('SIGKILL');
    rmSync(this.workspace, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

export interface ScanDetail {
  scan_id: string;
  status: string;
  error: { code: string; message: string } | null;
  results: { live_hosts: number; open_ports: number; vulnerabilities: number };
  progress: { percent: number; phase: string; paused: boolean; resumes: number; rate: number };
  warnings: { code: string; message: string }[];
  stages: { instance_id: string; status: string; error: string | null }[];
}

/** Ids of the direct children of a process. */
export function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resident memory of a process and all its descendants, bytes. */
export function residentBytes(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + residentBytes(child), ownBytes(pid));
}

/** Resident memory of a process alone, bytes: a server starts a process for the next scan when it gets to it. */
export function ownBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
