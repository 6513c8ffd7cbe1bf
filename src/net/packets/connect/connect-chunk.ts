import type { Family } from '../../../domain/targets/address.ts';
import type { SocketEgress } from '../../egress.ts';
import type { ChunkState } from '../engine/chunk.ts';
import { RejectionTable } from '../engine/rejection-table.ts';
import { EndpointOrder } from '../frame/endpoint-order.ts';
import type { PermutationKey } from '../frame/permutation.ts';

/** Outcome of an endpoint. */
export const verdict = {
  open: 0,
  /** Accepted and reset at once. */
  openThenReset: 1,
  closed: 2,
  /** Unreachable by an ICMP error. */
  rejected: 3,
  silent: 4,
  /** This machine could not send. */
  unsent: 5,
} as const;

/** Flag in a verdict: responded only to a retry. */
export const lateFlag = 0x80;

/** The same ports of some hosts of one family, for connections. */
export interface ConnectPlan {
  id: number;
  family: Family;
  /** 4 or 16 bytes per host. */
  hosts: Uint8Array;
  /** Interface index of each link-local IPv6 address, else 0. */
  scopes: Uint32Array;
  /** What the sockets are bound to; null = nothing. */
  egress: SocketEgress | null;
  ports: Uint16Array;
  /** Number of ports, from the first on, that are probed before the others. */
  leading?: number | undefined;
  /** Those of them whose connections end by a FIN, not by a reset. */
  inOrder: readonly number[];
  /** Tries for an endpoint that does not respond, at least 1. */
  tries: number;
  /** Tries beyond these while retries bring responses. */
  furtherTries: number;
  key: PermutationKey;
  /** Timeout of one try, milliseconds. */
  patienceMs: number;
  /** The same for slow hosts: long enough for the kernel to repeat the SYN. */
  slowPatienceMs: number;
  /** Response time from which a host counts as slow. */
  slowAnswerMs: number;
  /** Indices of the slow hosts. */
  slow: readonly number[];
  /** Endpoints to skip: those of this server. */
  spared: Uint32Array;
  /** Progress of an interrupted sweep of the same chunk. */
  restored: ChunkState | null;
}

/** Description of a chunk for the threads. */
export interface ConnectShare {
  plan: Omit<ConnectPlan, 'spared' | 'restored' | 'slow'>;
  /** Two words, and a byte per host. */
  memory: SharedArrayBuffer;
  /** One bit per endpoint to skip. */
  passedOver: Int32Array;
  /** Counters below this one were visited before an interruption. */
  triedBelow: number;
}

const place = { next: 0, stop: 1 } as const;
const words = 2;
const hostFlag = { dropped: 1, slow: 2 } as const;

/** State of a chunk shared by the threads during a sweep: the iterator over its endpoints, and flags of its hosts. */
export class SharedPermutation {
  readonly #words: Int32Array;
  readonly #flags: Uint8Array;
  readonly #share: ConnectShare;
  readonly #order: EndpointOrder;

  constructor(share: ConnectShare) {
    const { hosts, family, ports, leading = 0, key } = share.plan;
    const hostCount = hosts.length / (family === 4 ? 4 : 16);
    this.#share = share;
    this.#words = new Int32Array(share.memory, 0, words);
    this.#flags = new Uint8Array(share.memory, 4 * words, hostCount);
    this.#order = new EndpointOrder({ hosts: hostCount, ports: ports.length, leading }, key);
  }

  static memory(hostCount: number): SharedArrayBuffer {
    return new SharedArrayBuffer(4 * words + hostCount);
  }

  /** Number of positions taken by all threads. */
  get counter(): number {
    return Math.min(Atomics.load(this.#words, place.next), this.#order.length);
  }

  /** Whether the endpoints of the leading ports have been taken. */
  get isPastHead(): boolean {
    return this.counter >= this.#order.head;
  }

  get exhausted(): boolean {
    return Atomics.load(this.#words, place.next) >= this.#order.length;
  }

  /** The next endpoint, with the number of its try; null at the end. */
  take(): { endpoint: number; tryNumber: number } | null {
    const { plan, passedOver, triedBelow } = this.#share;
    while (!this.exhausted) {
      const counter = Atomics.add(this.#words, place.next, 1);
      if (counter >= this.#order.length) return null;
      const endpoint = this.#order.at(counter);
      if (endpoint < 0 || isSet(passedOver, endpoint)) continue;
      if (this.isDropped(Math.floor(endpoint / plan.ports.length))) continue;
      // Endpoints in progress at an interruption had a try without a known outcome.
      return { endpoint, tryNumber: counter < triedBelow ? Math.min(2, plan.tries) : 1 };
    }
    return null;
  }

  get stopped(): boolean {
    return Atomics.load(this.#words, place.stop) === 1;
  }

  stop(): void {
    Atomics.store(this.#words, place.stop, 1);
  }

  isDropped(host: number): boolean {
    return (Atomics.load(this.#flags, host) & hostFlag.dropped) !== 0;
  }

  isSlow(host: number): boolean {
    return (Atomics.load(this.#flags, host) & hostFlag.slow) !== 0;
  }

  drop(host: number): void {
    Atomics.or(this.#flags, host, hostFlag.dropped);
  }

  /** @returns false if it was known */
  markSlow(host: number): boolean {
    return (Atomics.or(this.#flags, host, hostFlag.slow) & hostFlag.slow) === 0;
  }
}

/** A chunk on the controlling side. */
export class ConnectChunk {
  readonly plan: ConnectPlan;
  readonly share: ConnectShare;
  readonly walk: SharedPermutation;
  readonly rejections: RejectionTable;
  readonly #settled: Int32Array;
  readonly #open: Uint32Array;
  readonly #closed: Uint32Array;
  readonly #rejected: Uint32Array;
  readonly #unsent: Uint32Array;
  readonly #silent: Uint32Array;
  readonly #late: Uint32Array;
  readonly #openRuns: Uint32Array;
  /** One bit per endpoint. */
  readonly #silentBits: Int32Array;

  constructor(plan: ConnectPlan) {
    const { spared, restored, slow, ...rest } = plan;
    const hostCount = plan.hosts.length / (plan.family === 4 ? 4 : 16);
    const none = () => new Uint32Array(hostCount);
    const counts = restored?.counts;
    this.plan = plan;
    this.rejections = new RejectionTable(hostCount * plan.ports.length, restored?.rejections);
    this.#settled = new Int32Array(Math.ceil((hostCount * plan.ports.length) / 32));
    if (restored) this.#settled.set(new Int32Array(Uint8Array.from(restored.settled).buffer));
    this.#open = counts ? Uint32Array.from(counts.open) : none();
    this.#closed = counts ? Uint32Array.from(counts.closed) : none();
    this.#rejected = counts ? Uint32Array.from(counts.rejected) : none();
    this.#unsent = counts ? Uint32Array.from(counts.unsent) : none();
    this.#silent = this.#settledOf(hostCount);
    for (const host of this.#silent.keys())
      this.#silent[host] = Math.max(0, (this.#silent[host] as number) - this.#responseCount(host));
    this.#late = restored?.late ? Uint32Array.from(restored.late) : none();
    this.#openRuns = none();
    this.#silentBits = new Int32Array(this.#settled.length);
    if (restored?.silent) this.#silentBits.set(new Int32Array(Uint8Array.from(restored.silent).buffer));
    const passedOver = Int32Array.from(this.#settled);
    for (const endpoint of spared) set(passedOver, endpoint);
    const memory = SharedPermutation.memory(hostCount);
    this.share = { plan: rest, memory, passedOver, triedBelow: restored?.counter ?? 0 };
    this.walk = new SharedPermutation(this.share);
    for (const host of slow) this.walk.markSlow(host);
  }

  /**
   * @param outcome a `verdict`
   * @param isLate it responded only to a retry
   * @returns false if it was complete before
   */
  settle(endpoint: number, outcome: number, isLate: boolean): boolean {
    if (isSet(this.#settled, endpoint)) return false;
    set(this.#settled, endpoint);
    const host = Math.floor(endpoint / this.plan.ports.length);
    if (isLate) this.#late[host] = (this.#late[host] as number) + 1;
    if (outcome === verdict.silent) set(this.#silentBits, endpoint);
    const counts = this.#countsOf(outcome);
    if (counts === this.#open) this.#openRuns[host] = (this.#openRuns[host] as number) + 1;
    if (counts === this.#closed) this.#openRuns[host] = 0;
    counts[host] = (counts[host] as number) + 1;
    return true;
  }

  /** `probed` counts complete endpoints. */
  state(): ChunkState {
    const copy = (counts: Uint32Array) => Uint32Array.from(counts);
    const rejections = this.rejections.copy();
    const probed = this.#silent.map((silent, host) => silent + this.#responseCount(host));
    return {
      counter: Math.max(this.walk.counter, this.share.triedBelow),
      settled: new Uint8Array(Int32Array.from(this.#settled).buffer),
      counts: {
        probed,
        open: copy(this.#open),
        closed: copy(this.#closed),
        rejected: copy(this.#rejected),
        unsent: copy(this.#unsent),
      },
      late: copy(this.#late),
      openRuns: copy(this.#openRuns),
      silent: new Uint8Array(Int32Array.from(this.#silentBits).buffer),
      ...(rejections && { rejections }),
    };
  }

  #countsOf(outcome: number): Uint32Array {
    switch (outcome) {
      case verdict.open:
      case verdict.openThenReset:
        return this.#open;
      case verdict.closed:
        return this.#closed;
      case verdict.rejected:
        return this.#rejected;
      case verdict.unsent:
        return this.#unsent;
      default:
        return this.#silent;
    }
  }

  #responseCount(host: number): number {
    const lists = [this.#open, this.#closed, this.#rejected, this.#unsent];
    return lists.reduce((sum, counts) => sum + (counts[host] as number), 0);
  }

  #settledOf(hostCount: number): Uint32Array {
    const { ports } = this.plan;
    return Uint32Array.from({ length: hostCount }, (_, host) => {
      let count = 0;
      for (let at = host * ports.length; at < (host + 1) * ports.length; at++)
        if (isSet(this.#settled, at)) count += 1;
      return count;
    });
  }
}

function isSet(bits: Int32Array, at: number): boolean {
  return ((bits[at >>> 5] as number) & (1 << (at & 31))) !== 0;
}

function set(bits: Int32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] as number) | (1 << (at & 31));
}
