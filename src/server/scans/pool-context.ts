import type { EventEmitter } from 'node:events';
import type { Config } from '../../config/schema.ts';
import type { Listener } from '../../net/local-listeners.ts';
import type { JobQueue } from '../../queue/queue.ts';
import type { ScopeRules } from '../../scan-run/control.ts';
import type { Store } from '../../store/open.ts';
import type { QueueClaim } from '../../store/scan-queue.ts';
import type { Tracer } from '../../telemetry/tracer.ts';
import type { AuditLogs } from '../../workspace/audit/audit-logs.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Installed } from '../installed.ts';
import type { ServerLog } from '../logging/log.ts';
import type { LogOutput } from '../logging/log-output.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { EndResults } from '../results/end-results.ts';
import type { ServerPlugins } from '../server-plugins.ts';
import type { Distribution } from '../shards/distribution.ts';
import type { ScanSlots } from './scan-slot.ts';

/** A scan that has left its worker. */
export interface ScanEnding {
  scanId: string;
  tenant: string | null;
  /** Whether the result store has its results. */
  isStored: boolean;
  /** Whether its end may have added notifications. */
  notifies: boolean;
}

/** In a worker that completes the scans of a server that is away. */
export interface StandInRole {
  /** Id of that server: no other scans are taken over. */
  serverId: string;
  /** Of the worker: what it sends itself must also be permitted by them. */
  rules: ScopeRules;
  /** Whether the worker serves the pool of small scans: pools are places in the network. */
  resumesUndivided: () => boolean;
}

export interface WorkerPoolInput {
  store: Store;
  queue: JobQueue;
  workspace: Workspace;
  config: Config;
  entryFile: string;
  log: ServerLog;
  /** Called when a scan has left its worker. */
  onScanEnd: (scan: ScanEnding) => void;
  audit: AuditLogs;
  metrics: Pick<Metrics, 'scanEnded' | 'countTraffic'>;
  endResults: EndResults;
  /** Receives the log lines of scan processes. */
  logOutput: LogOutput;
  /** Scans are divided among workers; null = each runs in a process of this server. */
  shards: Distribution | null;
  /** Of a worker that completes scans; null for a server. */
  standIn: StandInRole | null;
  installed: Pick<Installed, 'of'>;
  plugins: Pick<ServerPlugins, 'place'>;
  /** Null = no traces. */
  traces: Tracer | null;
}

/** Context of the parts of a worker pool. */
export interface PoolContext extends WorkerPoolInput {
  readonly slots: ScanSlots;
  /** Emits the ID of a scan that has changed. */
  readonly news: EventEmitter;
  /** Aborted when the server stops: no scan starts, and running ones are resumed at the next start. */
  readonly stopping: AbortSignal;
  /** Addresses that this server listens on; with `scanner.scope.protect_self` no scan may probe them. */
  listeners: readonly Listener[];
}

/** The folder of a scan, in the workspace of its tenant. */
export function folderOf(
  { workspace }: Pick<PoolContext, 'workspace'>,
  { scanId, tenant }: Pick<QueueClaim, 'scanId' | 'tenant'>,
): ScanFolder {
  return workspace.forTenant(tenant).scan(scanId);
}
