import type { PacketRateLimiter } from '../../gate/rate.ts';

/** Share of a second's packets granted at a time; at most twice as much stays unused. */
const creditShare = 0.005;

/** Minimum interval between two grants, milliseconds: granting single packets would cost more than sending them. */
const betweenMs = 2;

export interface Credits {
  /** 0 = the signal aborted. */
  count: number;
  /** Remaining credits at which more are requested. */
  lowWater: number;
}

/** Credits for threads that cannot take a token per packet: some milliseconds of the rate at a time. */
export class CreditFeed {
  readonly #rate: PacketRateLimiter;
  readonly #signal: AbortSignal;
  /** performance.now() of the last grant. */
  #fedAt = Number.NEGATIVE_INFINITY;

  constructor(rate: PacketRateLimiter, signal: AbortSignal) {
    this.#rate = rate;
    this.#signal = signal;
  }

  /** Waits for the next credits. @param perSecond capacity of the threads, if below the rate */
  async next(perSecond = this.#rate.rate): Promise<Credits> {
    const most = Math.max(1, Math.floor(Math.min(perSecond, this.#rate.rate) * creditShare));
    const early = this.#fedAt + betweenMs - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(early)));
    const count = await this.#rate.takeUpTo(most, this.#signal);
    this.#fedAt = performance.now();
    return { count, lowWater: Math.floor(most / 2) };
  }
}
