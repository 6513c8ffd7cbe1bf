import type { AdaptiveRate } from './rate.ts';

/**
 * Tries beyond the retries while an adaptive rate may have been too high for them, where retries brought responses; and their
 * number at the most, as a share of the ports.
 */
export const furtherTries = 3;
export const furtherShare = 0.1;

/** Interval at which they are looked at, milliseconds: a first attempt is waited for almost as long. */
const lookMs = 1000;
/** Number that shows a loss, and its share of all responses. */
const leastLate = 3;
const leastShare = 0.1;

/** Responses to further attempts to connect: the first ones were lost, at a rate that may be over by now. */
export class LateResponses {
  readonly #rate: AdaptiveRate;
  #from: number;
  #until: number;
  #first = 0;
  #late = 0;

  /** @param now monotonic milliseconds of the clock of the rate, as in all calls */
  constructor(rate: AdaptiveRate, now: number) {
    this.#rate = rate;
    this.#from = now;
    this.#until = now + lookMs;
  }

  /** Responses to first attempts. */
  noteFirst(count: number): void {
    this.#first += count;
  }

  noteLate(count: number, now: number): void {
    if (now >= this.#from) this.#late += count;
  }

  /** Called every few milliseconds. */
  tick(now: number): void {
    if (now < this.#until) return;
    const isLoss = this.#late >= leastLate && this.#late > leastShare * (this.#first + this.#late);
    // The next second shows what was lost before.
    this.#from = isLoss && this.#rate.trouble() === 'slowed' ? now + lookMs : now;
    this.#until = this.#from + lookMs;
    this.#first = 0;
    this.#late = 0;
  }
}
