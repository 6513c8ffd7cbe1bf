import { AdaptiveConcurrency, leastConcurrency, mostConcurrency } from '../../net/adaptive/concurrency.ts';
import type { PortObservation } from '../../net/gate/gate.ts';
import { loopClock } from '../../net/loop-clock.ts';

interface LaneOptions {
  /** Lanes; 0 = as this machine bears. */
  concurrency: number;
  /** Packets per second: more lanes than that would only wait for it. */
  rate: number;
}

/** Lanes of a sweep: each probes one port after the other. */
export class SweepLanes {
  readonly #fixed: number;
  readonly #adaptive: AdaptiveConcurrency | null;
  #running = 0;
  #ended = false;
  #problem: unknown = null;

  constructor({ concurrency, rate }: LaneOptions) {
    const most = Math.min(mostConcurrency, Math.max(leastConcurrency, rate));
    this.#fixed = concurrency;
    this.#adaptive =
      concurrency === 0 ? new AdaptiveConcurrency({ most, lostMs: () => loopClock.lostMs }) : null;
  }

  /**
   * @param step probes the next port; null = there are no more
   * @returns the first error, or null
   */
  async run(step: () => Promise<PortObservation | null>): Promise<unknown> {
    const releaseClock = loopClock.use();
    await new Promise<void>((resolve) => this.#start(step, resolve));
    releaseClock();
    return this.#problem;
  }

  get #limit(): number {
    return this.#adaptive?.limit ?? this.#fixed;
  }

  #start(step: () => Promise<PortObservation | null>, onEnd: () => void): void {
    while (this.#running < this.#limit && !this.#ended) {
      this.#running += 1;
      void this.#lane(step, onEnd);
    }
  }

  async #lane(step: () => Promise<PortObservation | null>, onEnd: () => void): Promise<void> {
    try {
      while (this.#running <= this.#limit) {
        const observation = await step();
        if (observation === null) {
          this.#ended = true;
          break;
        }
        if (!this.#adaptive) continue;
        // Silence is the usual end here: only this machine sets the limit, and the rate protects the targets.
        this.#adaptive.note(observation.reason.startsWith('local error') ? 'shortage' : 'good', true);
        this.#start(step, onEnd);
      }
    } catch (error) {
      this.#problem ??= error;
      this.#ended = true;
    }
    this.#running -= 1;
    if (this.#running === 0) onEnd();
  }
}
