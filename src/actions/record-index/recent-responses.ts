import { setTimeout as sleep } from 'node:timers/promises';

/** A smaller index responds quickly enough each time, rows. */
const minSize = 20_000;
/**
 * As does a larger one where that takes less, milliseconds. A response that takes longer than usual is replaced by the one
 * before it after this time.
 */
const slowMs = 20;
/** A slow response is fresh for this many times what it took, at most for `maxFreshMs`. */
const freshFactor = 10;
/** Longest time for which a slow response is fresh, milliseconds. */
const maxFreshMs = 1000;
/** An older response is never returned, milliseconds. */
const maxAgeMs = 5000;
/** Number of remembered responses. */
const maxRemembered = 16;
/** The longest text of one, characters. */
const maxRememberedText = 256 * 1024;

interface SizedResponse {
  response: unknown;
  /** Rows of the index that it was computed from. */
  size: number;
}

interface Remembered<T> {
  response: T;
  /** When its computation began. */
  at: number;
  tookMs: number;
  /** The next one, or this one if that fails; null if nobody has asked for it. */
  next: Promise<T> | null;
}

/**
 * Responses about records that grow all the time. Each row changes what sorting and counting a large record gives; while
 * that takes long, clients get the response of a moment ago, and the next one is computed meanwhile, once for all of them.
 */
export class RecentResponses<T extends SizedResponse> {
  readonly #remembered = new Map<string, Remembered<T>>();
  readonly #clock: () => number;
  readonly #sleep: typeof sleepUntil;

  /**
   * @param clock monotonic milliseconds
   * @param wait resolves after a time, milliseconds, or on abort
   */
  constructor(clock: () => number = () => performance.now(), wait = sleepUntil) {
    this.#clock = clock;
    this.#sleep = wait;
  }

  /**
   * @param key names the scan and the request
   * @param compute gets the client that waits for it, if any
   */
  async response(
    key: string,
    compute: (client?: AbortSignal) => Promise<T>,
    client?: AbortSignal,
  ): Promise<T> {
    const known = this.#remembered.get(key);
    const age = known ? this.#clock() - known.at : 0;
    if (known === undefined || age > maxAgeMs) return await this.#compute(key, () => compute(client));
    if (known.tookMs < slowMs) return await this.#unlessLate(known, this.#next(key, known, compute));
    const isFresh = age <= Math.min(maxFreshMs, known.tookMs * freshFactor);
    if (!isFresh) void this.#next(key, known, compute);
    return known.response;
  }

  /** What usually comes at once. */
  async #unlessLate(known: Remembered<T>, next: Promise<T>): Promise<T> {
    const waiting = new AbortController();
    const late = this.#sleep(slowMs, waiting.signal).then(() => known.response);
    try {
      return await Promise.race([next, late]);
    } finally {
      waiting.abort();
    }
  }

  /** Of keys that begin with this. */
  forget(prefix: string): void {
    for (const key of this.#remembered.keys()) if (key.startsWith(prefix)) this.#remembered.delete(key);
  }

  async #compute(key: string, compute: () => Promise<T>): Promise<T> {
    const at = this.#clock();
    const response = await compute();
    this.#remember(key, { response, at, tookMs: this.#clock() - at, next: null });
    return response;
  }

  #next(key: string, known: Remembered<T>, compute: () => Promise<T>): Promise<T> {
    known.next ??= this.#compute(key, compute).catch(() => {
      // Whoever asks next gets the error.
      if (this.#remembered.get(key) === known) this.#remembered.delete(key);
      return known.response;
    });
    return known.next;
  }

  #remember(key: string, entry: Remembered<T>): void {
    this.#remembered.delete(key);
    const { size, response } = entry.response;
    if (size < minSize || textLength(response) > maxRememberedText) return;
    this.#remembered.set(key, entry);
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= maxRemembered) return;
      this.#remembered.delete(oldest);
    }
  }
}

/** Of the rows of a page; the other responses are short. */
function textLength(response: unknown): number {
  const { records } = response as { records?: unknown };
  return typeof records === 'string' ? records.length : 0;
}

async function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
