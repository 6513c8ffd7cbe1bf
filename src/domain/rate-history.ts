import type { RateHistory } from './scan.ts';

/** Maximum number of intervals: as many as a chart has columns. */
const maxIntervals = 240;

/** Collects rates into intervals of equal length, which doubles whenever there would be too many. */
export class RateRecorder {
  readonly #from: number;
  #intervalMs: number;
  #values: number[];
  /** Samples in the last interval. */
  #samples = 1;

  /** @param earlier of earlier runs @param now epoch milliseconds */
  constructor(earlier: RateHistory | null, now: number) {
    this.#from = earlier === null ? now : Math.min(now, Date.parse(earlier.from));
    this.#intervalMs = (earlier?.interval_seconds ?? 1) * 1000;
    this.#values = [...(earlier?.values ?? [])];
  }

  /** @param now epoch milliseconds; the time since the last sample counts as silence */
  add(rate: number, now: number): void {
    const last = this.#values.length - 1;
    const index = Math.max(last, 0, Math.floor((now - this.#from) / this.#intervalMs));
    if (index >= maxIntervals) {
      this.#double();
      return this.add(rate, now);
    }
    if (index > last) {
      while (this.#values.length < index) this.#values.push(0);
      this.#values.push(rate);
      this.#samples = 1;
      return;
    }
    this.#samples += 1;
    const mean = this.#values[last] as number;
    this.#values[last] = mean + (rate - mean) / this.#samples;
  }

  get history(): RateHistory {
    return {
      interval_seconds: this.#intervalMs / 1000,
      from: new Date(this.#from).toISOString(),
      values: this.#values.map((value) => Math.round(value)),
    };
  }

  #double(): void {
    const pairs = Array.from({ length: Math.ceil(this.#values.length / 2) }, (_, index) =>
      this.#values.slice(2 * index, 2 * index + 2),
    );
    this.#values = pairs.map((pair) => pair.reduce((sum, value) => sum + value, 0) / pair.length);
    this.#intervalMs *= 2;
    this.#samples = 1;
  }
}
