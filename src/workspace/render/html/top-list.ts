/** The first items of an order out of any number; memory for twice as many. */
export class TopList<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  #items: T[] = [];
  #seen = 0;

  /** @param compare negative if `a` comes first; stable for equal items */
  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  /** Items that were added. */
  get seen(): number {
    return this.#seen;
  }

  add(item: T): void {
    this.#seen += 1;
    this.#items.push(item);
    if (this.#items.length >= 2 * this.#limit) this.#items = this.items();
  }

  items(): T[] {
    return this.#items.toSorted(this.#compare).slice(0, this.#limit);
  }
}
