/** Of the time of a shutdown, this is kept for what is stored and closed after the scans, milliseconds. */
const closingMs = 2000;
/** Of that, what comes after the last response, milliseconds. */
const finalMs = 500;
/** Left for each part, however short the time is, milliseconds. */
const leastMs = 100;

/** The time that a shutdown may take, from its beginning. */
export class ShutdownDeadline {
  readonly #timeoutMs: number;
  readonly #startedAt = performance.now();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Milliseconds left for scans to save where they are. */
  get scansMs(): number {
    return this.#leftMs(closingMs);
  }

  /** Milliseconds left for responses under way. */
  get responsesMs(): number {
    return this.#leftMs(finalMs);
  }

  #leftMs(keptMs: number): number {
    return Math.max(leastMs, this.#timeoutMs - (performance.now() - this.#startedAt) - keptMs);
  }
}
