import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRate } from '../../../domain/packet-rate.ts';
import type { RawPackets } from '../../../domain/traffic.ts';
import { onAbort } from '../../abort.ts';
import { type AdaptiveRate, leastRate, UsualShare } from '../../adaptive/rate.ts';
import { PacketRateLimiter } from '../../gate/rate.ts';
import type { ChunkPlan, ChunkState } from './chunk.ts';
import { CreditFeed } from './credit-feed.ts';
import type {
  ChunkEnd,
  EngineCounters,
  EngineRound,
  FromEngine,
  SlowedHost,
  ToEngine,
} from './engine-control.ts';

/** Time without loss after which the rate rises by a tenth, milliseconds. */
const steadyMs = 1000;

/** Maximum number of sender threads; more were not measured. */
const mostSenders = 2;
/**
 * Packets per second up to which one sender is enough, a quarter of what it sends to silent hosts on two shared cores. With one,
 * chunks get the rate in the order they came.
 */
const oneSenderRate = 200_000;

/** Start timeout of the engine process, milliseconds. */
const startMs = 10_000;

export interface ChunkRun {
  plan: Omit<ChunkPlan, 'id'>;
  signal: AbortSignal;
  /** Endpoints that responded with SYN and ACK: host index x ports + port index, and perhaps `zeroWindowBit`. */
  onOpen(endpoints: Uint32Array): void;
  /** Progress; every open endpoint in it was reported before. */
  onState(state: ChunkState): void;
  /** A host whose rate adapts was slowed for the first time. */
  onSlowed?: (host: SlowedHost) => void;
}

/** An engine process and its first message: ready, or the reason why not. */
interface Launched {
  child: ChildProcess;
  first: Promise<FromEngine>;
}

/** Started in advance. */
let spare: Launched | null = null;

/** Starts an engine process in advance for the next user. If unused, it ends with this process. */
export function warmEngine(): void {
  if (spare !== null) return;
  spare = launch();
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

/** @param sourcePort 0 = a free one */
function launch(sourcePort = 0): Launched {
  const file = fileURLToPath(new URL(`./engine-process${extname(import.meta.url)}`, import.meta.url));
  const child = fork(file, [String(sourcePort)], {
    execArgv: ['--max-semi-space-size=1'],
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
  resolve(end: ChunkEnd): void;
  reject(error: Error): void;
}

/**
 * Client of the packet engine: chunks go in, open endpoints and counts come out. It sends in a separate process, and
 * never exceeds the rate.
 */
export class PacketEngine {
  readonly #child: ChildProcess;
  /** The requested rate, and below it an adaptive rate that the receiver can keep up with. */
  readonly #ordered: PacketRateLimiter;
  readonly #rate: PacketRateLimiter;
  readonly #credits: CreditFeed;
  /** performance.now() of the last change of the adaptive rate, or of the last lost responses. */
  #steadySince = performance.now();
  readonly #running = new Map<number, Running>();
  readonly #ended = new AbortController();
  #figures: EngineCounters = {
    received: 0,
    dropped: 0,
    valid: 0,
    repeated: 0,
    foreign: 0,
    sent: 0,
    retransmitted: 0,
    crowded: 0,
  };
  #failure: string | null = null;
  #nextId = 1;
  /** Share of the probes of adaptive chunks that usually get a response. */
  readonly #usual = new UsualShare();
  /** The rate of the scan, if it adapts. */
  adaptive: AdaptiveRate | null = null;
  /** Called with the growth of the packet counters. */
  onPackets: (packets: RawPackets) => void = () => undefined;

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
   * @param options.senders maximum number of sender threads, each with its own chunks
   * @param options.sourcePort of the probes; by default a free one
   * @throws Error if raw packets cannot be sent or received here
   */
  static async start(
    rate: PacketRateLimiter,
    { senders, sourcePort = 0 }: { senders?: number | undefined; sourcePort?: number } = {},
  ): Promise<PacketEngine> {
    const launched = (sourcePort === 0 ? takeSpare() : null) ?? launch(sourcePort);
    const engine = new PacketEngine(launched.child, rate);
    await engine.#ready(launched.first);
    engine.#order({ type: 'senders', most: senders ?? usefulSenders(rate.ceiling) });
    return engine;
  }

  get figures(): EngineCounters {
    return this.#figures;
  }

  /**
   * Sweeps a chunk to its end, or until the signal aborts. The outcome rejects if the engine itself fails. `drop`
   * stops sending to hosts, by index.
   */
  run(run: ChunkRun): { outcome: Promise<ChunkEnd>; drop: (hosts: number[]) => void } {
    const id = this.#nextId++;
    const drop = (hosts: number[]) => this.#order({ type: 'drop', id, hosts });
    if (this.#failure !== null) return { outcome: Promise.reject(new Error(this.#failure)), drop };
    const outcome = new Promise<ChunkEnd>((resolve, reject) => {
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

  /** Stops the engine process; running chunks fail. */
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
        const growth = rawGrowth(message.figures, this.#figures);
        this.#regulate(growth.dropped);
        if (message.figures.crowded !== this.#figures.crowded) this.adaptive?.trouble();
        this.#figures = message.figures;
        return this.onPackets(growth);
      }
      case 'open':
        return this.#running.get(message.id)?.onOpen(message.endpoints);
      case 'state':
        return this.#running.get(message.id)?.onState(message.state);
      case 'done': {
        const run = this.#running.get(message.id);
        this.#running.delete(message.id);
        run?.resolve(message.end);
        return;
      }
      case 'slowed':
        return this.#running.get(message.id)?.onSlowed?.(message.host);
      case 'round':
        return this.#judge(message.round);
      case 'pastHead':
        return this.adaptive?.fallTo(startRate);
    }
  }

  #judge({ sent, responses, ms, ageMs, isNew }: EngineRound): void {
    if (!this.adaptive) return;
    if (isNew) this.#usual.adopt(0, 0);
    const { usual } = this.#usual;
    this.adaptive.judge({ sent, responses, usual, beganAt: performance.now() - ageMs, ms }, this.#usual);
    this.#order({ type: 'usual', usual: this.#usual.usual });
  }

  /**
   * Responses that do not fit into the kernel ring are lost, and their probes are repeated: a slower rate is faster
   * then.
   * @param dropped since the last call
   */
  #regulate(dropped: number): void {
    const now = performance.now();
    if (this.adaptive) {
      if (dropped > 0) this.adaptive.trouble();
    } else if (dropped > 0) {
      this.#rate.setRate(Math.max(leastRate, this.#rate.rate / 2));
      this.#steadySince = now;
    } else if (this.#rate.rate < this.#rate.ceiling && now - this.#steadySince > steadyMs) {
      this.#rate.setRate(Math.min(this.#rate.ceiling, this.#rate.rate * 1.1));
      this.#steadySince = now;
    }
  }

  /** Grants as many packets as the rate allows for some milliseconds. */
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

/** Counters have 32 bits and wrap around. */
function rawGrowth(now: EngineCounters, before: EngineCounters): RawPackets {
  const growth = (name: keyof RawPackets) => (now[name] - before[name]) >>> 0;
  return {
    sent: growth('sent'),
    received: growth('received'),
    dropped: growth('dropped'),
    retransmitted: growth('retransmitted'),
  };
}

/**
 * The receiver needs little time beside the senders: most of the cost of a packet is its sending.
 * @param rate packets per second
 */
function usefulSenders(rate: number): number {
  return rate <= oneSenderRate ? 1 : Math.min(mostSenders, availableParallelism());
}
