import type { FailureCode, StageRecord } from '../domain/scan.ts';
import type { ScopeRules } from '../scan-run/control.ts';
import type { LiveScan, ScanOutcome } from '../scan-run/messages.ts';

/** A running scan, on this machine or on workers. */
export interface RunningScan {
  /** When it started to run, ISO 8601 UTC; null while it waits for a worker. */
  readonly startedAt: string | null;
  /** The newest report. */
  readonly live: LiveScan | null;
  /** How the scan ended; null when its process died without reporting it. */
  readonly outcome: ScanOutcome | null;
  /** Of a scan in shards, the nodes that ran on this machine and not in a shard; absent for other scans. */
  readonly ownStages?: StageRecord[];
  /** Rows of the record that may be shown before the end, absent for all. */
  readonly storedRows?: number;
  /** Why it cannot continue, without an outcome; null as long as it can. */
  readonly failure: { code: FailureCode; message: string } | null;
  /** Resolves when the scan has stopped completely. */
  readonly gone: Promise<void>;
  /** Whether its process on this machine sends no heartbeat; absent without one. */
  readonly hangs?: boolean;
  /** Pid of the process on this machine, if there is one. */
  readonly pid: number | undefined;
  /** Ends the scan gracefully: results so far are saved. */
  cancel(): void;
  /** Resolves when the scan has stopped sending packets. */
  pause(): Promise<void>;
  resume(): void;
  /** Resolves when the scan has applied the rate, packets per second. */
  setRate(rate: number): Promise<void>;
  /** Narrows the scope: from now on targets must also be permitted by these rules. */
  narrow(rules: ScopeRules): void;
  /** Stops at the last checkpoint; the scan is resumed later. */
  detach(): void;
  kill(): void;
}
