import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onAbort } from '../abort.ts';
import { PacketRateLimiter } from '../gate/rate.ts';
import type { ChunkPlan, ChunkState } from './chunk.ts';
import { CreditFeed } from './credit-feed.ts';
import type { FromEngine, ReceiverCounters, ToEngine } from './engine-control.ts';

/** However many answers are lost, it goes on at so many packets a second. */
const leastRate = 100;
/** Without loss for so long, it may be a tenth faster, milliseconds. */
const steadyMs = 1000;

/** Threads that send, at the most; more than two were not measured. */
const mostSenders = 2;

/** How long the process of the engine may take until it listens. */
const startMs = 10_000;

export interface ChunkRun {
  plan: Omit<ChunkPlan, 'id'>;
  signal: AbortSignal;
  /** Endpoints that answered SYN and ACK: host number x ports + port number. */
  onOpen(endpoints: Uint32Array): void;
  /** How far it is; every open endpoint in it was told before. */
  onState(state: ChunkState): void;
}

/** A process of the engine, and the first thing that it says: that it is ready, or why it cannot be. */
interface Launched {
  child: ChildProcess;
  first: Promise<FromEngine>;
}

/** Started before anybody needed it. */
let spare: Launched | null = null;

/** Starts the process of an engine ahead, for whoever starts an engine next. Unused it ends with this process. */
export function warmEngine(): void {
  if (spare !== null) return;
  spare = launch(usefulSenders());
  spare.child.unref();
  spare.child.channel?.unref();
}

function takeSpare(): Launched | null {
  const taken = spare;
  spare = null;
  if (!taken?.child.connected) return null;
  taken.child.ref();
  taken.child.channel?.ref();
  return taken;
}

function launch(senders: number): Launched {
  const file = fileURLToPath(new URL(`./engine-process${extname(import.meta.url)}`, import.meta.url));
  const child = fork(file, [String(senders)], {
    execArgv: ['--max-semi-space-size=2'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const first = new Promise<FromEngine>((resolve) => {
    child.once('message', resolve);
    child.once('exit', (code, signal) => resolve(broken(`the packet engine exited with ${signal ?? code}`)));
    child.once('error', ({ message }) => resolve(broken(`cannot start the packet engine: ${message}`)));
  });
  return { child, first };
}

function broken(reason: string): FromEngine {
  return { type: 'broken', reason };
}

interface Running extends ChunkRun {
  resolve(outcome: ChunkOutcome): void;
  reject(error: Error): void;
}

export interface ChunkOutcome {
  state: ChunkState;
  /** Why it ended early, or null. */
  failure: string | null;
}

export type EngineCounters = ReceiverCounters & { sent: number };

/**
 * The packet engine as the rest of the program sees it: chunks go in, open endpoints and counts come out. It sends in a
 * process of its own, and never more than the rate grants.
 */
export class PacketEngine {
  readonly #child: ChildProcess;
  /** The rate of whoever ordered the work, and below it a rate of its own that answers can be heard at. */
  readonly #ordered: PacketRateLimiter;
  readonly #rate: PacketRateLimiter;
  readonly #credits: CreditFeed;
  /** performance.now() of the last change of its own rate, or of the last answers that were lost. */
  #steadySince = performance.now();
  readonly #running = new Map<number, Running>();
  readonly #ended = new AbortController();
  #figures: EngineCounters = { received: 0, dropped: 0, valid: 0, repeated: 0, foreign: 0, sent: 0 };
  #failure: string | null = null;
  #nextId = 1;
  /** Told whenever the number of packets has grown, by how many. */
  onSent: (packets: number) => void = () => undefined;

  private constructor(child: ChildProcess, rate: PacketRateLimiter) {
    this.#child = child;
    this.#ordered = rate;
    this.#rate = new PacketRateLimiter({ rate: rate.ceiling, upstream: rate });
    this.#credits = new CreditFeed(this.#rate, this.#ended.signal);
    child.on('message', (message: FromEngine) => this.#take(message));
    child.once('exit', (code, signal) => this.#broken(`the packet engine exited with ${signal ?? code}`));
    child.once('error', ({ message }) => this.#broken(`cannot start the packet engine: ${message}`));
  }

  /**
   * @param rate every packet takes a token of it
   * @param senders threads that send, each one its own chunks
   * @throws Error that says why raw packets cannot be sent or heard here
   */
  static async start(rate: PacketRateLimiter, senders?: number): Promise<PacketEngine> {
    const launched = (senders === undefined ? takeSpare() : null) ?? launch(senders ?? usefulSenders());
    const engine = new PacketEngine(launched.child, rate);
    await engine.#ready(launched.first);
    return engine;
  }

  get figures(): EngineCounters {
    return this.#figures;
  }

  /**
   * Sweeps a chunk to its end, or until the signal aborts. The outcome rejects when the engine itself fails.
   * `drop` sends nothing more to hosts, named by their numbers.
   */
  run(run: ChunkRun): { outcome: Promise<ChunkOutcome>; drop: (hosts: number[]) => void } {
    const id = this.#nextId++;
    const drop = (hosts: number[]) => this.#order({ type: 'drop', id, hosts });
    if (this.#failure !== null) return { outcome: Promise.reject(new Error(this.#failure)), drop };
    const outcome = new Promise<ChunkOutcome>((resolve, reject) => {
      const forget = onAbort(run.signal, () => this.#order({ type: 'stop', id }));
      this.#running.set(id, {
        ...run,
        resolve: (outcome) => {
          forget();
          resolve(outcome);
        },
        reject: (error) => {
          forget();
          reject(error);
        },
      });
      this.#order({ type: 'chunk', plan: { ...run.plan, id } });
      if (run.signal.aborted) this.#order({ type: 'stop', id });
    });
    return { outcome, drop };
  }

  /** Ends the process of the engine; chunks that run end as failed. */
  async close(): Promise<void> {
    this.#ended.abort();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }

  async #ready(first: Promise<FromEngine>): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<FromEngine>((resolve) => {
      const reason = `the packet engine did not start within ${startMs / 1000} s`;
      late = setTimeout(() => resolve(broken(reason)), startMs);
    });
    const message = await Promise.race([first, tooLate]);
    clearTimeout(late);
    if (message.type !== 'broken') return;
    this.#broken(message.reason);
    await this.close();
    throw new Error(message.reason);
  }

  #take(message: FromEngine): void {
    switch (message.type) {
      case 'ready':
        return;
      case 'broken':
        return this.#broken(message.reason);
      case 'hungry':
        return void this.#feed();
      case 'figures': {
        const more = (message.figures.sent - this.#figures.sent) >>> 0;
        this.#regulate(message.figures.dropped - this.#figures.dropped);
        this.#figures = message.figures;
        if (more > 0) this.onSent(more);
        return;
      }
      case 'open':
        return this.#running.get(message.id)?.onOpen(message.endpoints);
      case 'state':
        return this.#running.get(message.id)?.onState(message.state);
      case 'done': {
        const run = this.#running.get(message.id);
        this.#running.delete(message.id);
        run?.resolve({ state: message.state, failure: message.failure });
      }
    }
  }

  /**
   * Answers that found no room in the ring of the kernel are lost, and their probes are repeated: slower is faster then.
   * @param dropped since the last time
   */
  #regulate(dropped: number): void {
    const now = performance.now();
    if (dropped > 0) {
      this.#rate.setRate(Math.max(leastRate, this.#rate.rate / 2));
      this.#steadySince = now;
    } else if (this.#rate.rate < this.#rate.ceiling && now - this.#steadySince > steadyMs) {
      this.#rate.setRate(Math.min(this.#rate.ceiling, this.#rate.rate * 1.1));
      this.#steadySince = now;
    }
  }

  /** Hands over as many packets as the rate allows for some milliseconds. */
  async #feed(): Promise<void> {
    const { count, lowWater } = await this.#credits.next(this.#ordered.rate);
    if (count > 0) this.#order({ type: 'credits', count, lowWater });
  }

  #order(order: ToEngine): void {
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  #broken(reason: string): void {
    this.#failure ??= reason;
    for (const run of this.#running.values()) run.reject(new Error(reason));
    this.#running.clear();
    this.#ended.abort();
  }
}

/** The thread that hears has little to do beside them: most of the time of a packet is that of its sending. */
function usefulSenders(): number {
  return Math.min(mostSenders, availableParallelism());
}
