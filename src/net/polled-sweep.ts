import { onAbort } from './abort.ts';

/** Poll interval of the sockets while responses may arrive: short after activity, then longer. */
const eagerPollMs = 1;
const lazyPollMs = 5;
const eagerForMs = 20;

/** The steps of a sweep over non-blocking sockets. */
interface PolledSweep<R> {
  readonly timer: PollTimer;
  readonly finished: boolean;
  /** All pending responses. */
  responses(): Iterable<R>;
  /** Schedules retries of what stayed silent, and drops what is out of retries. */
  expire(): void;
  /** Picks what is to be sent next, while there is room in the window. */
  fill(): void;
  requestTokens(): void;
  /** What was decided without a response. */
  decisions?(): Iterable<R>;
  close(): void;
}

/** Runs a sweep to its end, or until the signal aborts. */
export async function* runPolled<R>(
  sweep: PolledSweep<R>,
  signal: AbortSignal,
): AsyncGenerator<R, void, undefined> {
  try {
    while (!signal.aborted) {
      yield* sweep.responses();
      sweep.expire();
      sweep.fill();
      sweep.requestTokens();
      if (sweep.decisions) yield* sweep.decisions();
      if (sweep.finished) break;
      await sweep.timer.next(signal);
    }
    yield* sweep.responses();
  } finally {
    sweep.close();
  }
}

/** The time between two polls of the sockets of a sweep. */
export class PollTimer {
  #wake: (() => void) | null = null;
  #lastActivity = 0;

  /** Something was sent or received. @param now performance.now() */
  noteActivity(now: number): void {
    this.#lastActivity = now;
  }

  /** Ends the wait: tokens or work have arrived. */
  wake(): void {
    this.#wake?.();
  }

  /** Resolves when it is woken, or the sockets are due for a poll. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const idle = performance.now() - this.#lastActivity > eagerForMs;
      const wake = () => {
        clearTimeout(timer);
        forget();
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(wake, idle ? lazyPollMs : eagerPollMs);
      const forget = onAbort(signal, wake);
      this.#wake = wake;
    });
  }
}
