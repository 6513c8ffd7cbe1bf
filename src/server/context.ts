import type { Logger as PinoLogger } from 'pino';
import type { RecordIndexes } from '../actions/record-index/record-indexes.ts';
import type { Config } from '../config/schema.ts';
import type { JobQueue } from '../queue/queue.ts';
import type { ReportThreads } from '../report/thread/report-threads.ts';
import type { EndWriter } from '../scan-run/finalize/interrupt-scan.ts';
import type { Store } from '../store/open.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import type { AuditLogs } from '../workspace/audit/audit-logs.ts';
import type { License } from '../workspace/license/read-license.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Admission } from './access/admission.ts';
import type { Tenants } from './access/tenants.ts';
import type { AlertEvaluator } from './background/alerts.ts';
import type { GarbageCollector } from './background/garbage.ts';
import type { Notifier } from './background/notifier.ts';
import type { RuleWatch } from './background/rule-watch.ts';
import type { StoreComparison } from './background/store-comparison.ts';
import type { StoreDamage } from './background/store-damage.ts';
import type { VulndbSync } from './background/vulndb-sync.ts';
import type { ServiceEvents } from './events/service-events.ts';
import type { Installed } from './installed.ts';
import type { LogOutput } from './logging/log-output.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { DamagedRecords } from './results/damaged-records.ts';
import type { ResultMover } from './results/result-mover.ts';
import type { ScanFeeds } from './scans/scan-feeds.ts';
import type { WorkerPool } from './scans/worker-pool.ts';
import type { ServerPlugins } from './server-plugins.ts';
import type { Settings } from './settings.ts';
import type { Distribution } from './shards/distribution.ts';

export interface VersionInfo {
  version: string;
  commit: string | null;
  built_at: string | null;
}

/** `starting` until it listens, `draining` from the first signal. */
export type Phase = 'starting' | 'serving' | 'draining';

/** Everything that the parts of the server share. */
export interface ServerContext {
  /** Current settings: the same object for the whole life of the server, see `settings`. */
  config: Config;
  settings: Settings;
  /** Of all tenants. */
  store: Store;
  /** Of all tenants. */
  workspace: Workspace;
  tenants: Tenants;
  admission: Admission;
  license: License;
  queue: JobQueue;
  workers: WorkerPool;
  /** Null with a single server. */
  shards: Distribution | null;
  /** Null without a result store. */
  results: ResultMover | null;
  /** Ends a scan that nobody runs. */
  endWith: EndWriter;
  reports: ReportThreads;
  indexes: RecordIndexes;
  damaged: DamagedRecords;
  comparison: StoreComparison;
  damage: StoreDamage;
  garbage: GarbageCollector;
  notifier: Notifier;
  alerts: AlertEvaluator;
  rules: RuleWatch;
  vulndb: VulndbSync;
  installed: Installed;
  plugins: ServerPlugins;
  /** Events of scans that clients follow. */
  feeds: ScanFeeds;
  /** Events of the service that clients follow. */
  events: ServiceEvents;
  version: VersionInfo;
  log: PinoLogger;
  logOutput: LogOutput;
  audit: AuditLogs;
  /** Null = no traces. */
  traces: Tracer | null;
  /** Of the whole service, without data of a tenant. */
  metrics: Metrics;
  /** Monotonic milliseconds (performance.now) of the start. */
  startedAt: number;
  phase: Phase;
  /** Aborted when streaming responses must end. */
  closing: AbortSignal;
}

/**
 * Context of the routes. Store, workspace, graphs and profiles come with each request (`request.space`), as seen by
 * its tenant, so routes cannot reach those of another one.
 */
export type RouteContext = Omit<ServerContext, 'store' | 'workspace' | 'installed'>;
