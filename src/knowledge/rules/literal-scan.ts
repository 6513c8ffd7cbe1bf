/**
 * Finds which of many short texts occur in a text, in one pass over it (Aho and Corasick, 1975). The short texts are
 * ASCII in lower case; the search ignores case.
 */
export class LiteralScan {
  /** Column of a character, 0 for characters that occur in no text. */
  readonly #columns = new Uint8Array(128);
  readonly #width: number;
  /** `state * width + column` is the index of the next state. */
  readonly #next: Int32Array;
  /** The text that ends in a state, or -1. */
  readonly #ending: Int32Array;
  /** The nearest shorter state in which a text ends, 0 = none. */
  readonly #shorter: Int32Array;
  readonly #count: number;

  /** @param texts distinct and not empty */
  constructor(texts: readonly string[]) {
    this.#count = texts.length;
    const characters = new Set(texts.join(''));
    let column = 0;
    for (const character of characters) this.#columns[character.charCodeAt(0)] = ++column;
    this.#width = column + 1;
    const most = texts.reduce((sum, text) => sum + text.length, 1);
    const tree = new Int32Array(most * this.#width);
    this.#ending = new Int32Array(most).fill(-1);
    const states = this.#plant(texts, tree);
    this.#next = tree.slice(0, states * this.#width);
    this.#shorter = new Int32Array(states);
    this.#link();
  }

  /** Numbers of the texts that occur, deduplicated. */
  find(text: string): number[] {
    const seen = new Uint8Array(this.#count);
    const found: number[] = [];
    let state = 0;
    for (let index = 0; index < text.length; index++) {
      state = this.#next[state * this.#width + this.#columnOf(text.charCodeAt(index))] as number;
      for (let end = state; end !== 0; end = this.#shorter[end] as number) {
        const number = this.#ending[end] as number;
        if (number < 0) continue;
        // The shorter texts were found together with it.
        if (seen[number] === 1) break;
        seen[number] = 1;
        found.push(number);
      }
    }
    return found;
  }

  #columnOf(code: number): number {
    if (code > 127) return 0;
    return this.#columns[code >= 65 && code <= 90 ? code + 32 : code] as number;
  }

  #plant(texts: readonly string[], tree: Int32Array): number {
    let states = 1;
    for (const [number, text] of texts.entries()) {
      let state = 0;
      for (let index = 0; index < text.length; index++) {
        const place = state * this.#width + this.#columnOf(text.charCodeAt(index));
        if (tree[place] === 0) tree[place] = states++;
        state = tree[place] as number;
      }
      this.#ending[state] = number;
    }
    return states;
  }

  /** Fills every missing transition with that of the longest proper suffix that is a prefix of a text. */
  #link(): void {
    const width = this.#width;
    const fallback = new Int32Array(this.#shorter.length);
    const queue: number[] = [];
    for (let column = 1; column < width; column++) {
      const state = this.#next[column] as number;
      if (state !== 0) queue.push(state);
    }
    for (let head = 0; head < queue.length; head++) {
      const state = queue[head] as number;
      const back = fallback[state] as number;
      this.#shorter[state] = (this.#ending[back] as number) >= 0 ? back : (this.#shorter[back] as number);
      for (let column = 1; column < width; column++) {
        const place = state * width + column;
        const child = this.#next[place] as number;
        const otherwise = this.#next[back * width + column] as number;
        if (child === 0) this.#next[place] = otherwise;
        else {
          fallback[child] = otherwise;
          queue.push(child);
        }
      }
    }
  }
}
