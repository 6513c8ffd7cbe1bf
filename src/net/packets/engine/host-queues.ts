/** Time whose packets one host may get at once, milliseconds: more would be a burst. */
const burstMs = 10;

/**
 * What the single hosts of a chunk may get now, and the endpoints that wait until theirs may. Memory is allocated once:
 * this runs for every packet.
 */
export class HostQueues {
  /** Packets per second that each host may get; written by another thread. */
  readonly #rates: Uint32Array;
  readonly #tokens: Float64Array;
  readonly #filledAt: Float64Array;
  /** The queues are lists: endpoint + 1, 0 = none. */
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  readonly #next: Int32Array;
  /** Hosts with a queue, in the first `#queues` places. */
  readonly #waiting: Int32Array;
  #queues = 0;
  #size = 0;

  /** @param now milliseconds */
  constructor(rates: Uint32Array, endpoints: number, now: number) {
    const hosts = rates.length;
    this.#rates = rates;
    this.#tokens = new Float64Array(hosts).fill(1);
    this.#filledAt = new Float64Array(hosts).fill(now);
    this.#first = new Int32Array(hosts);
    this.#last = new Int32Array(hosts);
    this.#next = new Int32Array(endpoints);
    this.#waiting = new Int32Array(hosts);
  }

  /** Endpoints that wait. */
  get size(): number {
    return this.#size;
  }

  /** No host may get more now: every one has its queue. */
  get isFull(): boolean {
    return this.#queues === this.#first.length;
  }

  /** Hosts with a queue. */
  get queues(): number {
    return this.#queues;
  }

  /** @param at 0 to `queues` - 1 */
  queuedHost(at: number): number {
    return this.#waiting[at] as number;
  }

  hasQueue(host: number): boolean {
    return this.#first[host] !== 0;
  }

  /** Takes a packet of what the host may get. */
  take(host: number, now: number): boolean {
    const rate = this.#rates[host] as number;
    const added = ((now - (this.#filledAt[host] as number)) * rate) / 1000;
    const most = Math.max(1, (rate * burstMs) / 1000);
    const tokens = Math.min(most, (this.#tokens[host] as number) + added);
    this.#filledAt[host] = now;
    this.#tokens[host] = tokens < 1 ? tokens : tokens - 1;
    return tokens >= 1;
  }

  push(host: number, endpoint: number): void {
    const last = this.#last[host] as number;
    if (last === 0) {
      this.#first[host] = endpoint + 1;
      this.#waiting[this.#queues] = host;
      this.#queues += 1;
    } else this.#next[last - 1] = endpoint + 1;
    this.#last[host] = endpoint + 1;
    this.#next[endpoint] = 0;
    this.#size += 1;
  }

  /** The next endpoint of a host with a queue. */
  peek(host: number): number {
    return (this.#first[host] as number) - 1;
  }

  /**
   * Removes what `peek` shows of the host at this place.
   * @returns whether the host has more; if not, another one takes its place
   */
  drop(at: number): boolean {
    const host = this.#waiting[at] as number;
    const next = this.#next[(this.#first[host] as number) - 1] as number;
    this.#first[host] = next;
    this.#size -= 1;
    if (next !== 0) return true;
    this.#last[host] = 0;
    this.#queues -= 1;
    this.#waiting[at] = this.#waiting[this.#queues] as number;
    return false;
  }
}
