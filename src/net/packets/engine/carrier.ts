import { readLink } from '../linux/links.ts';

/** Poll interval of the link state, milliseconds: packets sent in between are lost and must be sent again. */
const lookMs = 100;
/** Longest wait for a link without carrier, milliseconds. */
const longestOutageMs = 5000;

/**
 * Whether an interface can carry frames. Without carrier the kernel drops them silently, which would look like
 * silence of the targets.
 */
export class Carrier {
  readonly #look: () => string | null;
  readonly #now: () => number;
  #lookedAt = -Infinity;
  #problem: string | null = null;
  #goneSince = 0;

  /** @param look returns why nothing can be sent now, or null */
  constructor(look: () => string | null, now: () => number = () => performance.now()) {
    this.#look = look;
    this.#now = now;
  }

  /** @param index of the interface */
  static of(index: number): Carrier {
    return new Carrier(() => readLink(index).problem);
  }

  /** @throws Error if it has been down for 5 s */
  isThere(): boolean {
    const now = this.#now();
    if (now - this.#lookedAt < lookMs) return this.#problem === null;
    this.#lookedAt = now;
    const before = this.#problem;
    this.#problem = this.#look();
    if (this.#problem === null) return true;
    if (before === null) this.#goneSince = now;
    if (now - this.#goneSince >= longestOutageMs) throw new Error(this.#problem);
    return false;
  }
}
