import type { RateBounds } from '../../adaptive/rate.ts';

/** How the rates of the hosts of a chunk adapt. */
export interface RatePlan {
  bounds: RateBounds;
  /** Packets per second that each host starts with. */
  starts: Uint32Array;
}

/** Bits of a mark: parity of the round of the host, and of that of the engine. */
export const markBits = { host: 1, engine: 2 } as const;

/**
 * Memory shared by the threads that send, receive and adapt the rates. Counts are cumulative, one for each parity of
 * rounds, and have one writer each, so that none is lost. The last ones of `sent` and `responses` belong to the rounds
 * of the engine.
 */
export class HostRates {
  /** By 2 x host + parity: probes of the first try. */
  readonly sent: Uint32Array;
  /** By 2 x host + parity: responses to them. */
  readonly responses: Uint32Array;
  /** Packets per second that each host may get. */
  readonly rates: Uint32Array;
  /** One bit per endpoint that was passed over and waits for its host. */
  readonly waiting: Int32Array;
  /** Of the current round of each host. */
  readonly parities: Uint8Array;
  /** Per endpoint: `markBits` of its probe. */
  readonly marks: Uint8Array;

  /** @param at a multiple of 4 */
  constructor(memory: SharedArrayBuffer, at: number, hosts: number, endpoints: number) {
    const counters = 2 * (hosts + 1);
    const bitWords = Math.ceil(endpoints / 32);
    this.sent = new Uint32Array(memory, at, counters);
    this.responses = new Uint32Array(memory, at + 4 * counters, counters);
    this.rates = new Uint32Array(memory, at + 8 * counters, hosts);
    this.waiting = new Int32Array(memory, at + 8 * counters + 4 * hosts, bitWords);
    const bytesAt = at + 8 * counters + 4 * (hosts + bitWords);
    this.parities = new Uint8Array(memory, bytesAt, hosts);
    this.marks = new Uint8Array(memory, bytesAt + hosts, endpoints);
  }

  static bytes(hosts: number, endpoints: number): number {
    return 16 * (hosts + 1) + 4 * (hosts + Math.ceil(endpoints / 32)) + hosts + endpoints;
  }

  /** @param parity of the rounds of the engine */
  noteSent(endpoint: number, host: number, parity: number): void {
    const own = this.parities[host] as number;
    this.marks[endpoint] = own * markBits.host + parity * markBits.engine;
    (this.sent[2 * host + own] as number)++;
    (this.sent[this.sent.length - 2 + parity] as number)++;
  }

  noteResponse(endpoint: number, host: number): void {
    const mark = this.marks[endpoint] as number;
    (this.responses[2 * host + (mark & 1)] as number)++;
    (this.responses[this.responses.length - 2 + (mark >> 1)] as number)++;
  }

  isWaiting(endpoint: number): boolean {
    return ((this.waiting[endpoint >>> 5] as number) & (1 << (endpoint & 31))) !== 0;
  }

  setWaiting(endpoint: number, waits: boolean): void {
    const bit = 1 << (endpoint & 31);
    const word = this.waiting[endpoint >>> 5] as number;
    this.waiting[endpoint >>> 5] = waits ? word | bit : word & ~bit;
  }
}
