import { setTimeout as sleep } from 'node:timers/promises';

export interface PollIntervals {
  /** Time from the start to the first look. */
  firstMs: number;
  /** Time from the end of a look to the next one. */
  betweenMs: number;
}

/** Looks after something now and then, one look at a time, without keeping the process alive. */
export class PeriodicTasks {
  readonly #look: (signal: AbortSignal) => Promise<void>;
  readonly #pace: PollIntervals;
  readonly #closing = new AbortController();
  #looks: Promise<void> = Promise.resolve();

  /** @param look must not reject; its signal aborts when the server closes */
  constructor(look: (signal: AbortSignal) => Promise<void>, pace: PollIntervals) {
    this.#look = look;
    this.#pace = pace;
  }

  start(): void {
    this.#looks = this.#run();
  }

  /** Breaks a look off and waits until nothing of it is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looks;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const wait = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
    await wait(this.#pace.firstMs);
    while (!signal.aborted) {
      await this.#look(signal);
      await wait(this.#pace.betweenMs);
    }
  }
}
