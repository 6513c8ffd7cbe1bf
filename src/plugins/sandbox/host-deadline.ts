import { readFileSync } from 'node:fs';

/** Longest time with all waits for a processor, in deadlines. */
const maxDeadlines = 10;

/**
 * Milliseconds that the first thread of a process was ready to run and had no processor, since the process began; 0 where
 * the system does not report it.
 */
export function processorWaitMs(pid: number): number {
  try {
    // Nanoseconds on a processor, nanoseconds ready without one, time slices.
    const [, waited] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ');
    return Number(waited ?? 0) / 1e6;
  } catch {
    return 0;
  }
}

/** Expires when a process has had its time: on a busy machine it waits for a processor, which is no fault of its own. */
export class HostDeadline {
  readonly #ms: number;
  readonly #waitedMs: () => number;
  readonly #expire: () => void;
  readonly #begun = performance.now();
  readonly #waitedBefore: number;
  #timer: NodeJS.Timeout;
  #isOver = false;

  /** Starts at once. @param waitedMs for a processor, since the process began */
  constructor(ms: number, waitedMs: () => number, expire: () => void) {
    this.#ms = ms;
    this.#waitedMs = waitedMs;
    this.#expire = expire;
    this.#waitedBefore = waitedMs();
    this.#timer = setTimeout(() => this.#check(), ms);
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #check(): void {
    const elapsed = performance.now() - this.#begun;
    const waited = Math.max(0, this.#waitedMs() - this.#waitedBefore);
    const left = Math.min(this.#ms + waited, this.#ms * maxDeadlines) - elapsed;
    if (left >= 1) this.#timer = setTimeout(() => this.#check(), left);
    // A response that has come while this process had no processor is read first.
    else setImmediate(() => this.#isOver || this.#expire());
  }
}
