/** Where it starts, and what it never goes below: what every machine and target bears. */
export const leastConcurrency = 100;

/** Most connections at a time, unless a number was requested. */
export const mostConcurrency = 1000;

/** How one piece of work ended: well, by a shortage of this machine, or because the target did not respond. */
export type WorkEnd = 'good' | 'shortage' | 'lost';

/** Ends that are judged together. */
const windowSize = 50;

/** Share of lost ends, above that of the best window, that calls for less. */
const lossMargin = 0.1;

/** Interval at which the load of this machine is read, milliseconds. */
const loadIntervalMs = 250;

/** Share of the time in which the event loop could not run: from the first on no growth, from the second on less. */
const busyShare = 0.25;
const overloadShare = 0.5;

/** Time after a decrease in which ends say nothing about the new limit, milliseconds. */
const settleMs = 1000;

export interface ConcurrencyInput {
  /** Upper bound; below `leastConcurrency` it is the limit. */
  most: number;
  /** Milliseconds in which the event loop could not run, in all. */
  lostMs(): number;
  /** Monotonic milliseconds. */
  clock?: () => number;
}

/**
 * The number of connections at a time that this machine and its targets bear. It doubles while work ends well, halves
 * where this machine is short of something or busy, or where targets respond less than before, and then grows slowly.
 */
export class AdaptiveConcurrency {
  readonly #input: ConcurrencyInput;
  readonly #clock: () => number;
  readonly #least: number;
  #limit: number;
  /** Below it the limit doubles; above it grows by one for as many good ends. */
  #threshold: number;
  /** Good ends since the last growth above the threshold. */
  #credit = 0;
  #ends = 0;
  #lost = 0;
  /** Smallest share of lost ends in a window so far: what the targets show without any pressure. */
  #usualLoss = 1;
  #settledAt = 0;
  #load: { at: number; lostMs: number };
  #isBusy = false;

  constructor(input: ConcurrencyInput) {
    this.#input = input;
    this.#clock = input.clock ?? (() => performance.now());
    this.#least = Math.min(leastConcurrency, input.most);
    this.#limit = this.#least;
    this.#threshold = input.most;
    this.#load = { at: this.#clock(), lostMs: input.lostMs() };
  }

  /** Most pieces of work at a time. */
  get limit(): number {
    return this.#limit;
  }

  /** Called at each end. @param waiting more work waits for the limit; otherwise there is no reason to grow */
  note(end: WorkEnd, waiting: boolean): void {
    this.#readLoad();
    if (end === 'shortage') return this.#decrease();
    this.#ends += 1;
    if (end === 'lost') this.#lost += 1;
    if (this.#ends >= windowSize) this.#judge();
    if (end === 'good' && waiting && !this.#isBusy) this.#grow();
  }

  #grow(): void {
    if (this.#limit >= this.#input.most) return;
    if (this.#limit < this.#threshold) {
      this.#limit += 1;
      return;
    }
    this.#credit += 1;
    if (this.#credit < this.#limit) return;
    this.#credit = 0;
    this.#limit += 1;
  }

  #judge(): void {
    const loss = this.#lost / this.#ends;
    this.#ends = 0;
    this.#lost = 0;
    if (loss > this.#usualLoss + lossMargin) this.#decrease();
    this.#usualLoss = Math.min(this.#usualLoss, loss);
  }

  #readLoad(): void {
    const now = this.#clock();
    const ms = now - this.#load.at;
    if (ms < loadIntervalMs) return;
    const lostMs = this.#input.lostMs();
    const share = (lostMs - this.#load.lostMs) / ms;
    this.#load = { at: now, lostMs };
    this.#isBusy = share >= busyShare;
    if (share >= overloadShare) this.#decrease();
  }

  #decrease(): void {
    const now = this.#clock();
    if (now < this.#settledAt) return;
    this.#settledAt = now + settleMs;
    this.#limit = Math.max(this.#least, Math.floor(this.#limit / 2));
    this.#threshold = this.#limit;
    this.#credit = 0;
  }
}
