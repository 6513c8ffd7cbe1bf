import type { Config } from '../config/schema.ts';
import type { Scan, ScanRequest } from '../domain/scan.ts';

/** What a running scan reports, at most twice a second. */
export type LiveScan = Pick<Scan, 'results' | 'progress' | 'severity_counts' | 'warnings' | 'stages'>;

/** How a scan ended. */
export type ScanOutcome = LiveScan &
  Pick<Scan, 'error'> & { status: 'completed' | 'failed'; completed_at: string };

/** Messages to the process that runs one scan. */
export type ToChild =
  | {
      type: 'start';
      request: ScanRequest;
      config: Config;
      workspaceDir: string;
      /** When the scan was first started, ISO 8601 UTC. */
      startedAt: string;
      resumes: number;
    }
  | { type: 'cancel' };

/** Messages from it. `sealed` carries the number of durable rows of the record. */
export type FromChild =
  | { type: 'ready' }
  | { type: 'live'; live: LiveScan }
  | { type: 'sealed'; rows: number }
  | { type: 'finished'; outcome: ScanOutcome }
  | { type: 'fault'; message: string };
