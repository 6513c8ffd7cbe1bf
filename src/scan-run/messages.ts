import type { Config } from '../config/schema.ts';
import type { Scan, ScanRequest } from '../domain/scan.ts';
import type { EvaluationData, ShardPart } from '../domain/shard.ts';
import type { Listener } from '../net/local-listeners.ts';
import type { ScopeRules } from './control.ts';

/** What a running scan reports, at most twice a second. */
export type LiveScan = Pick<Scan, 'results' | 'progress' | 'severity_counts' | 'warnings' | 'stages'>;

/** How a scan ended. */
export type ScanOutcome = LiveScan &
  Pick<Scan, 'error'> & { status: 'completed' | 'failed'; completed_at: string };

/** Messages to the process that runs one scan. `cancel`, `pause` and `rate` are answered once they hold. */
export type ToChild =
  | {
      type: 'start';
      request: ScanRequest;
      config: Config;
      workspaceDir: string;
      /** Whose scan it is; null without tenants. */
      tenant: string | null;
      /** When the scan was first started, ISO 8601 UTC. */
      startedAt: string;
      resumes: number;
      /** When this run of it began, `machineNow()`. */
      begunAt: number;
      /** It begins paused. */
      paused: boolean;
      /** Time that it was paused in earlier runs, milliseconds. */
      pausedMs: number;
      /** Packets per second that it may send at first; 0 = none until a `rate` comes. */
      rate: number;
      /** Where this server takes connections. */
      listeners: Listener[];
      /** Only a shard of the scan; null for the whole. */
      part: ShardPart | null;
      /** Addresses of names that were resolved when the scan began; they are not resolved again. */
      names: Record<string, string[]>;
      /** See RunScanInput. */
      evaluated: EvaluationData[] | null;
      /** The scan stops sending then, unless a `lease` puts it off, `machineNow()`; null = never. */
      leaseUntil: number | null;
    }
  | { type: 'lease'; until: number }
  | { type: 'cancel' }
  | { type: 'pause' }
  | { type: 'resume' }
  | { type: 'rate'; rate: number }
  | { type: 'scope'; rules: ScopeRules };

/**
 * Messages from it. `sealed` carries the number of durable rows of the record, `packets` how many this process has sent
 * so far, `evaluated` what a shard was evaluated with; `obeyed` answers a message.
 */
export type FromChild =
  | { type: 'ready' }
  | { type: 'obeyed' }
  | { type: 'live'; live: LiveScan }
  | { type: 'packets'; sent: number }
  | { type: 'sealed'; rows: number }
  | { type: 'evaluated'; data: EvaluationData }
  | { type: 'finished'; outcome: ScanOutcome }
  | { type: 'fault'; message: string };
