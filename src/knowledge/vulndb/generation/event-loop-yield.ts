import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum time without a turn of the event loop, milliseconds. */
const longestTurnMs = 8;

/** Yields to the event loop at intervals during long work. */
export class EventLoopYield {
  #since = performance.now();
  readonly #signal: AbortSignal | null;

  constructor(signal: AbortSignal | null) {
    this.#signal = signal;
  }

  isDue(): boolean {
    return performance.now() - this.#since >= longestTurnMs;
  }

  /** @throws the reason of the signal once it is aborted */
  async yield(): Promise<void> {
    await nextTurn();
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}
