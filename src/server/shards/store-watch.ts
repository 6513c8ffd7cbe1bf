import type { ServerLog } from '../logging/log.ts';

/** Poll interval of the database, milliseconds. */
const askMs = 1000;
/** A database without a response for this long counts as unreachable, milliseconds. */
const silentMs = 10_000;

/** Checks whether the database responds, and logs changes. */
export class StoreWatch {
  readonly #ask: () => Promise<void>;
  readonly #log: Pick<ServerLog, 'info' | 'warn'>;
  readonly #clock: () => number;
  #answeredAt: number;
  #asking = false;
  #lost = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param ask sends a query to the database
   * @param clock monotonic milliseconds
   */
  constructor(
    ask: () => Promise<void>,
    log: Pick<ServerLog, 'info' | 'warn'>,
    clock: () => number = () => performance.now(),
  ) {
    this.#ask = ask;
    this.#log = log;
    this.#clock = clock;
    this.#answeredAt = clock();
  }

  get reachable(): boolean {
    return !this.#lost && this.#clock() - this.#answeredAt < silentMs;
  }

  start(): void {
    this.#answeredAt = this.#clock();
    this.#timer = setInterval(() => void this.look(), askMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Sends one query, unless the previous one is pending. */
  async look(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      await this.#ask();
      this.#answeredAt = this.#clock();
      if (this.#lost) this.#log.info('store reachable again');
      this.#lost = false;
    } catch (err) {
      if (!this.#lost) this.#log.warn({ err }, 'store unreachable, retrying');
      this.#lost = true;
    } finally {
      this.#asking = false;
    }
  }
}
