import { onAbort } from '../abort.ts';
import { readNeighbor } from './links.ts';
import { frameBatch, type NeighborLink, NeighborSocket } from './neighbor-socket.ts';
import type { Route } from './route.ts';

/** Most addresses that are waited for at the same time; the memory of a sweep is bounded by it. */
const maxOutstanding = 32_768;

/** Frames that leave is asked for at once: timers count milliseconds, so few at a time would never make a high rate. */
const turnFrames = 1024;

/** How often the sockets are looked at while answers may come: at once after activity, then less often. */
const eagerPollMs = 1;
const lazyPollMs = 5;
const eagerForMs = 20;

/** A next hop is asked three times and waited for 1.7 s in all. */
const nextHopMs = 1000;
const nextHopRetries = 2;

/** One address, and the link that it is asked on. */
export interface NeighborRequest {
  link: NeighborLink;
  /** 4 or 16 bytes. */
  address: Uint8Array;
}

export interface NeighborOptions {
  /** How long the answer to the last try is waited for; the tries before it share one such time. */
  timeoutMs: number;
  /** Further tries for an address that stays silent. */
  retries: number;
  signal: AbortSignal;
  /** Waits until packets may be sent. @returns how many of `count`; what is sent is counted there */
  take(count: number): Promise<number>;
}

interface SweepOptions<Q> extends NeighborOptions {
  /** False when the address must not be asked any more; looked at when its turn has come. */
  wanted?(question: Q): boolean;
  /** Called with the number of frames that left. */
  onSent?(count: number): void;
  /** Called for each frame that could not leave: an errno name, or why there is no socket. */
  onUnsent?(reason: string): void;
  /** Called for each address that stayed silent, or could not be asked. */
  onSilent?(question: Q): void;
}

export interface Neighbor {
  /** 4 or 16 bytes. */
  address: Uint8Array;
  /** 6 bytes. */
  mac: Uint8Array;
  latencyMs: number;
}

/**
 * The MACs of addresses on one link, by ARP (IPv4) or Neighbour Discovery (IPv6), as they answer. Each address is given
 * once; the first answer counts. @throws Error when the link cannot be asked
 */
export async function* resolveOnRoute(
  link: NeighborLink,
  addresses: Iterable<Uint8Array>,
  options: NeighborOptions,
): AsyncGenerator<Neighbor, void, undefined> {
  const refused = new Set<string>();
  const answers = resolveNeighbors(questionsOn(link, addresses), {
    ...options,
    onUnsent: (reason) => refused.add(reason),
  });
  let found = 0;
  for await (const { question, mac, latencyMs } of answers) {
    found += 1;
    yield { address: question.address, mac, latencyMs };
  }
  const [reason] = refused;
  if (found === 0 && reason) throw new Error(`${link.interface}: cannot resolve neighbors: ${reason}`);
}

function* questionsOn(link: NeighborLink, addresses: Iterable<Uint8Array>): Generator<NeighborRequest> {
  for (const address of addresses) yield { link, address };
}

/**
 * The MAC of the gateway of a route: what the kernel knows for certain, else what the gateway answers within 1.7 s.
 * @returns the MAC, or why there is none
 */
export async function resolveNextHop(
  route: Route & { gateway: Uint8Array },
  { signal, take }: Pick<NeighborOptions, 'signal' | 'take'>,
): Promise<Uint8Array | { problem: string }> {
  const known = readNeighbor(route.index, route.gateway);
  if (known) return known;
  const options = { timeoutMs: nextHopMs, retries: nextHopRetries, signal, take };
  try {
    for await (const { mac } of resolveOnRoute(route, [route.gateway], options)) return mac;
  } catch (error) {
    return { problem: (error as Error).message };
  }
  return { problem: `the gateway of interface ${route.interface} does not respond` };
}

interface Answer<Q> {
  question: Q;
  mac: Uint8Array;
  latencyMs: number;
}

/** Asks for addresses on any number of links, each at the pace of `take`, with a window of those that are waited for. */
export async function* resolveNeighbors<Q extends NeighborRequest>(
  questions: Iterable<Q>,
  options: SweepOptions<Q>,
): AsyncGenerator<Answer<Q>, void, undefined> {
  const sweep = new NeighbourSweep(questions, options);
  try {
    while (!options.signal.aborted) {
      yield* sweep.answers();
      sweep.expire();
      sweep.fill();
      sweep.requestTokens();
      if (sweep.finished) break;
      await sweep.nextTick();
    }
    yield* sweep.answers();
  } finally {
    sweep.close();
  }
}

/** An address that is waited for. */
interface Outstanding<Q> {
  question: Q;
  port: Port<Q>;
  key: number | string;
  attempt: number;
  /** performance.now() of the last try. */
  sentAt: number;
  /** performance.now() at which it is asked again or given up. */
  due: number;
}

/** The socket of one link and family, and who is waited for there. */
interface Port<Q> {
  socket: NeighborSocket;
  waiting: Map<number | string, Outstanding<Q>>;
}

class NeighbourSweep<Q extends NeighborRequest> {
  #options: SweepOptions<Q>;
  #source: Iterator<Q>;
  #ended = false;
  #ports = new Map<string, Port<Q> | { reason: string }>();
  #outstanding = 0;
  #heard: Answer<Q>[] = [];
  #ready: Outstanding<Q>[] = [];
  /** Who is asked again, and who had the last try: each in the order of their times. */
  #between = new DueQueue<Outstanding<Q>>();
  #last = new DueQueue<Outstanding<Q>>();
  #asking = false;
  #failure: { error: unknown } | null = null;
  #wake: (() => void) | null = null;
  #lastActivity = 0;
  #spacing: number;
  #closed = false;

  constructor(questions: Iterable<Q>, options: SweepOptions<Q>) {
    this.#options = options;
    this.#spacing = Math.max(1, options.timeoutMs / (options.retries + 1));
    this.#source = questions[Symbol.iterator]();
  }

  get finished(): boolean {
    return this.#ended && this.#outstanding === 0 && this.#heard.length === 0;
  }

  /** Every answer that came. */
  answers(): Answer<Q>[] {
    for (const port of this.#ports.values()) if ('socket' in port) this.#hear(port);
    const answers = this.#heard;
    this.#heard = [];
    return answers;
  }

  /** Plans the next try of silent addresses and drops those that had all. */
  expire(): void {
    const now = performance.now();
    for (const asked of this.#between.due(now)) if (this.#isWaiting(asked)) this.#ready.push(asked);
    for (const asked of this.#last.due(now)) if (this.#isWaiting(asked)) this.#giveUp(asked);
  }

  /** Takes addresses from the source while there is room in the window. */
  fill(): void {
    while (!this.#ended && this.#ready.length < turnFrames && this.#outstanding < maxOutstanding) {
      const { value, done } = this.#source.next();
      if (done) this.#ended = true;
      else this.#admit(value);
    }
  }

  requestTokens(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#asking || this.#ready.length === 0) return;
    this.#asking = true;
    const granted = this.#options.take(Math.min(turnFrames, this.#ready.length));
    granted.then(
      (count) => {
        this.#asking = false;
        if (count === 0) return;
        if (!this.#closed) this.#send(count);
        this.#wake?.();
      },
      (error: unknown) => {
        this.#failure = { error };
        this.#wake?.();
      },
    );
  }

  /** Until tokens arrive, or it is time to look at the sockets again. */
  nextTick(): Promise<void> {
    return new Promise((resolve) => {
      const idle = performance.now() - this.#lastActivity > eagerForMs;
      const wake = () => {
        clearTimeout(timer);
        forget();
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(wake, idle ? lazyPollMs : eagerPollMs);
      const forget = onAbort(this.#options.signal, wake);
      this.#wake = wake;
    });
  }

  close(): void {
    this.#closed = true;
    this.#source.return?.();
    for (const port of this.#ports.values()) if ('socket' in port) port.socket.close();
    this.#ports.clear();
  }

  #hear({ socket, waiting }: Port<Q>): void {
    const now = performance.now();
    for (const reply of socket.receive()) {
      const asked = waiting.get(keyOf(reply.address));
      // Before it was asked nobody can have answered.
      if (!asked || asked.attempt === 0) continue;
      this.#forget(asked);
      const latencyMs = Math.max(0, now - asked.sentAt);
      this.#heard.push({ question: asked.question, mac: Uint8Array.from(reply.mac), latencyMs });
      this.#lastActivity = now;
    }
  }

  #admit(question: Q): void {
    const port = this.#port(question);
    const key = keyOf(question.address);
    if ('reason' in port) {
      this.#options.onUnsent?.(port.reason);
      this.#options.onSilent?.(question);
    } else if (!port.waiting.has(key)) {
      const asked = { question, port, key, attempt: 0, sentAt: 0, due: Infinity };
      port.waiting.set(key, asked);
      this.#outstanding += 1;
      this.#ready.push(asked);
    }
  }

  #port({ link, address }: Q): Port<Q> | { reason: string } {
    const bytes = address.length === 4 ? 4 : 16;
    const name = `${link.index} ${keyOf(link.source)} ${bytes}`;
    const known = this.#ports.get(name);
    if (known) return known;
    const socket = NeighborSocket.open(link, bytes);
    const port = 'reason' in socket ? socket : { socket, waiting: new Map() };
    this.#ports.set(name, port);
    return port;
  }

  #isWaiting(asked: Outstanding<Q>): boolean {
    return asked.port.waiting.get(asked.key) === asked;
  }

  #forget(asked: Outstanding<Q>): void {
    asked.port.waiting.delete(asked.key);
    this.#outstanding -= 1;
  }

  #giveUp(asked: Outstanding<Q>): void {
    this.#forget(asked);
    this.#options.onSilent?.(asked.question);
  }

  #send(granted: number): void {
    const turn = this.#ready.splice(0, granted).filter((asked) => this.#stillWanted(asked));
    for (const [port, group] of Map.groupBy(turn, (asked) => asked.port)) {
      for (let at = 0; at < group.length; at += frameBatch) {
        this.#sendBatch(port, group.slice(at, at + frameBatch));
        // The room for answers is small: many hosts answer before the turn is over.
        this.#hear(port);
      }
    }
    this.#lastActivity = performance.now();
  }

  /** Not answered meanwhile, and still in scope at the moment of sending. */
  #stillWanted(asked: Outstanding<Q>): boolean {
    if (!this.#isWaiting(asked)) return false;
    if (this.#options.wanted?.(asked.question) ?? true) return true;
    this.#giveUp(asked);
    return false;
  }

  /** What the kernel had no room for goes with the next try; each try costs a token, so this ends. */
  #sendBatch(port: Port<Q>, batch: Outstanding<Q>[]): void {
    const now = performance.now();
    const { sent, refusals } = port.socket.send(batch.map((asked) => asked.question.address));
    this.#options.onSent?.(sent);
    for (const reason of refusals) this.#options.onUnsent?.(reason);
    for (const asked of batch) {
      asked.sentAt = now;
      asked.attempt += 1;
      const last = asked.attempt > this.#options.retries;
      asked.due = now + (last ? this.#options.timeoutMs : this.#spacing);
      (last ? this.#last : this.#between).push(asked);
    }
  }
}

/** Items in the order of their times. */
class DueQueue<T extends { due: number }> {
  #items: T[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  /** Takes out what is due. */
  *due(now: number): Generator<T, void, undefined> {
    for (; this.#head < this.#items.length; this.#head++) {
      const item = this.#items[this.#head] as T;
      if (item.due > now) break;
      yield item;
    }
    if (this.#head < 1024 && this.#head < this.#items.length) return;
    this.#items.splice(0, this.#head);
    this.#head = 0;
  }
}

function keyOf(address: Uint8Array): number | string {
  if (address.length === 4) {
    const [a = 0, b = 0, c = 0, d = 0] = address;
    return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  }
  return Buffer.from(address.buffer, address.byteOffset, address.length).toString('latin1');
}
