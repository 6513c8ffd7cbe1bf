import { RateRecorder } from '../../domain/rate-history.ts';
import type { RateHistory } from '../../domain/scan.ts';

/** Interval of the samples, milliseconds: otherwise each poll of the shards would be a change. */
const sampleMs = 1000;

/** History of the rate of a scan in shards. */
export class SampledRates {
  readonly #recorder: RateRecorder;
  #sampledAt = Number.NEGATIVE_INFINITY;

  /** @param earlier of earlier runs */
  constructor(earlier: RateHistory | null) {
    this.#recorder = new RateRecorder(earlier, Date.now());
  }

  get history(): RateHistory {
    return this.#recorder.history;
  }

  /** @param rate packets per second now */
  add(rate: number): RateHistory {
    const now = performance.now();
    if (now - this.#sampledAt >= sampleMs) {
      this.#sampledAt = now;
      this.#recorder.add(rate, Date.now());
    }
    return this.history;
  }
}
