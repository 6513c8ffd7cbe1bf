/** Counts the time that a plugin takes, without the time in which it waits for the scan. */
export class BusyClock {
  readonly #expire: () => void;
  #leftMs: number;
  #waits = 0;
  #since = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Starts at once. @param expire called once when the limit is reached */
  constructor(limitMs: number, expire: () => void) {
    this.#leftMs = limitMs;
    this.#expire = expire;
    this.#run();
  }

  /** @returns a function that ends the wait; further calls of it do nothing */
  wait(): () => void {
    this.#waits += 1;
    if (this.#waits === 1) this.#halt();
    let waiting = true;
    return () => {
      if (!waiting) return;
      waiting = false;
      this.#waits -= 1;
      if (this.#waits === 0) this.#run();
    };
  }

  /** Work of which at most `ms` count, because longer waits are not the plugin's. */
  async countUpTo<T>(ms: number, work: () => Promise<T>): Promise<T> {
    let endWait = () => {};
    const timer = setTimeout(() => {
      endWait = this.wait();
    }, ms);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      endWait();
    }
  }

  stop(): void {
    this.#halt();
    this.#waits = Number.POSITIVE_INFINITY;
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => {
      this.stop();
      this.#expire();
    }, this.#leftMs);
  }

  #halt(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#leftMs = Math.max(1, this.#leftMs - (performance.now() - this.#since));
  }
}
