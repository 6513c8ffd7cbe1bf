/** Part of a shutdown reserved for storing and closing after the scans, milliseconds. */
const closingMs = 2000;
/** Part of `closingMs` after the last response, milliseconds. */
const finalMs = 500;
/** Minimum for each part, milliseconds. */
const leastMs = 100;

/** Time budget of a shutdown, from its start. */
export class ShutdownDeadline {
  readonly #timeoutMs: number;
  readonly #startedAt = performance.now();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Milliseconds left for scans to save their checkpoints. */
  get scansMs(): number {
    return this.#leftMs(closingMs);
  }

  /** Milliseconds left for pending responses. */
  get responsesMs(): number {
    return this.#leftMs(finalMs);
  }

  #leftMs(keptMs: number): number {
    return Math.max(leastMs, this.#timeoutMs - (performance.now() - this.#startedAt) - keptMs);
  }
}
