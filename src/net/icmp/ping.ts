import type { ProbeRejection } from '../../domain/host.ts';
import {
  type Address,
  addressBytes,
  addressText,
  type Family,
  parseAddress,
} from '../../domain/targets/address.ts';
import { FirstRequests } from '../adaptive/first-requests.ts';
import type { AdaptiveRate } from '../adaptive/rate.ts';
import type { Egress } from '../egress.ts';
import { localTrouble } from '../failure.ts';
import type { PingOptions, PingResponse } from '../gate/gate.ts';
import type { PacketRateLimiter } from '../gate/rate.ts';
import { scopeIdOf } from '../interface-index.ts';
import {
  batchSize,
  type EchoError,
  type EchoReply,
  type EchoRequest,
  EchoSocket,
  expectedNonce,
  type PingType,
  randomNonce,
} from '../packets/frame/echo.ts';
import { PollTimer, runPolled } from '../polled-sweep.ts';
import { icmpMeaning } from './icmp-meaning.ts';

/** Maximum number of outstanding hosts; bounds the memory of a sweep. */
const maxOutstanding = 4096;

/** Interval of the timeout check. */
const expiryMs = 5;

interface PingRun extends PingOptions {
  rate: PacketRateLimiter;
  /** Sets the rate of the scan by the responses to first requests, if their hosts come in random order; null = it is fixed. */
  adaptive: AdaptiveRate | null;
  egress: Egress;
  /** The canonical address if it may be probed now, else null. */
  admit(host: string): string | null;
  onSent(count: number): void;
  /** Called for each request that could not be sent. */
  onUnsent(reason: string): void;
}

type Method = { method: 'raw' | 'datagram' | 'none'; reason: string };

const echoOnly: readonly PingType[] = ['echo'];

/** How echo requests of a family are sent. Opens a socket to find out and closes it. */
export function choosePingMethod(family: Family, egress: Egress): Method {
  const socket = EchoSocket.open(family, egress.socket(family, false));
  if ('reason' in socket) return { method: 'none', reason: socket.reason };
  socket.close();
  const reason = socket.method === 'raw' ? 'raw sockets are allowed' : 'ICMP datagram sockets are allowed';
  return { method: socket.method, reason };
}

/**
 * Echo or timestamp requests to every host, at the rate of the gate, with a window of outstanding hosts. A silent
 * host is retried, with the next type if there are several, and dropped one timeout after the last try. Skips hosts
 * of a family without a socket, and those that no type applies to: timestamps need IPv4 and a raw socket.
 */
export function ping(
  hosts: AsyncIterable<string> | Iterable<string>,
  options: PingRun,
): AsyncGenerator<PingResponse, void, undefined> {
  return runPolled(new EchoSweep(hosts, options), options.signal);
}

/** An outstanding host. */
interface Outstanding extends EchoRequest {
  host: string;
  socket: EchoSocket;
  /** Request types, in turn; each retry starts over. */
  types: readonly PingType[];
  /** performance.now() of each request. */
  sentAt: number[];
  /** Round of the first request. */
  parity: 0 | 1;
  /** performance.now() of the next retry or the drop; Infinity while it waits to be sent. */
  due: number;
  /** The kernel has taken one of the requests. */
  isSent: boolean;
  /** The first ICMP error about it. */
  rejection?: ProbeRejection;
}

class EchoSweep {
  readonly timer = new PollTimer();
  #options: PingRun;
  #source: ItemSource<string>;
  /** By family, and whether for addresses of this machine. */
  #sockets = new Map<string, EchoSocket | { reason: string }>();
  #waiting = new Map<number, Outstanding>();
  #freeSequences: number[] = Array.from({ length: maxOutstanding }, (_, at) => maxOutstanding - 1 - at);
  #ready: Outstanding[] = [];
  #isWaitingForTokens = false;
  #lastExpiry = 0;
  #closed = false;
  /** First requests and responses to them, by the parity of their round. */
  readonly #counts = { sent: [0, 0] as [number, number], responses: [0, 0] as [number, number] };
  readonly #first: FirstRequests | null;
  /** Longest response time since the parity changed, milliseconds; -1 = none. */
  #roundTripMs = -1;

  constructor(hosts: AsyncIterable<string> | Iterable<string>, options: PingRun) {
    this.#options = options;
    const { adaptive } = options;
    this.#first = adaptive && new FirstRequests(adaptive, this.#counts, performance.now());
    this.#source = new ItemSource(hosts, () => this.timer.wake());
  }

  get finished(): boolean {
    return this.#source.ended && this.#waiting.size === 0;
  }

  *responses(): Generator<PingResponse, void, undefined> {
    for (const socket of this.#sockets.values()) {
      if ('reason' in socket) continue;
      for (const reply of socket.receive()) {
        if ('code' in reply) {
          this.#takeError(reply, socket);
          continue;
        }
        const response = this.#accept(reply, socket);
        if (response) yield response;
      }
    }
  }

  /** Schedules retries of silent hosts and drops those out of retries. */
  expire(): void {
    const now = performance.now();
    if (now - this.#lastExpiry < expiryMs) return;
    this.#lastExpiry = now;
    this.#adapt(now);
    for (const host of this.#waiting.values()) {
      if (host.due > now) continue;
      if (host.attempt < this.#tries(host)) this.#enqueue(host);
      else {
        this.#forget(host);
        this.#options.onSilent?.(host.host, host.rejection);
      }
    }
  }

  #adapt(now: number): void {
    const parity = this.#first?.parity;
    this.#first?.tick(now, this.#roundTripMs);
    if (this.#first?.parity !== parity) this.#roundTripMs = -1;
  }

  /** Takes hosts from the source while there is room in the window. */
  fill(): void {
    while (this.#ready.length < batchSize && this.#freeSequences.length > 0) {
      const next = this.#source.next();
      if (next === null) return;
      const host = this.#prepare(next);
      if (host) this.#enqueue(host);
      else this.#options.onSilent?.(next);
    }
  }

  requestTokens(): void {
    if (this.#isWaitingForTokens || this.#ready.length === 0) return;
    this.#isWaitingForTokens = true;
    const most = Math.min(batchSize, this.#ready.length);
    this.#options.rate.takeUpTo(most, this.#options.signal).then((granted) => {
      this.#isWaitingForTokens = false;
      if (granted > 0 && !this.#closed) this.#send(granted);
      this.timer.wake();
    });
  }

  close(): void {
    this.#closed = true;
    this.#source.close();
    for (const socket of this.#sockets.values()) if (!('reason' in socket)) socket.close();
    this.#sockets.clear();
  }

  #prepare(text: string): Outstanding | null {
    const canonical = this.#options.admit(text);
    const address = canonical === null ? null : parseAddress(canonical);
    if (canonical === null || !address) return null;
    const socket = this.#socketTo(address);
    if ('reason' in socket) {
      this.#options.onUnsent(socket.reason);
      return null;
    }
    const types = typesOn(socket, this.#options.types ?? echoOnly);
    const [type] = types;
    if (!type) return null;
    const sequence = this.#freeSequences.pop() as number;
    const host: Outstanding = {
      host: canonical,
      socket,
      types,
      type,
      address: addressBytes(address),
      scopeId: scopeIdOf(address.zone),
      sequence,
      attempt: 0,
      nonce: randomNonce(),
      sentAt: [],
      parity: 0,
      isSent: false,
      due: Infinity,
    };
    this.#waiting.set(sequence, host);
    return host;
  }

  #socketTo(address: Address): EchoSocket | { reason: string } {
    const { egress } = this.#options;
    const refusal = egress.refusal(address);
    if (refusal !== null) return { reason: refusal };
    const { family } = address;
    const isLocal = egress.isLocal(address);
    const key = `${family} ${isLocal}`;
    const known = this.#sockets.get(key);
    if (known !== undefined) return known;
    const socket = EchoSocket.open(family, egress.socket(family, isLocal));
    this.#sockets.set(key, socket);
    return socket;
  }

  #enqueue(host: Outstanding): void {
    host.due = Infinity;
    this.#ready.push(host);
  }

  #forget(host: Outstanding): void {
    this.#waiting.delete(host.sequence);
    this.#freeSequences.push(host.sequence);
  }

  #send(granted: number): void {
    const batch = this.#ready.splice(0, granted).filter((host) => this.#stillWanted(host));
    for (const [socket, group] of Map.groupBy(batch, (host) => host.socket)) this.#sendGroup(socket, group);
    this.timer.noteActivity(performance.now());
  }

  /** No response meanwhile, and still in scope at the moment of sending. */
  #stillWanted(host: Outstanding): boolean {
    if (this.#waiting.get(host.sequence) !== host) return false;
    if (this.#options.admit(host.host) !== null) return true;
    this.#forget(host);
    return false;
  }

  #sendGroup(socket: EchoSocket, group: Outstanding[]): void {
    const now = performance.now();
    const { done, sent, refusals } = socket.send(group);
    this.#options.onSent(sent);
    for (const code of refusals) this.#options.onUnsent(localTrouble(code));
    for (const host of group.slice(0, done)) {
      host.isSent = true;
      this.#onSent(host, now);
      if (host.attempt === this.#tries(host)) host.due = now + this.#options.timeoutMs;
    }
    // The kernel buffer is full: the rest goes with the next tokens; each try costs one, so this ends.
    for (const host of group.slice(done)) {
      this.#onSent(host, now);
      const isLast = host.attempt === this.#tries(host);
      if (isLast && !host.isSent) this.#options.onUnsent(localTrouble('ENOBUFS'));
    }
  }

  #onSent(host: Outstanding, now: number): void {
    if (host.attempt === 0 && this.#first) {
      host.parity = this.#first.parity;
      this.#counts.sent[host.parity] += 1;
    }
    host.sentAt.push(now);
    host.attempt += 1;
    host.type = host.types[host.attempt % host.types.length] as PingType;
    // Between the tries for one host; the last one gets a full timeout.
    host.due = now + Math.max(1, this.#options.timeoutMs / this.#tries(host));
  }

  #tries({ types }: Outstanding): number {
    return types.length * (this.#options.retries + 1);
  }

  /** It ends nothing: the host may respond to another try. */
  #takeError(error: EchoError, socket: EchoSocket): void {
    const { type, code, from, address, sequence } = error;
    const host = this.#waiting.get(sequence);
    if (!host || host.socket !== socket || !equal(host.address, address)) return;
    const reason = icmpMeaning(socket.family, error);
    if (reason !== null) host.rejection ??= { reason, icmp: { type, code }, from: addressText(from) };
  }

  #accept(reply: EchoReply, socket: EchoSocket): PingResponse | null {
    const host = this.#waiting.get(reply.sequence);
    if (!host || host.socket !== socket) return null;
    const sentAt = host.sentAt[reply.attempt];
    if (sentAt === undefined || reply.type !== host.types[reply.attempt % host.types.length]) return null;
    const { type, nonce } = reply;
    if (!equal(expectedNonce({ type, nonce: host.nonce }), nonce)) return null;
    if (!equal(host.address, reply.address)) return null;
    this.#forget(host);
    const now = performance.now();
    this.timer.noteActivity(now);
    const latencyMs = now - sentAt;
    if (reply.attempt === 0) {
      this.#counts.responses[host.parity] += 1;
      this.#roundTripMs = Math.max(this.#roundTripMs, latencyMs);
    }
    return { host: host.host, latencyMs, type };
  }
}

/** The types that a socket can send. */
function typesOn({ family, method }: EchoSocket, types: readonly PingType[]): readonly PingType[] {
  return family === 4 && method === 'raw' ? types : types.filter((type) => type === 'echo');
}

/** Items without waiting: prefetches one item of an asynchronous source. */
export class ItemSource<T> {
  ended = false;
  #sync: Iterator<T> | null = null;
  #async: AsyncIterator<T> | null = null;
  #onArrival: () => void;
  #arrived: T | null = null;
  #pulling = false;

  constructor(items: AsyncIterable<T> | Iterable<T>, onArrival: () => void) {
    this.#onArrival = onArrival;
    if (Symbol.asyncIterator in items) this.#async = items[Symbol.asyncIterator]();
    else this.#sync = items[Symbol.iterator]();
  }

  /** The next item, or null if none is available now. */
  next(): T | null {
    if (this.ended) return null;
    if (this.#sync) {
      const { value, done } = this.#sync.next();
      if (!done) return value;
      this.ended = true;
      return null;
    }
    const item = this.#arrived;
    this.#arrived = null;
    this.#pull();
    return item;
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.#sync?.return?.();
    this.#async?.return?.()?.catch(() => undefined);
  }

  #pull(): void {
    if (this.#pulling || this.#arrived !== null || !this.#async) return;
    this.#pulling = true;
    this.#async.next().then(
      ({ value, done }) => {
        this.#pulling = false;
        if (done) this.ended = true;
        else this.#arrived = value;
        this.#onArrival();
      },
      () => {
        // The producer reports its own failure; the work ends with the items so far.
        this.ended = true;
        this.#onArrival();
      },
    );
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
