import { NumberColumn, type StoredColumn } from './columns.ts';

/** Milliseconds before and behind the first time of a column that 32 bits hold: 24 days. */
const reachMs = 2 ** 31 - 1;

/** Times in milliseconds since 1970, NaN for an unknown one: 4 bytes each as long as they are close to each other. */
export class TimeColumn {
  /** What the values count from, NaN before the first time; null: the values are the times themselves. */
  #base: number | null = Number.NaN;
  /** Above the base; 0 = unknown. */
  #values = new NumberColumn('whole');

  get(index: number): number {
    const value = this.#values.get(index);
    if (this.#base === null) return value;
    return value === 0 ? Number.NaN : this.#base + value;
  }

  set(index: number, time: number): void {
    const isKnown = !Number.isNaN(time);
    if (isKnown && Number.isNaN(this.#base)) this.#base = time - reachMs;
    if (isKnown && this.#base !== null && !isNear(time - this.#base)) this.#widen();
    if (this.#base === null) this.#values.set(index, time);
    else this.#values.set(index, isKnown ? time - this.#base : 0);
  }

  #widen(): void {
    const { length } = this.#values.values;
    const times = new NumberColumn('f64');
    times.reserve(length);
    for (let index = 0; index < length; index++) times.set(index, this.get(index));
    this.#values = times;
    this.#base = null;
  }

  /** Makes room for so many values. */
  reserve(length: number): void {
    this.#values.reserve(length);
  }

  store(length: number): StoredColumn {
    const base = this.#base === null ? null : new Uint8Array(Float64Array.of(this.#base).buffer);
    return { ...this.#values.store(length), dictionary: base };
  }

  restore(stored: StoredColumn): void {
    const { dictionary } = stored;
    this.#base = dictionary && (new Float64Array(dictionary.slice().buffer)[0] ?? Number.NaN);
    this.#values = new NumberColumn(this.#base === null ? 'f64' : 'whole');
    this.#values.restore(stored);
  }

  /** No value will be set any more. */
  seal(length: number): void {
    this.#values.seal(length);
  }
}

function isNear(aboveBase: number): boolean {
  return Number.isInteger(aboveBase) && aboveBase > 0 && aboveBase <= 2 * reachMs;
}
