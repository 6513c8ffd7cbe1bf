import { setTimeout } from 'node:timers/promises';

/** A value that was computed; null if that failed. */
interface Computed {
  value: unknown;
  /** Monotonic milliseconds. */
  at: number;
}

/** A value that could not be computed is tried once more after this time, milliseconds. */
const failedMs = 60_000;

/**
 * Values that are computed in the background, one at a time, and cached. Requests take what is there and never wait
 * for long.
 */
export class BackgroundValues {
  readonly #values = new Map<string, Computed>();
  readonly #waiting = new Map<string, () => Promise<unknown>>();
  readonly #most: number;
  readonly #onFault: (error: unknown) => void;
  #running: Promise<void> | null = null;
  #isClosed = false;

  /** @param most cached values; those that were not read for longest go first */
  constructor(most: number, onFault: (error: unknown) => void) {
    this.#most = most;
    this.#onFault = onFault;
  }

  /** @returns the value, null if it cannot be computed, undefined while it is being computed */
  get<T>(key: string, compute: () => Promise<T>): T | null | undefined {
    const known = this.#values.get(key);
    if (known && (known.value !== null || performance.now() - known.at < failedMs)) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known.value as T | null;
    }
    if (!this.#isClosed) this.#waiting.set(key, this.#waiting.get(key) ?? compute);
    this.#running ??= this.#run();
    return undefined;
  }

  /** Waits until everything is computed, but at most for some milliseconds. */
  async ready(ms: number): Promise<void> {
    const late = new AbortController();
    await Promise.race([
      this.#running,
      setTimeout(ms, undefined, { signal: late.signal, ref: false }).catch(() => undefined),
    ]);
    late.abort();
  }

  /** Computes nothing any more. The one that is being computed must have been aborted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting;
      if (!next) break;
      const [key, compute] = next;
      const value = await compute().catch((error: unknown) => {
        if (!this.#isClosed) this.#onFault(error);
        return null;
      });
      this.#waiting.delete(key);
      this.#values.set(key, { value, at: performance.now() });
      for (const oldest of this.#values.keys()) {
        if (this.#values.size <= this.#most) break;
        this.#values.delete(oldest);
      }
    }
    this.#running = null;
  }
}
