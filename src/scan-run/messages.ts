import type { Config } from '../config/schema.ts';
import type { Scan, ScanRequest } from '../domain/scan.ts';
import type { EvaluationData, ShardPart } from '../domain/shard.ts';
import type { Listener } from '../net/local-listeners.ts';
import type { ScopeRules } from './control.ts';

/** Reports of a running scan, at most twice a second. */
export type LiveScan = Pick<Scan, 'results' | 'progress' | 'severity_counts' | 'warnings' | 'stages'>;

/** Outcome of a scan. */
export type ScanOutcome = LiveScan &
  Pick<Scan, 'error'> & { status: 'completed' | 'failed'; completed_at: string };

/** Messages to the process that runs one scan. `cancel`, `pause` and `rate` are acknowledged once they take effect. */
export type ToChild =
  | {
      type: 'start';
      request: ScanRequest;
      config: Config;
      workspaceDir: string;
      /** Tenant of the scan; null without tenants. */
      tenant: string | null;
      /** When the scan was first started, ISO 8601 UTC. */
      startedAt: string;
      resumes: number;
      /** When this run started, `machineNow()`. */
      begunAt: number;
      /** Starts paused. */
      paused: boolean;
      /** Time paused in earlier runs, milliseconds. */
      pausedMs: number;
      /** Initial rate limit, packets per second; 0 = none until a `rate` arrives. */
      rate: number;
      /** Listeners of this server. */
      listeners: Listener[];
      /** Set for a shard; null for the whole scan. */
      part: ShardPart | null;
      /** Addresses of names resolved at the start of the scan; they are not resolved again. */
      names: Record<string, string[]>;
      /** See RunScanInput. */
      evaluated: EvaluationData[] | null;
      /** The scan stops sending then, unless a `lease` extends it, `machineNow()`; null = never. */
      leaseUntil: number | null;
    }
  | { type: 'lease'; until: number }
  | { type: 'cancel' }
  | { type: 'pause' }
  | { type: 'resume' }
  | { type: 'rate'; rate: number }
  | { type: 'scope'; rules: ScopeRules };

/**
 *
 * Messages from it. `sealed` carries the number of durable rows of the record, `packets` the packets sent by this
 * process so far, `evaluated` the data a shard was evaluated with; `obeyed` acknowledges a message.
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
