import { onAbort } from '../abort.ts';

/** Share of the rate allowed in one burst; below the promised 5 %, so timer jitter stays inside the promise. */
const burstShare = 0.03;

/** Share of a second's tokens that one request may wait for, so that the next ones do not wait noticeably longer. */
const turnShare = 0.02;

interface Waiter {
  most: number;
  signal: AbortSignal;
  resolve(granted: number): void;
}

/**
 * Token bucket. In any half-open window of one second at most `rate` + 3 % tokens are granted: n tokens span at least
 * (n - burst) / rate seconds, with burst = 3 % of the rate, at least 1. A suspended process does not catch up afterwards.
 * A change of the rate adds no token, so the promise holds across it too.
 * A bucket with an `upstream` grants a token only when the upstream grants one too.
 */
export class PacketRateLimiter {
  /** The highest rate that is ever set, tokens per second. */
  readonly ceiling: number;
  #rate: number;
  #held = false;
  #burst: number;
  #tokens: number;
  #filledAt: number;
  #clock: () => number;
  #upstream: PacketRateLimiter | null;
  #waiters: Waiter[] = [];
  #head = 0;
  #timer: NodeJS.Timeout | null = null;
  #watched = new WeakSet<AbortSignal>();

  /**
   * @param options.rate tokens per second, above 0; `ceiling` if it may rise later. `clock` gives monotonic milliseconds.
   */
  constructor(options: {
    rate: number;
    ceiling?: number;
    clock?: () => number;
    upstream?: PacketRateLimiter | null;
  }) {
    this.ceiling = options.ceiling ?? options.rate;
    this.#rate = options.rate;
    this.#clock = options.clock ?? (() => performance.now());
    this.#upstream = options.upstream ?? null;
    this.#burst = burstOf(options.rate);
    this.#tokens = this.#burst;
    this.#filledAt = this.#clock();
  }

  /** Current tokens per second. */
  get rate(): number {
    return this.#rate;
  }

  /** Whether somebody waits for a token. */
  get isContended(): boolean {
    return this.#waiting > 0;
  }

  /** Changes the rate; 0 = no token until the next change. Waiters keep their position. */
  setRate(rate: number): void {
    this.#fill();
    this.#rate = rate;
    this.#burst = burstOf(rate);
    this.#tokens = Math.min(rate > 0 ? this.#burst : 0, this.#tokens);
    this.#rearm();
  }

  /** Grants nothing until `release`; the time between adds no tokens. */
  hold(): void {
    this.#fill();
    this.#held = true;
    this.#rearm();
  }

  release(): void {
    this.#fill();
    this.#held = false;
    this.#rearm();
  }

  /** Takes a token if one is available and the queue is empty. */
  tryTake(): boolean {
    if (this.#waiting > 0) return false;
    this.#fill();
    if (!this.#flowing || this.#tokens < 1) return false;
    if (this.#upstream && !this.#upstream.tryTake()) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes a token for a packet that is sent regardless of the rate; the next request waits for it. */
  charge(): void {
    this.#fill();
    this.#tokens -= 1;
    this.#upstream?.charge();
  }

  /** Queues for one token; false if the signal aborted first. */
  async take(signal: AbortSignal): Promise<boolean> {
    return (await this.takeUpTo(1, signal)) === 1;
  }

  /** Queues for at least one token and takes up to `most`; 0 if the signal aborted first. */
  async takeUpTo(most: number, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return 0;
    const own = await this.#queue(most, signal);
    if (own === 0 || !this.#upstream) return own;
    const granted = await this.#upstream.takeUpTo(own, signal);
    this.#tokens = Math.min(this.#burst, this.#tokens + own - granted);
    return granted;
  }

  get #waiting(): number {
    return this.#waiters.length - this.#head;
  }

  get #flowing(): boolean {
    return !this.#held && this.#rate > 0;
  }

  #queue(most: number, signal: AbortSignal): Promise<number> {
    this.#fill();
    if (this.#waiting === 0 && this.#flowing && this.#tokens >= 1) return Promise.resolve(this.#grant(most));
    this.#watch(signal);
    return new Promise((resolve) => {
      this.#waiters.push({ most, signal, resolve });
      this.#arm();
    });
  }

  /**
   * Tokens the first waiter waits for. A request for many at once would otherwise get a single one per turn, as much
   * as each of the hundreds that request one: an echo sweep would starve beside a port sweep.
   */
  #fairShare({ most }: Waiter): number {
    return Math.max(1, Math.min(most, Math.floor(this.#rate * turnShare), this.#burst));
  }

  #grant(most: number): number {
    const granted = Math.min(most, Math.floor(this.#tokens));
    this.#tokens -= granted;
    return granted;
  }

  #fill(): void {
    const now = this.#clock();
    const added = this.#flowing ? ((now - this.#filledAt) * this.#rate) / 1000 : 0;
    this.#tokens = Math.min(this.#burst, this.#tokens + added);
    this.#filledAt = now;
  }

  #rearm(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#arm();
  }

  /** One timer serves all waiters; it wakes as many as there are tokens, at most once a millisecond. */
  #arm(): void {
    if (this.#timer || this.#waiting === 0 || !this.#flowing) return;
    const wanted = this.#fairShare(this.#waiters[this.#head] as Waiter);
    const wait = Math.max(1, Math.ceil(((wanted - this.#tokens) * 1000) / this.#rate));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#wake();
    }, wait);
  }

  #wake(): void {
    this.#fill();
    while (this.#waiting > 0) {
      const waiter = this.#waiters[this.#head] as Waiter;
      if (!waiter.signal.aborted && this.#tokens < this.#fairShare(waiter)) break;
      this.#head += 1;
      waiter.resolve(waiter.signal.aborted ? 0 : this.#grant(waiter.most));
    }
    this.#compact();
    this.#arm();
  }

  #compact(): void {
    if (this.#head < 1024 && this.#head < this.#waiters.length) return;
    this.#waiters.splice(0, this.#head);
    this.#head = 0;
  }

  /** One abort listener per signal removes all its waiters. */
  #watch(signal: AbortSignal): void {
    if (this.#watched.has(signal)) return;
    this.#watched.add(signal);
    onAbort(signal, () => {
      const left = this.#waiters.slice(this.#head);
      this.#waiters = left.filter((waiter) => waiter.signal !== signal);
      this.#head = 0;
      for (const waiter of left) if (waiter.signal === signal) waiter.resolve(0);
    });
  }
}

function burstOf(rate: number): number {
  return Math.max(1, Math.floor(rate * burstShare));
}
