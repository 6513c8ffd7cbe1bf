import type { Config } from '../../config/schema.ts';

/** Unneeded workers are removed after this time, milliseconds. */
const idleMs = 30_000;

/**
 * Number of workers. Without `workers.auto_scale` it is `server.workers`; with it the number grows with the queue up
 * to `workers.max`, and shrinks to `workers.min` when there is less to do.
 */
export class WorkerScale {
  readonly #min: number;
  readonly #max: number;
  readonly #clock: () => number;
  #size: number;
  /** Since when not all workers are busy; null while all are. */
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

  /** Upper limit of the number. */
  get most(): number {
    return this.#max;
  }

  /** Adapts to the number of busy workers, at every poll of the queue. */
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
