import type { ProgressUnit } from '../domain/scan.ts';
import { groupedNumber } from '../domain/text/grouped-number.ts';
import { RateWindow } from './rate-window.ts';

/** Window of the rate that the remaining time is computed with, milliseconds. */
const windowMs = 30_000;
/** Least time and share that an estimate is based on: milliseconds, percent. */
const minWindowMs = 3000;
const minPercent = 2;

/** An estimate, and what it was computed from. */
export interface Estimate {
  seconds: number;
  basis: string;
}

/** Work of the stages that send. */
export interface SendingWork {
  tried: number;
  not_tried: number;
  unit: ProgressUnit;
  /** Whether all of the work is known: no more hosts can be found. */
  isWhole: boolean;
}

/** Estimates the remaining time of a run: what an interrupted run did does not count. */
export class RemainingTime {
  readonly #window = new RateWindow(windowMs);
  #percentAtFirst: number | null = null;

  /** @param now monotonic milliseconds */
  add({ tried }: SendingWork, isHeld: boolean, now: number): void {
    if (isHeld) this.#window.clear();
    else this.#window.add(tried, now);
  }

  /** @param activeMs time of this run without pauses; null = too early */
  estimate(work: SendingWork, percent: number, activeMs: number): Estimate | null {
    this.#percentAtFirst ??= percent;
    return this.#byWork(work) ?? this.#byPercent(percent - this.#percentAtFirst, percent, activeMs);
  }

  #byWork({ not_tried, unit, isWhole }: SendingWork): Estimate | null {
    const { perSecond, spanMs } = this.#window;
    if (!isWhole || not_tried === 0 || spanMs < minWindowMs || perSecond === 0) return null;
    const seconds = Math.ceil(not_tried / perSecond);
    const rate = perSecond < 10 ? perSecond.toFixed(1) : groupedNumber(Math.round(perSecond));
    const noun = not_tried === 1 ? unit.slice(0, -1) : unit;
    const basis = `${groupedNumber(not_tried)} ${noun} at ${rate}/s, mean of the last ${Math.round(spanMs / 1000)} s`;
    return { seconds, basis };
  }

  #byPercent(gained: number, percent: number, activeMs: number): Estimate | null {
    if (gained < minPercent) return null;
    const seconds = activeMs / 1000;
    return {
      seconds: Math.round((seconds * (100 - percent)) / gained),
      basis: `${gained} % of all work done in ${Math.round(seconds)} s`,
    };
  }
}
