import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { browserObstacle, windowedFile } from '../test/browser/chromium.ts';

/** Where the pages hold the token of their tab. */
const tokenKey = 'portolan.token';
/** Longest wait for the browser or a page on a busy machine, milliseconds. */
const longestWaitMs = 120_000;
const lookMs = 100;

interface Message {
  id?: number;
  result?: unknown;
  error?: { message: string };
}

/** The protocol of the debugger, over one connection for all tabs. */
class Debugger {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as Message;
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    };
    socket.onclose = () => {
      for (const done of this.#waiting.values()) done({ error: { message: 'the browser has ended' } });
    };
  }

  static async connect(url: string): Promise<Debugger> {
    const socket = new WebSocket(url);
    await once(socket, 'open');
    return new Debugger(socket);
  }

  async send<T>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    const id = ++this.#last;
    const { result, error } = await new Promise<Message>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }));
    });
    this.#waiting.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result as T;
  }
}

interface ProcessInfo {
  type: string;
  id: number;
  /** Seconds. */
  cpuTime: number;
}

/** Of Linux: `idle` gets the processor time that others leave. */
export type SchedulerPolicy = 'other' | 'idle';

/**
 * One Chromium with one profile, as a reader has it: one tab is in front, the others are hidden. (Playwright keeps every
 * tab visible and focused.)
 */
export class BenchBrowser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #debugger: Debugger;
  readonly #token: string;

  private constructor(child: ChildProcess, profile: string, connected: Debugger, token: string) {
    this.#child = child;
    this.#profile = profile;
    this.#debugger = connected;
    this.#token = token;
  }

  /**
   * @param token every tab has it, as if its reader had signed in
   * @param policy Chromium sets the niceness of its processes anew, so only a policy of the scheduler holds for them
   */
  static async launch(token: string, policy: SchedulerPolicy = 'other'): Promise<BenchBrowser> {
    const obstacle = browserObstacle();
    if (obstacle !== null) throw new Error(obstacle);
    const profile = mkdtempSync(join(tmpdir(), 'portolan-browser-'));
    // Its own sandbox cannot be built by root.
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const look = ['--headless', '--disable-gpu', '--window-size=1280,900'];
    const quiet = ['--no-first-run', '--disable-background-networking', '--disable-component-update'];
    const own = ['--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'];
    const args = [`--${policy}`, '0', windowedFile, ...look, ...sandbox, ...quiet, ...own];
    const child = spawn('chrt', args, { stdio: 'ignore' });
    try {
      const connected = await Debugger.connect(await debuggerUrl(child, profile));
      return new BenchBrowser(child, profile, connected, token);
    } catch (error) {
      await end(child, profile);
      throw error;
    }
  }

  /** A new tab in front of the others. */
  async open(url: string): Promise<Tab> {
    const { targetId } = await this.#debugger.send<{ targetId: string }>('Target.createTarget', {
      url: 'about:blank',
    });
    const { sessionId } = await this.#debugger.send<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    });
    const send = <T>(method: string, params?: object) => this.#debugger.send<T>(method, params, sessionId);
    const tab = new Tab(send, () => this.#debugger.send('Target.activateTarget', { targetId }));
    await tab.begin(giveToken(this.#token), url);
    return tab;
  }

  /** Processor time of all processes of the browser so far, seconds. */
  async processorSeconds(): Promise<number> {
    const { processInfo } = await this.#debugger.send<{ processInfo: ProcessInfo[] }>(
      'SystemInfo.getProcessInfo',
    );
    return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  }

  async close(): Promise<void> {
    await end(this.#child, this.#profile);
  }
}

type Send = <T>(method: string, params?: object) => Promise<T>;

/** Seconds. */
export interface Tasks {
  /** Processor time of the main thread so far. */
  busy: number;
  at: number;
}

/** A tab of the browser. */
export class Tab {
  readonly #send: Send;
  readonly #activate: () => Promise<unknown>;

  constructor(send: Send, activate: () => Promise<unknown>) {
    this.#send = send;
    this.#activate = activate;
  }

  async begin(script: string, url: string): Promise<void> {
    await this.#send('Page.enable');
    await this.#send('Page.addScriptToEvaluateOnNewDocument', { source: script });
    // Processor time: beside other work a task that waits for a processor is not at work.
    await this.#send('Performance.enable', { timeDomain: 'threadTicks' });
    await this.#send('Page.navigate', { url });
  }

  /** Puts it in front of the others. */
  async show(): Promise<void> {
    await this.#activate();
  }

  /** The value of an expression. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result } = await this.#send<{ result: { value: T } }>('Runtime.evaluate', {
      expression,
      returnByValue: true,
    });
    return result.value;
  }

  /** Waits until there is an element. @throws Error */
  async untilShown(selector: string): Promise<void> {
    const giveUpAt = performance.now() + longestWaitMs;
    while (!(await this.evaluate(`document.querySelector(${JSON.stringify(selector)}) !== null`))) {
      if (performance.now() > giveUpAt) throw new Error(`the page does not show ${selector}`);
      await sleep(lookMs);
    }
  }

  async tasks(): Promise<Tasks> {
    const { metrics } = await this.#send<{ metrics: { name: string; value: number }[] }>(
      'Performance.getMetrics',
    );
    const busy = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
    return { busy, at: performance.now() / 1000 };
  }
}

function giveToken(token: string): string {
  return `sessionStorage.setItem(${JSON.stringify(tokenKey)}, ${JSON.stringify(token)})`;
}

/** The browser writes it into its profile. */
async function debuggerUrl(child: ChildProcess, profile: string): Promise<string> {
  const file = join(profile, 'DevToolsActivePort');
  const giveUpAt = performance.now() + longestWaitMs;
  while (performance.now() < giveUpAt) {
    if (child.exitCode !== null) throw new Error(`the browser ended with ${child.exitCode}`);
    const [port, path] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    if (port && path) return `ws://127.0.0.1:${port}${path}`;
    await sleep(lookMs);
  }
  throw new Error('the browser does not start');
}

async function end(child: ChildProcess, profile: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
