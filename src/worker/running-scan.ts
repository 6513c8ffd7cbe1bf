import type { FailureCode } from '../domain/scan.ts';
import type { ScopeRules } from '../scan-run/control.ts';
import type { LiveScan, ScanOutcome } from '../scan-run/messages.ts';

/** A scan under way, wherever its packets leave. */
export interface RunningScan {
  /** When it began to run, ISO 8601 UTC; null while it waits for a worker. */
  readonly startedAt: string | null;
  /** The newest report. */
  readonly live: LiveScan | null;
  /** How the scan ended; null when whoever ran it died before it said so. */
  readonly outcome: ScanOutcome | null;
  /** Why it cannot be carried on, with nothing to report; null as long as it can. */
  readonly failure: { code: FailureCode; message: string } | null;
  /** Resolves when nothing of it runs any more. */
  readonly gone: Promise<void>;
  /** Of the process on this machine, where there is one. */
  readonly pid: number | undefined;
  /** Asks the scan to end and to keep what it has. */
  cancel(): void;
  /** Resolves when it sends no packet any more. */
  pause(): Promise<void>;
  resume(): void;
  /** Resolves when it keeps to a rate, packets per second. */
  setRate(rate: number): Promise<void>;
  /** From now on only what these rules permit too may be touched. */
  narrow(rules: ScopeRules): void;
  /** Lets go of it where it is; it is taken up again later. */
  detach(): void;
  kill(): void;
}
