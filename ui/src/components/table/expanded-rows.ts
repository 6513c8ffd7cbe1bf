/** A row of an unfolded list: a parent, or the n-th row below it. */
export interface FlatPosition {
  parent: number;
  /** Null for the parent itself. */
  child: number | null;
}

/**
 * Positions of a long list in which some rows are unfolded. Only the unfolded ones cost memory and time.
 * @param parents rows of the folded list
 * @param unfolded rows below each unfolded parent, by its index
 */
export class ExpandedRows {
  readonly total: number;
  readonly #parents: readonly number[];
  /** Position of the first row below each unfolded parent. */
  readonly #starts: number[] = [];
  readonly #counts: number[] = [];

  constructor(parents: number, unfolded: ReadonlyMap<number, number>) {
    const sorted = [...unfolded].filter(([index]) => index < parents).sort(([a], [b]) => a - b);
    this.#parents = sorted.map(([index]) => index);
    let added = 0;
    for (const [index, count] of sorted) {
      this.#starts.push(index + added + 1);
      this.#counts.push(count);
      added += count;
    }
    this.total = parents + added;
  }

  at(index: number): FlatPosition {
    const before = this.#lastUnfolded((k) => (this.#starts[k] as number) <= index);
    if (before < 0) return { parent: index, child: null };
    const start = this.#starts[before] as number;
    const count = this.#counts[before] as number;
    const below = index - start;
    if (below < count) return { parent: this.#parents[before] as number, child: below };
    return { parent: (this.#parents[before] as number) + below - count + 1, child: null };
  }

  /** Where a parent stands now. */
  indexOf(parent: number): number {
    const before = this.#lastUnfolded((k) => (this.#parents[k] as number) < parent);
    if (before < 0) return parent;
    const end = (this.#starts[before] as number) + (this.#counts[before] as number);
    return end + parent - (this.#parents[before] as number) - 1;
  }

  /** The last unfolded parent that fits, -1 for none; those that fit come first. */
  #lastUnfolded(fits: (k: number) => boolean): number {
    let [low, high] = [0, this.#parents.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (fits(middle)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
