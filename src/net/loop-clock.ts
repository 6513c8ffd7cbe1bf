/** Interval of the event loop delay measurement, milliseconds. */
const tickMs = 20;

/** Timer delay on an idle machine, milliseconds. */
const usualLatenessMs = 5;

/** A deadline is extended by the loop delay up to this factor. */
const longestStretch = 4;

/**
 * A clock that stands still while the event loop of this process is blocked: time in which no response could have
 * been read counts against no deadline. Measures only while in use.
 */
export class LoopClock {
  readonly #real: () => number;
  #users = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the next tick is due. */
  #due = Number.POSITIVE_INFINITY;
  #lost = 0;

  /** @param real monotonic milliseconds */
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

  /** Total event loop delay so far, milliseconds, including a current one. */
  get lostMs(): number {
    return this.#lost + this.#pending(this.#real());
  }

  /** Milliseconds in which the loop could run. */
  now(): number {
    const real = this.#real();
    return real - this.#lost - this.#pending(real);
  }

  /** Records the current loop delay. */
  tick(): void {
    const real = this.#real();
    this.#lost += this.#pending(real);
    this.#due = real + tickMs;
  }

  /**
   * Calls `action` after so many milliseconds of this clock, and not before pending input was read.
   * @returns unsubscribe
   */
  after(milliseconds: number, action: () => void): () => void {
    const until = this.now() + milliseconds;
    const last = this.#real() + longestStretch * milliseconds;
    let immediate: NodeJS.Immediate | undefined;
    let timer: NodeJS.Timeout;
    // In a turn of the event loop, timers run before the sockets and immediates after them.
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
