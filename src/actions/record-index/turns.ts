import { setImmediate } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';

/** Longest time between two looks at other work of the thread, milliseconds. */
const sliceMs = 10;

/** The turns of one request within its thread: it gives way to others, and ends when it is late or nobody waits. */
export class Turns {
  readonly #deadline: number;
  #resumedAt = performance.now();
  #isAborted = false;
  /** Why it takes so long; null = because of the request itself. */
  waitsFor: (() => PortolanError) | null = null;

  /** @param deadlineMs from now */
  constructor(deadlineMs: number) {
    this.#deadline = performance.now() + deadlineMs;
  }

  get isOver(): boolean {
    return this.#isAborted || performance.now() > this.#deadline;
  }

  abort(): void {
    this.#isAborted = true;
  }

  /** @throws PortolanError `timeout` */
  check(): void {
    if (this.isOver) throw this.waitsFor?.() ?? new PortolanError('timeout', 'The query takes too long.');
  }

  /** @throws PortolanError `timeout` */
  readonly next = async (): Promise<void> => {
    if (performance.now() - this.#resumedAt >= sliceMs) {
      await setImmediate();
      this.#resumedAt = performance.now();
    }
    this.check();
  };
}
