/** Mean growth of a counter over the last seconds. */
export class RateWindow {
  readonly #windowMs: number;
  #samples: { at: number; value: number }[] = [];

  /** @param windowMs length of the window, milliseconds */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** @param at monotonic milliseconds */
  add(value: number, at: number): void {
    this.#samples.push({ at, value });
    const first = this.#samples.findIndex((sample) => at - sample.at <= this.#windowMs);
    if (first > 0) this.#samples = this.#samples.slice(first);
  }

  /** Starts anew, after a time that does not count. */
  clear(): void {
    this.#samples = [];
  }

  /** Length of what it has, milliseconds. */
  get spanMs(): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    return first && last ? last.at - first.at : 0;
  }

  /** Growth per second; 0 without two samples. */
  get perSecond(): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.at === first.at) return 0;
    return (Math.max(0, last.value - first.value) / (last.at - first.at)) * 1000;
  }
}
