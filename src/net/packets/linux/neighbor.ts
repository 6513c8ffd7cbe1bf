import { PollTimer, runPolled } from '../../polled-sweep.ts';
import { readNeighbor } from './links.ts';
import { frameBatch, type NeighborLink, NeighborSocket } from './neighbor-socket.ts';
import type { Route } from './route.ts';

/** Maximum number of outstanding addresses; bounds the memory of a sweep. */
const maxOutstanding = 32_768;

/** Frames requested at once: timers have millisecond resolution, so small batches would never reach a high rate. */
const turnFrames = 1024;

/** A next hop gets three requests and 1.7 s in all. */
const nextHopMs = 1000;
const nextHopRetries = 2;

/** One address, and the link to resolve it on. */
export interface NeighborRequest {
  link: NeighborLink;
  /** 4 or 16 bytes. */
  address: Uint8Array;
}

export interface NeighborOptions {
  /** Timeout of the last try; the earlier tries together get the same time. */
  timeoutMs: number;
  /** Retries for a silent address. */
  retries: number;
  signal: AbortSignal;
  /** Waits until packets may be sent. @returns how many of `count`; the callee counts what is sent */
  take(count: number): Promise<number>;
}

interface SweepOptions<Q> extends NeighborOptions {
  /** False if the address must not be probed any more; checked when its turn has come. */
  wanted?(question: Q): boolean;
  /** Called with the number of sent frames. */
  onSent?(count: number): void;
  /** Called for each frame that could not be sent: an errno name, or why there is no socket. */
  onUnsent?(reason: string): void;
  /** Called for each address that stayed silent, or could not be probed. */
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
 * The MACs of addresses on one link, by ARP (IPv4) or Neighbor Discovery (IPv6), as they reply. Each address is
 * returned once, with the first reply. @throws Error if the link is unusable
 */
export async function* resolveOnRoute(
  link: NeighborLink,
  addresses: Iterable<Uint8Array>,
  options: NeighborOptions,
): AsyncGenerator<Neighbor, void, undefined> {
  const refused = new Set<string>();
  const responses = resolveNeighbors(requestsOn(link, addresses), {
    ...options,
    onUnsent: (reason) => refused.add(reason),
  });
  let found = 0;
  for await (const { question, mac, latencyMs } of responses) {
    found += 1;
    yield { address: question.address, mac, latencyMs };
  }
  const [reason] = refused;
  if (found === 0 && reason) throw new Error(`${link.interface}: cannot resolve neighbors: ${reason}`);
}

function* requestsOn(link: NeighborLink, addresses: Iterable<Uint8Array>): Generator<NeighborRequest> {
  for (const address of addresses) yield { link, address };
}

/**
 * The MAC of the gateway of a route: the kernel's reliable entry, else the gateway's reply within 1.7 s.
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

interface Resolved<Q> {
  question: Q;
  mac: Uint8Array;
  latencyMs: number;
}

/** Resolves addresses on any number of links, each at the rate of `take`, with a window of outstanding ones. */
export function resolveNeighbors<Q extends NeighborRequest>(
  requests: Iterable<Q>,
  options: SweepOptions<Q>,
): AsyncGenerator<Resolved<Q>, void, undefined> {
  return runPolled(new NeighborSweep(requests, options), options.signal);
}

/** An outstanding address. */
interface Outstanding<Q> {
  question: Q;
  port: Port<Q>;
  key: number | string;
  attempt: number;
  /** performance.now() of the last try. */
  sentAt: number;
  /** The kernel has taken one of the tries. */
  isSent: boolean;
  /** performance.now() of the next retry or the give-up. */
  due: number;
}

/** The socket of one link and family, and its outstanding addresses. */
interface Port<Q> {
  socket: NeighborSocket;
  waiting: Map<number | string, Outstanding<Q>>;
}

class NeighborSweep<Q extends NeighborRequest> {
  readonly timer = new PollTimer();
  #options: SweepOptions<Q>;
  #source: Iterator<Q>;
  #ended = false;
  #ports = new Map<string, Port<Q> | { reason: string }>();
  #outstanding = 0;
  #received: Resolved<Q>[] = [];
  #ready: Outstanding<Q>[] = [];
  /** Outstanding retries and last tries, each in the order of their times. */
  #between = new DueQueue<Outstanding<Q>>();
  #last = new DueQueue<Outstanding<Q>>();
  #isWaitingForTokens = false;
  #failure: { error: unknown } | null = null;
  #spacing: number;
  #closed = false;

  constructor(requests: Iterable<Q>, options: SweepOptions<Q>) {
    this.#options = options;
    this.#spacing = Math.max(1, options.timeoutMs / (options.retries + 1));
    this.#source = requests[Symbol.iterator]();
  }

  get finished(): boolean {
    return this.#ended && this.#outstanding === 0 && this.#received.length === 0;
  }

  responses(): Resolved<Q>[] {
    for (const port of this.#ports.values()) if ('socket' in port) this.#receive(port);
    return this.#received.splice(0);
  }

  /** Schedules retries of silent addresses and drops those out of retries. */
  expire(): void {
    const now = performance.now();
    for (const outstanding of this.#between.due(now))
      if (this.#isWaiting(outstanding)) this.#ready.push(outstanding);
    for (const outstanding of this.#last.due(now))
      if (this.#isWaiting(outstanding)) this.#giveUp(outstanding);
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
    if (this.#isWaitingForTokens || this.#ready.length === 0) return;
    this.#isWaitingForTokens = true;
    const granted = this.#options.take(Math.min(turnFrames, this.#ready.length));
    granted.then(
      (count) => {
        this.#isWaitingForTokens = false;
        if (count === 0) return;
        if (!this.#closed) this.#send(count);
        this.timer.wake();
      },
      (error: unknown) => {
        this.#failure = { error };
        this.timer.wake();
      },
    );
  }

  close(): void {
    this.#closed = true;
    this.#source.return?.();
    for (const port of this.#ports.values()) if ('socket' in port) port.socket.close();
    this.#ports.clear();
  }

  #receive({ socket, waiting }: Port<Q>): void {
    const now = performance.now();
    for (const reply of socket.receive()) {
      const outstanding = waiting.get(keyOf(reply.address));
      // No reply can precede the request.
      if (!outstanding || outstanding.attempt === 0) continue;
      this.#forget(outstanding);
      const latencyMs = Math.max(0, now - outstanding.sentAt);
      this.#received.push({ question: outstanding.question, mac: Uint8Array.from(reply.mac), latencyMs });
      this.timer.noteActivity(now);
    }
  }

  #admit(question: Q): void {
    const port = this.#port(question);
    const key = keyOf(question.address);
    if ('reason' in port) {
      this.#options.onUnsent?.(port.reason);
      this.#options.onSilent?.(question);
    } else if (!port.waiting.has(key)) {
      const outstanding = { question, port, key, attempt: 0, sentAt: 0, isSent: false, due: Infinity };
      port.waiting.set(key, outstanding);
      this.#outstanding += 1;
      this.#ready.push(outstanding);
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

  #isWaiting(outstanding: Outstanding<Q>): boolean {
    return outstanding.port.waiting.get(outstanding.key) === outstanding;
  }

  #forget(outstanding: Outstanding<Q>): void {
    outstanding.port.waiting.delete(outstanding.key);
    this.#outstanding -= 1;
  }

  #giveUp(outstanding: Outstanding<Q>): void {
    this.#forget(outstanding);
    this.#options.onSilent?.(outstanding.question);
  }

  #send(granted: number): void {
    const turn = this.#ready.splice(0, granted).filter((outstanding) => this.#stillWanted(outstanding));
    for (const [port, group] of Map.groupBy(turn, (outstanding) => outstanding.port)) {
      for (let at = 0; at < group.length; at += frameBatch) {
        this.#sendBatch(port, group.slice(at, at + frameBatch));
        // The receive buffer is small: many hosts reply before the turn is over.
        this.#receive(port);
      }
    }
    this.timer.noteActivity(performance.now());
  }

  /** No reply meanwhile, and still in scope at the moment of sending. */
  #stillWanted(outstanding: Outstanding<Q>): boolean {
    if (!this.#isWaiting(outstanding)) return false;
    if (this.#options.wanted?.(outstanding.question) ?? true) return true;
    this.#giveUp(outstanding);
    return false;
  }

  /** What did not fit into the kernel buffer goes with the next try; each try costs a token, so this ends. */
  #sendBatch(port: Port<Q>, batch: Outstanding<Q>[]): void {
    const now = performance.now();
    const { done, sent, refusals } = port.socket.send(
      batch.map((outstanding) => outstanding.question.address),
    );
    this.#options.onSent?.(sent);
    for (const reason of refusals) this.#options.onUnsent?.(reason);
    for (const [at, outstanding] of batch.entries()) {
      outstanding.sentAt = now;
      outstanding.isSent ||= at < done;
      outstanding.attempt += 1;
      const last = outstanding.attempt > this.#options.retries;
      if (last && !outstanding.isSent) this.#options.onUnsent?.('ENOBUFS');
      outstanding.due = now + (last ? this.#options.timeoutMs : this.#spacing);
      (last ? this.#last : this.#between).push(outstanding);
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

  /** Removes what is due. */
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
