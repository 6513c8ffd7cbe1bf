import type { Config } from '../config/schema.ts';
import type { RateHistory, Scan, ScanRequest, ScanWarning } from '../domain/scan.ts';
import { scanLogFields } from '../domain/scan-origin.ts';
import type { EvaluationData, ShardPart } from '../domain/shard.ts';
import type { Traffic } from '../domain/traffic.ts';
import type { Listener } from '../net/local-listeners.ts';
import type { PlacedPlugin } from '../plugins/plugin.ts';
import type { ScopeRules } from './control.ts';
import type { ScanFailure } from './finalize/failure.ts';

/** Reports of a running scan, at most twice a second. */
export type LiveScan = Pick<Scan, 'results' | 'progress' | 'severity_counts' | 'warnings' | 'stages'>;

/** Outcome of a scan. */
export type ScanOutcome = LiveScan &
  Pick<Scan, 'error'> & { status: 'completed' | 'failed'; completed_at: string };

/** Commands to a running scan. Each is acknowledged once it takes effect. */
export type ProcessCommand =
  | { type: 'cancel' }
  | { type: 'pause' }
  | { type: 'resume' }
  /** Rate limit, packets per second; a scan sends nothing before the first one. */
  | { type: 'rate'; rate: number }
  /** From now on targets must also be permitted by these rules. */
  | { type: 'scope'; rules: ScopeRules }
  /** The scan stops sending then, unless another one extends it, `machineNow()`; without any it never does. */
  | { type: 'lease'; until: number };

/** Interval at which a process sends a heartbeat while it runs a scan, milliseconds. */
export const heartbeatMs = 2000;

/** Environment variable of a scan process: JSON of the fields that its log lines have before its scan arrives. */
export const logFieldsVariable = 'SERVICE_LOG_FIELDS';

export interface ScanStart {
  type: 'start';
  /** Whether the process waits for another scan afterwards; else it ends with this one. */
  reuse: boolean;
  request: ScanRequest;
  config: Config;
  workspaceDir: string;
  /** Tenant of the scan; null without tenants. */
  tenant: string | null;
  /** Of the submission; it stands in every log line of the process. */
  requestId: string | null;
  /** When the scan was first started, ISO 8601 UTC. */
  startedAt: string;
  resumes: number;
  /** Rates of earlier runs; null = none. */
  rateHistory: RateHistory | null;
  /** When this run started, `machineNow()`. */
  begunAt: number;
  /** Time paused in earlier runs, milliseconds. */
  pausedMs: number;
  /** Listeners of this server. */
  listeners: Listener[];
  /** The plugins of the request. */
  plugins: PlacedPlugin[];
  /** Set for a shard; null for the whole scan. */
  part: ShardPart | null;
  /** Addresses of names resolved at the start of the scan; they are not resolved again. */
  names: Record<string, string[]>;
  /** See RunScanInput. */
  evaluated: EvaluationData[] | null;
  warnings?: ScanWarning[];
  /** Commands from before the start; they take effect with it and are not acknowledged. */
  commands: ProcessCommand[];
}

/** Number of the scan of a process that a message belongs to, from 1: one may arrive after its scan has ended. */
interface OfRun {
  run: number;
}

/** Messages to a scan process. `end`: it runs no further scan, cleans up its modules and exits. */
export type ToChild = ((ScanStart | ProcessCommand) & OfRun) | { type: 'end' };

/**
 * Messages of a scan. `sealed` carries the number of sealed rows of the record, `traffic` what the scan
 * sent and received so far, `evaluated` the data a shard was evaluated with; `ack` acknowledges a command, `heartbeat` is
 * sent every `heartbeatMs`. After `failed` there is no outcome: another process could do no more, and this one waits to be
 * ended.
 */
export type ScanMessage =
  | { type: 'ack' }
  | { type: 'heartbeat' }
  | { type: 'live'; live: LiveScan }
  | { type: 'traffic'; traffic: Traffic }
  | { type: 'sealed'; rows: number }
  | { type: 'evaluated'; data: EvaluationData }
  | { type: 'finished'; outcome: ScanOutcome }
  | { type: 'failed'; failure: ScanFailure }
  | { type: 'fault'; message: string };

/** What a process is like after a scan. */
export interface ProcessState {
  /** What the scan left behind, so that no other one may run there; null = nothing. */
  residue: string | null;
  /** Resident memory, bytes. */
  memory: number;
}

/** Messages from it. `ready`: its program runs; `idle`: the scan has ended, and another one may start. */
export type FromChild =
  | { type: 'ready' }
  | ({ type: 'idle'; state: ProcessState } & OfRun)
  | (ScanMessage & OfRun);

/** What each log line of a scan has. */
export function logFieldsOf({ request, requestId, part }: Pick<ScanStart, 'request' | 'requestId' | 'part'>) {
  return { ...scanLogFields(request.scan_id, requestId), ...(part && { shard: part.shard }) };
}
