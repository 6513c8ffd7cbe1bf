import { onAbort } from '../abort.ts';

interface Waiter {
  signal: AbortSignal;
  resolve(granted: boolean): void;
}

/** A bounded number of slots, granted in order of request. */
export class Slots {
  #free: number;
  #waiters = new Set<Waiter>();

  constructor(count: number) {
    this.#free = count;
  }

  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Waits for a slot; false if the signal aborted first. */
  acquire(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.tryAcquire()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        signal,
        resolve: (granted) => {
          forget();
          resolve(granted);
        },
      };
      const forget = onAbort(signal, () => {
        this.#waiters.delete(waiter);
        resolve(false);
      });
      this.#waiters.add(waiter);
    });
  }

  release(): void {
    const [next] = this.#waiters;
    if (!next) {
      this.#free += 1;
      return;
    }
    this.#waiters.delete(next);
    next.resolve(true);
  }
}
