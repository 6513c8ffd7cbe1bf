import { setImmediate } from 'node:timers/promises';

/** Longest work without yielding to the event loop, milliseconds: other modules wait for the network meanwhile. */
const longestStretch = 20;

/** Work of one module on many items, which lets others run in between. */
export class LongWork {
  #since = performance.now();

  /** Whether it is time to yield. */
  get isDue(): boolean {
    return performance.now() - this.#since > longestStretch;
  }

  async yield(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
