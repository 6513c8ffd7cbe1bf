/** Added where a text was cut. */
const ellipsis = '…';

/** The start of a text. A copy: a slice would keep the whole text in memory. */
export function shortenedText(text: string, length: number): string {
  return text.length <= length ? text : `${detachedStart(text, length - 1).trimEnd()}${ellipsis}`;
}

/** The first characters of a text, without a mark; half a character at the end is replaced. */
export function detachedStart(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(text.slice(0, length)).toString();
}

/** One line: line breaks and runs of blanks become one blank. Only the start of a long text is looked at. */
export function oneLine(text: string, length: number): string {
  const start = text.length <= 2 * length ? text : text.slice(0, 2 * length);
  return shortenedText(start.replace(/\s+/g, ' ').trim(), length);
}

/** An allowance that many lists share: each may always have a few, more only as long as it lasts. */
export class Allowance {
  #left: number;

  constructor(amount: number) {
    this.#left = amount;
  }

  /** @returns false if nothing is left */
  take(amount = 1): boolean {
    if (this.#left <= 0) return false;
    this.#left -= amount;
    return true;
  }
}

/** Order of texts by their code units. */
export function textOrder(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The first items of an order out of any number; memory for twice as many. */
export class BestItems<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  #items: T[] = [];
  /** Items that were added. */
  seen = 0;

  /** @param compare negative if `a` comes first; equal items keep their order */
  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  add(item: T): void {
    this.seen += 1;
    this.#items.push(item);
    if (this.#items.length >= 2 * this.#limit) this.#items = this.items();
  }

  items(): T[] {
    return this.#items.toSorted(this.#compare).slice(0, this.#limit);
  }

  /** Items beyond the limit. */
  get left(): number {
    return Math.max(0, this.seen - this.#limit);
  }
}

/** A map with a maximum number of keys. */
export class BoundedMap<V> {
  readonly #limit: number;
  readonly #values = new Map<string, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#values.size;
  }

  values(): V[] {
    return [...this.#values.values()];
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  /** The value of a key, made at first use; null for a new key of a full map. */
  at(key: string, make: () => V): V | null {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size >= this.#limit) return null;
    const value = make();
    this.#values.set(key, value);
    return value;
  }
}

/** Counts different texts in little memory: a number per text. Beyond its limit each text counts as a new one. */
export class DistinctCount {
  readonly #limit: number;
  readonly #hashes = new Set<number>();
  count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns whether it was not seen before */
  add(text: string): boolean {
    const hash = hashOf(text);
    if (this.#hashes.has(hash)) return false;
    if (this.#hashes.size < this.#limit) this.#hashes.add(hash);
    this.count += 1;
    return true;
  }
}

/** 53 bits of a text: two polynomial hashes. */
export function hashOf(text: string): number {
  let [high, low] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = (Math.imul(high, 31) + code) | 0;
    low = Math.imul(low ^ code, 0x0100_0193) | 0;
  }
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}
