import type { Config } from '../../config/schema.ts';

/** With fewer busy workers than there are for this long, the rest go. */
const idleMs = 30_000;

/**
 * How many workers there are. Without `workers.auto_scale` it is `server.workers`; with it the number grows with the
 * queue up to `workers.max` and, when there is less to do, goes back down to `workers.min`.
 */
export class WorkerScale {
  readonly #min: number;
  readonly #max: number;
  readonly #clock: () => number;
  #size: number;
  /** Since when not all were busy. */
  #idleSince: number | null = null;

  /** @param clock monotonic milliseconds */
  constructor({ server, workers }: Config, clock: () => number = () => performance.now()) {
    this.#size = server.workers;
    this.#min = workers.auto_scale ? workers.min : server.workers;
    this.#max = workers.auto_scale ? workers.max : server.workers;
    this.#clock = clock;
  }

  get size(): number {
    return this.#size;
  }

  /** How many there can be. */
  get most(): number {
    return this.#max;
  }

  /** Follows the number of busy workers, at every look at the queue. */
  follow(busy: number): void {
    const now = this.#clock();
    if (busy >= this.#size) {
      this.#idleSince = null;
      this.#size = Math.max(this.#min, Math.min(busy, this.#max));
      return;
    }
    this.#idleSince ??= now;
    if (now - this.#idleSince < idleMs) return;
    this.#idleSince = null;
    this.#size = Math.max(this.#min, busy);
  }
}
