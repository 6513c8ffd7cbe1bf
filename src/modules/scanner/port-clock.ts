import { loopClock } from '../../net/loop-clock.ts';

/** Longest wait for the rate that does not count as time of the port, in timeouts. */
const longestRateWait = 20;

/** The time of one port: it stands still while the event loop cannot run or a connection waits for the rate. */
export class PortClock {
  readonly #longestWaitMs: number;
  /** Time that connections waited for the rate, milliseconds, and until when. */
  #waitedMs = 0;
  #waitedUntil = 0;
  readonly #startedAt = performance.now();
  readonly #lostBefore = loopClock.lostMs;

  constructor(timeoutMs: number) {
    this.#longestWaitMs = longestRateWait * timeoutMs;
  }

  /** Milliseconds. */
  now(): number {
    return loopClock.now() - Math.min(this.#waitedMs, this.#longestWaitMs);
  }

  /** Adds a wait that just ended; those of several connections at the same time count once. */
  noteRateWait(ms: number): void {
    const end = loopClock.now();
    this.#waitedMs += Math.max(0, end - Math.max(end - ms, this.#waitedUntil));
    this.#waitedUntil = end;
  }

  /** The rate held the port up for longer than the clock stands still. */
  get rateTooLow(): boolean {
    return this.#waitedMs > this.#longestWaitMs;
  }

  /** Time in which the event loop could not run, milliseconds. */
  get lostMs(): number {
    return loopClock.lostMs - this.#lostBefore;
  }

  /** Share of the time in which the event loop could not run. */
  get lostShare(): number {
    return this.lostMs / Math.max(1, performance.now() - this.#startedAt);
  }
}
