import type { PacketRateLimiter } from '../gate/rate.ts';

/** Part of a second's packets that is handed over at a time; twice as much may lie there unused. */
const creditShare = 0.005;

/** Least time between two handovers, milliseconds: one packet at a time would cost more than the packet. */
const betweenMs = 2;

export interface Credits {
  /** 0 = the signal aborted. */
  count: number;
  /** At so many left, more are wanted. */
  lowWater: number;
}

/** Permission to send for threads that cannot ask the rate for each packet: some milliseconds of it at a time. */
export class CreditFeed {
  readonly #rate: PacketRateLimiter;
  readonly #signal: AbortSignal;
  /** performance.now() of the last handover. */
  #fedAt = Number.NEGATIVE_INFINITY;

  constructor(rate: PacketRateLimiter, signal: AbortSignal) {
    this.#rate = rate;
    this.#signal = signal;
  }

  /** Waits for the next ones. @param perSecond what the threads may do in a second, when that is less than the rate */
  async next(perSecond = this.#rate.rate): Promise<Credits> {
    const most = Math.max(1, Math.floor(Math.min(perSecond, this.#rate.rate) * creditShare));
    const early = this.#fedAt + betweenMs - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(early)));
    const count = await this.#rate.takeUpTo(most, this.#signal);
    this.#fedAt = performance.now();
    return { count, lowWater: Math.floor(most / 2) };
  }
}
