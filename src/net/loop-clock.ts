/** How often the delay of the event loop is measured, milliseconds. */
const tickMs = 20;

/** A timer fires this much late on a machine that is not busy, milliseconds. */
const usualLatenessMs = 5;

/** A deadline moves by the delay of the loop until it is this many times as far away as it was. */
const longestStretch = 4;

/**
 * A clock that stands still while the event loop of this process cannot run: time in which no response could have been
 * read counts against no deadline. It measures only while somebody uses it.
 */
export class LoopClock {
  readonly #real: () => number;
  #users = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the next tick is due. */
  #due = Number.POSITIVE_INFINITY;
  #lost = 0;

  /** @param real milliseconds that never step back */
  constructor(real: () => number = () => performance.now()) {
    this.#real = real;
  }

  /** Measures until the returned function is called. */
  use(): () => void {
    this.#users += 1;
    if (this.#users === 1) {
      this.#due = this.#real() + tickMs;
      this.#timer = setInterval(() => this.tick(), tickMs).unref();
    }
    let used = true;
    return () => {
      if (used) this.#release();
      used = false;
    };
  }

  /** Milliseconds that the loop was late so far, with the delay that just ends. */
  get lostMs(): number {
    return this.#lost + this.#pending(this.#real());
  }

  /** Milliseconds in which the loop could run. */
  now(): number {
    const real = this.#real();
    return real - this.#lost - this.#pending(real);
  }

  /** The loop runs: takes note of how late. */
  tick(): void {
    const real = this.#real();
    this.#lost += this.#pending(real);
    this.#due = real + tickMs;
  }

  /**
   * Calls `action` after so many milliseconds of this clock, and not before what arrived meanwhile was read.
   * @returns takes the request back
   */
  after(milliseconds: number, action: () => void): () => void {
    const until = this.now() + milliseconds;
    const last = this.#real() + longestStretch * milliseconds;
    let immediate: NodeJS.Immediate | undefined;
    let timer: NodeJS.Timeout;
    // Timers come before the sockets in a turn of the loop, immediates after them.
    const check = () => {
      const left = Math.min(until - this.now(), last - this.#real());
      if (left > 0) wait(left);
      else action();
    };
    const wait = (left: number) => {
      timer = setTimeout(() => {
        immediate = setImmediate(check);
      }, left);
    };
    wait(milliseconds);
    return () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
  }

  #pending(real: number): number {
    return Math.max(0, real - this.#due - usualLatenessMs);
  }

  #release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.tick();
    clearInterval(this.#timer);
    this.#due = Number.POSITIVE_INFINITY;
  }
}

/** The clock of this process. */
export const loopClock = new LoopClock();
