import { readLink } from './links.ts';

/** How often the kernel is asked, milliseconds: what is sent in between is lost and has to be sent again. */
const lookMs = 100;
/** How long a link without carrier is waited for, milliseconds. */
const longestOutageMs = 5000;

/**
 * Whether an interface can carry frames. The kernel takes them without a word also when it cannot, and what was thrown
 * away would look like silence of those that were asked.
 */
export class Carrier {
  readonly #look: () => string | null;
  readonly #now: () => number;
  #lookedAt = -Infinity;
  #problem: string | null = null;
  #goneSince = 0;

  /** @param look says why nothing can be sent now, or null */
  constructor(look: () => string | null, now: () => number = () => performance.now()) {
    this.#look = look;
    this.#now = now;
  }

  /** @param index of the interface */
  static of(index: number): Carrier {
    return new Carrier(() => readLink(index).problem);
  }

  /** @throws Error when it has been away for 5 s */
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
