import { PortolanError } from '../../domain/errors.ts';
import type { FailureCode, ScanOptions } from '../../domain/scan.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { PauseGate } from '../../net/gate/pause-gate.ts';

/** Why a scan ended as failed. */
export interface ScanFailure {
  code: FailureCode;
  message: string;
}

/** The reason for aborting a scan; its code becomes that of the scan. */
export class ScanAbort extends Error {
  readonly code: FailureCode;
  constructor(code: FailureCode, message: string) {
    super(message);
    this.name = 'ScanAbort';
    this.code = code;
  }
}

export function failureFrom(error: unknown): ScanFailure {
  if (error instanceof ScanAbort) return { code: error.code, message: error.message };
  if (
    error instanceof PortolanError &&
    (error.code === 'insufficient_storage' || error.code === 'permission')
  ) {
    return { code: error.code, message: error.message };
  }
  return { code: 'pipeline_failed', message: error instanceof Error ? error.message : String(error) };
}

/** Milliseconds that a scan may take, pauses not counted; infinite without a limit. */
export function timeLimit({ max_duration }: ScanOptions, globalTimeoutMs: number): number {
  const requested = max_duration ? (parseDuration(max_duration) ?? 0) : 0;
  return Math.min(...[requested, globalTimeoutMs].map((ms) => ms || Number.POSITIVE_INFINITY));
}

export function timeoutFailure(limitMs: number): ScanFailure {
  return { code: 'timeout', message: `the scan ran longer than its limit of ${limitMs / 1000} s` };
}

/**
 * The abort signal of one run: aborted by a cancel from outside, by the shorter of the two time limits, or by the run
 * itself.
 */
export class ScanStop {
  readonly #abort = new AbortController();
  readonly #outside: AbortSignal;
  readonly #stopTimer: () => void;
  readonly #onOutside: () => void;

  /**
   * @param globalTimeoutMs `engine.global_timeout`; 0 = none
   * @param elapsedMs time of earlier runs of the scan: an interruption does not extend the limit
   * @param hold while it is closed, the limit is suspended
   */
  constructor(
    outside: AbortSignal,
    options: ScanOptions,
    globalTimeoutMs: number,
    elapsedMs: number,
    hold: PauseGate = new PauseGate(),
  ) {
    this.#outside = outside;
    this.#onOutside = () => this.#abort.abort(outside.reason);
    if (outside.aborted) this.#onOutside();
    outside.addEventListener('abort', this.#onOutside);
    const limit = timeLimit(options, globalTimeoutMs);
    const left = Math.min(Math.max(1, limit - elapsedMs), longestTimerMs);
    this.#stopTimer = Number.isFinite(limit) ? hold.after(left, () => this.#timeOut(limit)) : () => undefined;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Ends the run: stops all timers and listeners. */
  release(): void {
    this.#stopTimer();
    this.#outside.removeEventListener('abort', this.#onOutside);
  }

  #timeOut(limitMs: number): void {
    const { code, message } = timeoutFailure(limitMs);
    this.abort(new ScanAbort(code, message));
  }
}

/** Timers of Node.js hold 31 bits of milliseconds, about 24 days. */
export const longestTimerMs = 2 ** 31 - 1;
