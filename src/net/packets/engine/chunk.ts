import type { Family } from '../../../domain/targets/address.ts';
import { EndpointOrder } from '../frame/endpoint-order.ts';
import type { PermutationKey } from '../frame/permutation.ts';
import { stackWords } from '../frame/stack-traits.ts';
import { ChunkMemory } from './chunk-memory.ts';
import { HostRates, type RatePlan } from './host-rates.ts';
import { type RejectionState, RejectionTable } from './rejection-table.ts';

/** Maximum number of endpoints per chunk: a bit of each goes into every checkpoint. */
export const maxChunkEndpoints = 2 ** 18;
/** Maximum number of hosts per chunk. */
export const maxChunkHosts = 4096;
/** In a reported open endpoint: its SYN/ACK had window 0. */
export const zeroWindowBit = 2 ** 31;

/** How probes of a chunk are sent. */
export type Rung = 'frame' | 'ip';

/** A chunk: the same ports of some hosts that share a path. */
export interface ChunkPlan {
  id: number;
  family: Family;
  /** 4 or 16 bytes per host. */
  hosts: Uint8Array;
  ports: Uint16Array;
  /** Number of ports, from the first on, that are probed before the others. */
  leading?: number | undefined;
  /** `frame`: Ethernet frames by a packet socket; `ip`: packets that the kernel routes, by a raw socket. */
  rung: Rung;
  /** Index of the interface. */
  link: number;
  /** Own address, 4 or 16 bytes. */
  source: Uint8Array;
  /** Own MAC, for frames. */
  ownMac: Uint8Array | null;
  /** For frames: the MAC of each host's next hop, 6 bytes per host. */
  macs: Uint8Array | null;
  /** Tries for an endpoint that does not respond, at least 1. */
  tries: number;
  /** Maximum packets per second to one host; 0 = no limit. */
  hostRate: number;
  /** Set if the rate of each host adapts to its responses. */
  adaptive?: RatePlan | undefined;
  /** Further tries, as long as the one before brought responses: an adaptive rate loses packets while it learns. */
  furtherTries?: number | undefined;
  key: PermutationKey;
  waits: ChunkWaits;
  /** Only tests which hosts are up: one that has responded gets no further probe. */
  untilAnswer?: boolean;
  /** Endpoints to skip: those of this server. */
  spared: Uint32Array;
  /** Progress of an interrupted sweep of the same chunk. */
  restored: ChunkState | null;
}

/** Timeouts of responses, milliseconds. */
export interface ChunkWaits {
  /** Minimum wait before silent endpoints are retried, if the round trip is known to be short. */
  between: number;
  /** Minimum wait after the last try. */
  final: number;
  /** Longest wait, also used as long as nothing has responded. */
  most: number;
  /** The round trips of all hosts are known: `final` suffices for each of them. */
  known?: boolean;
}

/** Progress of a chunk. */
export interface ChunkState {
  /**
   * Number of visited positions of the order, summed over all tries: a resumed sweep continues there. The last
   * try leaves out those whose response may still arrive; no further try would probe them again.
   */
  counter: number;
  /** One bit per complete endpoint. */
  settled: Uint8Array;
  /** Per host. */
  counts: ChunkCounts;
  /** Of the hosts that responded since the engine started the chunk, as read by `stackAt`; only at its end. */
  stacks?: Uint32Array;
  /** Per host: endpoints that responded only to a retry. */
  late?: Uint32Array;
  /** Per host: endpoints that were open since the last closed one responded; only at its end. */
  openRuns?: Uint32Array;
  /** One bit per endpoint that was passed over, because its host was to get less at that time. */
  waiting?: Uint8Array;
  /** One bit per endpoint that stayed silent, if those count as complete too (connections). */
  silent?: Uint8Array;
  /** By what endpoints were rejected, if any was. */
  rejections?: RejectionState;
}

/** Endpoints of each host by outcome. Probed ones in no other class stayed silent. */
export interface ChunkCounts {
  probed: Uint32Array;
  open: Uint32Array;
  closed: Uint32Array;
  /** Unreachable by an ICMP error. */
  rejected: Uint32Array;
  /** Could not be sent. */
  unsent: Uint32Array;
}

/** Indices of the control words of a chunk. */
export const word = {
  /** 1 = stop. */
  stop: 0,
  /** Number of complete endpoints. */
  settled: 1,
  /** `counter` of the state. */
  counter: 2,
  /** Current try, from 1. */
  try: 3,
  /** Packets since the engine started the chunk; it wraps around. */
  sent: 4,
  /** 1 = the endpoints of the leading ports have been visited. */
  isPastHead: 5,
} as const;
const words = 8;

/** Memory of a chunk shared by sender and receiver. */
export class Chunk {
  readonly plan: ChunkPlan;
  readonly memory: SharedArrayBuffer;
  readonly hostCount: number;
  readonly endpoints: number;
  readonly order: EndpointOrder;
  /** Positions of the order in one try. */
  readonly walkLength: number;
  readonly control: Int32Array;
  /** One bit per endpoint: host index x ports + port index. */
  readonly settled: Int32Array;
  readonly counts: ChunkCounts;
  /** Per host: endpoints that responded only to a retry. */
  readonly late: Uint32Array;
  /** Per host: endpoints that were open since the last closed one responded. */
  readonly openRuns: Uint32Array;
  /** TCP characteristics from the first SYN/ACK of each host. */
  readonly stacks: Uint32Array;
  /** 1 = send nothing more to this host. */
  readonly dropped: Uint8Array;
  /** When the last probe of each endpoint was sent, in units of `sentTick`. */
  readonly sentAt: Uint8Array;
  /** Only if the rate of each host adapts. */
  readonly hostRates: HostRates | null;
  /** Of the thread that notes them. */
  readonly rejections: RejectionTable;

  /** @param memory that of the same chunk in another thread, or where a new chunk gets its own */
  constructor(plan: ChunkPlan, memory: SharedArrayBuffer | ChunkMemory = new ChunkMemory()) {
    const addressBytes = plan.family === 4 ? 4 : 16;
    this.plan = plan;
    this.hostCount = plan.hosts.length / addressBytes;
    this.endpoints = this.hostCount * plan.ports.length;
    this.rejections = new RejectionTable(this.endpoints, plan.restored?.rejections);
    const { ports, leading = 0, key } = plan;
    this.order = new EndpointOrder({ hosts: this.hostCount, ports: ports.length, leading }, key);
    this.walkLength = this.order.length;
    const bitWords = Math.ceil(this.endpoints / 32);
    const own = 4 * (words + bitWords + (7 + stackWords) * this.hostCount) + this.hostCount + this.endpoints;
    const ratesAt = 4 * Math.ceil(own / 4);
    const size = ratesAt + (plan.adaptive ? HostRates.bytes(this.hostCount, this.endpoints) : 0);
    const isNew = memory instanceof ChunkMemory;
    this.memory = isNew ? memory.take(size) : memory;
    let at = 0;
    const ints = (length: number) => new Int32Array(this.memory, (at += 4 * length) - 4 * length, length);
    const counts = () =>
      new Uint32Array(this.memory, (at += 4 * this.hostCount) - 4 * this.hostCount, this.hostCount);
    this.control = ints(words);
    this.settled = ints(bitWords);
    this.counts = {
      probed: counts(),
      open: counts(),
      closed: counts(),
      rejected: counts(),
      unsent: counts(),
    };
    this.late = counts();
    this.openRuns = counts();
    this.stacks = new Uint32Array(this.memory, at, stackWords * this.hostCount);
    at += this.stacks.byteLength;
    this.dropped = new Uint8Array(this.memory, at, this.hostCount);
    this.sentAt = new Uint8Array(this.memory, at + this.hostCount, this.endpoints);
    this.hostRates = plan.adaptive
      ? new HostRates(this.memory, ratesAt, this.hostCount, this.endpoints)
      : null;
    if (isNew) this.#restore();
  }

  isSettled(endpoint: number): boolean {
    return ((this.settled[endpoint >>> 5] as number) & (1 << (endpoint & 31))) !== 0;
  }

  /** @returns false if it was complete before */
  settle(endpoint: number): boolean {
    const bit = 1 << (endpoint & 31);
    if ((Atomics.or(this.settled, endpoint >>> 5, bit) & bit) !== 0) return false;
    Atomics.add(this.control, word.settled, 1);
    return true;
  }

  /** @param counter as in the state; at the end of the last try it still belongs to that try */
  tryAt(counter: number): number {
    const tries = this.plan.tries + (this.plan.furtherTries ?? 0);
    return Math.min(tries, Math.floor(counter / this.walkLength) + 1);
  }

  /** Milliseconds, modulo 2048, from the last probe of an endpoint to a time of `clockMs`. */
  sinceSent(endpoint: number, now: number): number {
    return ((sentTick(now) - (this.sentAt[endpoint] as number)) & 0xff) * 8;
  }

  /** Differs once the state has changed. */
  get progress(): string {
    const { control } = this;
    return [word.counter, word.settled, word.sent].map((at) => Atomics.load(control, at)).join(' ');
  }

  state(): ChunkState {
    const copy = (counts: Uint32Array) => Uint32Array.from(counts);
    const { probed, open, closed, rejected, unsent } = this.counts;
    const rejections = this.rejections.copy();
    const counter = Atomics.load(this.control, word.counter);
    return {
      counter,
      settled: bytesOf(Int32Array.from(this.settled)),
      counts: {
        probed: copy(probed),
        open: copy(open),
        closed: copy(closed),
        rejected: copy(rejected),
        unsent: copy(unsent),
      },
      late: copy(this.late),
      ...(rejections && { rejections }),
      ...(this.hostRates && { waiting: bytesOf(Int32Array.from(this.hostRates.waiting)) }),
    };
  }

  #restore(): void {
    const { restored, spared, adaptive } = this.plan;
    if (adaptive) this.hostRates?.rates.set(adaptive.starts);
    if (restored) {
      this.settled.set(new Int32Array(Uint8Array.from(restored.settled).buffer));
      if (restored.waiting)
        this.hostRates?.waiting.set(new Int32Array(Uint8Array.from(restored.waiting).buffer));
      for (const name of ['open', 'closed', 'rejected', 'unsent'] as const)
        this.counts[name].set(restored.counts[name]);
      if (restored.late) this.late.set(restored.late);
      this.control[word.counter] = restored.counter;
      this.control[word.try] = this.tryAt(restored.counter);
      this.control[word.isPastHead] = restored.counter >= this.order.head ? 1 : 0;
      this.#countProbed(Math.min(restored.counter, this.walkLength), this.tryAt(restored.counter) === 1);
    }
    if (this.plan.untilAnswer) {
      for (let host = 0; host < this.hostCount; host++)
        if (this.counts.open[host] !== 0 || this.counts.closed[host] !== 0) this.dropped[host] = 1;
    }
    let settled = 0;
    for (const bits of this.settled) settled += ones(bits);
    this.control[word.settled] = settled;
    for (const endpoint of spared) this.settle(endpoint);
  }

  /** Counted from the permutation itself: the sender runs ahead of the counter it publishes. */
  #countProbed(counter: number, isFirstTry: boolean): void {
    const { ports, spared } = this.plan;
    const left = new Set(spared);
    for (let at = 0; at < counter; at++) {
      const endpoint = this.order.at(at);
      if (endpoint >= 0 && !left.has(endpoint) && !(isFirstTry && this.hostRates?.isWaiting(endpoint)))
        (this.counts.probed[Math.floor(endpoint / ports.length)] as number)++;
    }
  }
}

export function buffersOf(state: ChunkState): ArrayBuffer[] {
  const { settled, waiting, late, openRuns, stacks, rejections, counts } = state;
  const arrays = [settled, waiting, late, openRuns, stacks, rejections?.of, ...Object.values(counts)];
  return arrays.flatMap((array) => (array ? [array.buffer as ArrayBuffer] : []));
}

function bytesOf({ buffer }: Int32Array<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer);
}

function ones(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** A time of `clockMs` as one byte: units of 8 ms, modulo 256. */
export function sentTick(ms: number): number {
  return (ms >>> 3) & 0xff;
}

/** Milliseconds of the monotonic clock shared by all threads, low 31 bits. */
export function clockMs(): number {
  return Number((process.hrtime.bigint() / 1_000_000n) & 0x7fffffffn);
}
