import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { onAbort } from '../../abort.ts';
import type { AdaptiveRate } from '../../adaptive/rate.ts';
import type { PacketRateLimiter } from '../../gate/rate.ts';
import type { ChunkState } from '../engine/chunk.ts';
import { CreditFeed } from '../engine/credit-feed.ts';
import { startThread } from '../engine/thread.ts';
import { errnoName, loadSys, nonblockCloexec } from '../linux/sys.ts';
import { ConnectChunk, type ConnectPlan, lateFlag, verdict } from './connect-chunk.ts';
import {
  type ConnectThreadStart,
  connectControlWords,
  connectControl as control,
  type FromConnector,
  type ToConnector,
} from './connect-control.ts';
import { ConnectRegulator } from './connect-regulator.ts';

/** More threads gain nothing: most of the cost of a connection is in the kernel. */
const maxThreads = 2;
/** Minimum capacity of one thread, attempts per second; a further one takes some 25 MB. */
const oneThreadRate = 25_000;
/** Start timeout of the threads, milliseconds. */
const startMs = 10_000;
/** Stop timeout of the threads, milliseconds. */
const endMs = 1000;
/** Report interval of the state of each chunk, milliseconds. */
const stateMs = 400;
/** Interval of the attempt counters, milliseconds. */
const countMs = 100;

export interface ConnectRun {
  plan: Omit<ConnectPlan, 'id'>;
  signal: AbortSignal;
  /** Open endpoints: host index x ports + port index. */
  onOpen(endpoint: number, thenReset: boolean): void;
  /** Progress; every open endpoint in it was reported before. */
  onState(state: ChunkState): void;
  /** A host, by index, responded slowly. */
  onSlow(host: number): void;
}

/** Callbacks of the engine that concern no particular chunk. */
export interface ConnectListener {
  /** Attempts since the last call. */
  onSent(count: number): void;
  /** SYNs repeated by the kernel. */
  onRepeated(count: number): void;
  /** Endpoints that could not be tried, by reason (errno name). */
  onTrouble(reason: string, count: number): void;
}

interface Running extends ConnectRun {
  chunk: ConnectChunk;
  /** Threads that have not finished it. */
  threads: number;
  /** Its leading ports have been probed. */
  isPastHead: boolean;
  resolve(state: ChunkState): void;
  reject(error: Error): void;
}

interface Thread {
  worker: Worker;
  waker: number;
}

/**
 * Connection attempts by threads of this process: chunks go in, open endpoints and counts come out. Never exceeds the
 * rate.
 */
export class ConnectEngine {
  readonly #credits: CreditFeed;
  readonly #listener: ConnectListener;
  readonly #words = new Int32Array(new SharedArrayBuffer(4 * connectControlWords));
  readonly #threads: Thread[] = [];
  readonly #running = new Map<number, Running>();
  readonly #ended = new AbortController();
  readonly #one = Buffer.from(BigUint64Array.of(1n).buffer);
  /** Of a rate that adapts. */
  #regulator: ConnectRegulator | null = null;
  #reported = { sent: 0, repeated: 0 };
  #timers: NodeJS.Timeout[] = [];
  #failure: string | null = null;
  #nextId = 1;

  private constructor(rate: PacketRateLimiter, listener: ConnectListener) {
    this.#credits = new CreditFeed(rate, this.#ended.signal);
    this.#listener = listener;
  }

  /**
   * @param rate every attempt takes a token of it
   * @throws Error if such connections are not possible here
   */
  static async start(rate: PacketRateLimiter, listener: ConnectListener): Promise<ConnectEngine> {
    if (process.platform !== 'linux') throw new Error(`epoll does not exist on ${process.platform}`);
    const engine = new ConnectEngine(rate, listener);
    const wanted = rate.ceiling <= oneThreadRate ? 1 : Math.min(maxThreads, availableParallelism());
    const starts = await Promise.allSettled(Array.from({ length: wanted }, () => engine.#startThread()));
    // One thread suffices if there are no file handles for another.
    if (engine.#threads.length === 0) {
      await engine.close();
      throw starts.find((start) => start.status === 'rejected')?.reason;
    }
    engine.#ref(false);
    return engine;
  }

  /** Sets the rate by the responses. */
  adaptTo(rate: AdaptiveRate): void {
    this.#regulator = new ConnectRegulator(this.#words, rate);
  }

  /** Maximum number of open sockets. */
  set most(count: number) {
    Atomics.store(this.#words, control.most, count);
  }

  /** While paused nothing is sent; attempts in progress end before the kernel repeats them. */
  hold(held: boolean): void {
    Atomics.store(this.#words, control.held, held ? 1 : 0);
    if (held) Atomics.exchange(this.#words, control.credits, 0);
    this.#wake();
  }

  /**
   * Sweeps a chunk to its end, or until the signal aborts. The outcome rejects if the engine itself fails. `drop`
   * stops sending to hosts, by index.
   */
  run(run: ConnectRun): { outcome: Promise<ChunkState>; drop: (hosts: number[]) => void } {
    const chunk = new ConnectChunk({ ...run.plan, id: this.#nextId++ });
    const drop = (hosts: number[]) => {
      for (const host of hosts) chunk.walk.drop(host);
      this.#wake();
    };
    if (this.#failure !== null) return { outcome: Promise.reject(new Error(this.#failure)), drop };
    const outcome = new Promise<ChunkState>((resolve, reject) => {
      const stop = () => {
        chunk.walk.stop();
        this.#wake();
      };
      const forget = onAbort(run.signal, stop);
      const settle = (then: () => void) => {
        forget();
        this.#running.delete(chunk.plan.id);
        if (this.#running.size === 0) this.#rest();
        else this.#regulator?.restart();
        then();
      };
      this.#running.set(chunk.plan.id, {
        ...run,
        chunk,
        threads: this.#threads.length,
        isPastHead: chunk.walk.isPastHead,
        resolve: (state) => settle(() => resolve(state)),
        reject: (error) => settle(() => reject(error)),
      });
      this.#begin();
      this.#regulator?.restart();
      if (run.signal.aborted) stop();
      for (const { worker } of this.#threads)
        worker.postMessage({ type: 'chunk', share: chunk.share } satisfies ToConnector);
      this.#wake();
    });
    return { outcome, drop };
  }

  /** Stops the threads; running chunks fail. */
  async close(): Promise<void> {
    this.#broken('the connect threads were closed');
    Atomics.store(this.#words, control.stop, 1);
    this.#wake();
    const threads = this.#threads.splice(0);
    await Promise.all(threads.map((thread) => endThread(thread)));
  }

  async #startThread(): Promise<void> {
    const sys = loadSys();
    const waker = sys.eventfd(0, nonblockCloexec);
    if (waker < 0) throw new Error(`eventfd: ${errnoName(sys.errno())}`);
    const workerData: ConnectThreadStart = { control: this.#words.buffer as SharedArrayBuffer, waker };
    const worker = startThread('connect/connect', workerData);
    try {
      await firstMessage(worker);
    } catch (error) {
      await endThread({ worker, waker });
      throw error;
    }
    worker.on('message', (message: FromConnector) => this.#take(message));
    worker.once('error', ({ message }) => this.#broken(`a connect thread failed: ${message}`));
    worker.once('exit', () => this.#broken('a connect thread exited'));
    this.#threads.push({ worker, waker });
  }

  #take(message: FromConnector): void {
    switch (message.type) {
      case 'ready':
        return;
      case 'hungry':
        return void this.#feed();
      case 'settled':
        return this.#settle(message);
      case 'slow': {
        const run = this.#running.get(message.id);
        for (const host of message.hosts) run?.onSlow(host);
        return;
      }
      case 'trouble':
        return this.#listener.onTrouble(message.reason, message.count);
      case 'done': {
        const run = this.#running.get(message.id);
        if (!run || --run.threads > 0) return;
        this.#count();
        run.resolve(run.chunk.state());
      }
    }
  }

  #settle({ id, endpoints, verdicts, rejections }: Extract<FromConnector, { type: 'settled' }>): void {
    const run = this.#running.get(id);
    if (!run) return;
    if (!run.isPastHead && run.chunk.walk.isPastHead) {
      run.isPastHead = true;
      this.#regulator?.leaveHead();
    }
    for (const [at, endpoint] of endpoints.entries()) {
      const reported = verdicts[at] as number;
      const outcome = reported & ~lateFlag;
      const isLate = (reported & lateFlag) !== 0;
      if (isLate) this.#regulator?.noteLate();
      const isFirst = run.chunk.settle(endpoint, outcome, isLate);
      const rejection = rejections.get(endpoint);
      if (isFirst && rejection) run.chunk.rejections.note(endpoint, rejection);
      if (isFirst && outcome <= verdict.openThenReset) run.onOpen(endpoint, outcome !== verdict.open);
    }
  }

  /** Grants as many attempts as the rate allows for some milliseconds. */
  async #feed(): Promise<void> {
    const { count, lowWater } = await this.#credits.next();
    // Paused in between: credits granted before are void.
    const isHeld = Atomics.load(this.#words, control.held) === 1;
    Atomics.store(this.#words, control.lowWater, lowWater);
    if (!isHeld) Atomics.add(this.#words, control.credits, count);
    Atomics.store(this.#words, control.hungry, 0);
    this.#wake();
  }

  #wake(): void {
    Atomics.add(this.#words, control.news, 1);
    for (const { waker } of this.#threads) loadSys().write(waker, this.#one, this.#one.length);
  }

  #begin(): void {
    if (this.#timers.length > 0) return;
    this.#ref(true);
    const reportStates = () => {
      for (const { chunk, onState } of this.#running.values()) onState(chunk.state());
    };
    this.#timers = [setInterval(reportStates, stateMs), setInterval(() => this.#count(), countMs)];
  }

  #rest(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    this.#regulator?.stop();
    this.#ref(false);
  }

  /** Idle threads must not keep the program from exiting. */
  #ref(busy: boolean): void {
    for (const { worker } of this.#threads) {
      if (busy) worker.ref();
      else worker.unref();
    }
  }

  #count(): void {
    const sent = Atomics.load(this.#words, control.sent);
    const repeated = Atomics.load(this.#words, control.repeated);
    const more = {
      sent: (sent - this.#reported.sent) >>> 0,
      repeated: (repeated - this.#reported.repeated) >>> 0,
    };
    this.#reported = { sent, repeated };
    if (more.sent > 0) this.#listener.onSent(more.sent);
    if (more.repeated > 0) this.#listener.onRepeated(more.repeated);
  }

  #broken(reason: string): void {
    this.#failure ??= reason;
    this.#count();
    for (const run of this.#running.values()) run.reject(new Error(reason));
    this.#ended.abort();
  }
}

function firstMessage(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => fail(new Error(`no start within ${startMs / 1000} s`)), startMs);
    const fail = (error: Error) => {
      clearTimeout(late);
      reject(new Error(`cannot start a connect thread: ${error.message}`));
    };
    worker.once('error', fail);
    worker.once('exit', () => fail(new Error('it exited')));
    worker.once('message', () => {
      clearTimeout(late);
      worker.off('error', fail);
      resolve();
    });
  });
}

async function endThread({ worker, waker }: Thread): Promise<void> {
  worker.on('error', () => undefined);
  if (worker.threadId !== -1) await exitOf(worker);
  loadSys().close(waker);
}

/** The thread closes its sockets; one that does not stop by itself is terminated. */
async function exitOf(worker: Worker): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  await new Promise((resolve) => {
    worker.once('exit', resolve);
    late = setTimeout(() => worker.terminate().then(resolve, resolve), endMs);
  });
  clearTimeout(late);
}
