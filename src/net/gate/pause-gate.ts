import { onAbort } from '../abort.ts';

/**
 * Whether a scan may send now. While it is closed nothing new is sent, open connections are cut and clocks stand
 * still. Listeners are called in order of subscription, synchronously.
 */
export class PauseGate {
  #heldSince: number | null = null;
  #heldBefore = 0;
  #times = 0;
  readonly #listeners = new Set<(held: boolean) => void>();

  get held(): boolean {
    return this.#heldSince !== null;
  }

  /** Number of pauses so far: an unchanged number means no interruption in between. */
  get times(): number {
    return this.#times;
  }

  /** Total paused time, milliseconds. */
  get pausedMs(): number {
    return this.#heldBefore + (this.#heldSince === null ? 0 : performance.now() - this.#heldSince);
  }

  hold(): void {
    if (this.held) return;
    this.#heldSince = performance.now();
    this.#times += 1;
    this.#notify(true);
  }

  release(): void {
    if (!this.held) return;
    this.#heldBefore = this.pausedMs;
    this.#heldSince = null;
    this.#notify(false);
  }

  /** @returns unsubscribe */
  onChange(listener: (held: boolean) => void): () => void {
    const own = (held: boolean) => listener(held);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Waits until it is open; false if the signal aborted first. */
  released(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (!this.held) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (released: boolean) => {
        forgetAbort();
        forgetChange();
        resolve(released);
      };
      const forgetAbort = onAbort(signal, () => settle(false));
      const forgetChange = this.onChange((held) => held || settle(true));
    });
  }

  /** A timer that stands still during a pause. @returns a function that stops it */
  after(milliseconds: number, action: () => void): () => void {
    let left = milliseconds;
    let startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const run = () => {
      startedAt = performance.now();
      timer = setTimeout(() => {
        forget();
        action();
      }, left);
    };
    const forget = this.onChange((held) => {
      clearTimeout(timer);
      if (held) left = Math.max(1, left - (performance.now() - startedAt));
      else run();
    });
    if (!this.held) run();
    return () => {
      clearTimeout(timer);
      forget();
    };
  }

  #notify(held: boolean): void {
    for (const listener of this.#listeners) listener(held);
  }
}
