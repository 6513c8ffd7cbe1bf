import { setTimeout as sleep } from 'node:timers/promises';

export interface PollIntervals {
  /** Initial delay, milliseconds. */
  firstMs: number;
  /** Pause between two runs, milliseconds. */
  betweenMs: number;
}

/** Runs a task periodically, one run at a time, without keeping the process alive. */
export class PeriodicTasks {
  readonly #task: (signal: AbortSignal) => Promise<void>;
  readonly #pace: PollIntervals;
  readonly #closing = new AbortController();
  #runs: Promise<void> = Promise.resolve();

  /** @param task must not reject; its signal aborts when the server closes */
  constructor(task: (signal: AbortSignal) => Promise<void>, pace: PollIntervals) {
    this.#task = task;
    this.#pace = pace;
  }

  start(): void {
    this.#runs = this.#run();
  }

  /** Aborts a running task and waits for its end. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#runs;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const wait = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
    await wait(this.#pace.firstMs);
    while (!signal.aborted) {
      await this.#task(signal);
      await wait(this.#pace.betweenMs);
    }
  }
}
