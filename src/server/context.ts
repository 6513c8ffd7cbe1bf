import type { Logger as PinoLogger } from 'pino';
import type { ScanChoices } from '../actions/decide-request.ts';
import type { Catalogue } from '../actions/plan-scan.ts';
import type { Licence } from '../actions/read-licence.ts';
import type { Config } from '../config/schema.ts';
import type { EmbeddedQueue } from '../queue/embedded.ts';
import type { Store } from '../store/open.ts';
import type { AuditLog } from '../workspace/audit-log.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { GarbageCollector } from './garbage.ts';
import type { LogOutput } from './log-output.ts';
import type { Metrics } from './metrics.ts';
import type { Notifier } from './notifier.ts';
import type { Settings } from './settings.ts';
import type { Tenants } from './tenants.ts';
import type { WorkerPool } from './workers.ts';

export interface ModuleInfo {
  name: string;
  type: string;
  description: string;
  version: string;
  source: string;
  requires: string[];
  provides: string[];
  config_schema: Record<string, unknown>;
}

export interface ProfileInfo {
  name: string;
  description: string;
  source: string;
  aliases: string[];
}

export interface DagInfo {
  name: string;
  description: string;
  source: string;
  nodes: number;
}

/** What is installed; asked anew for every answer. */
export interface Catalogues {
  modules(): ModuleInfo[];
  profiles(): ProfileInfo[];
  dags(): DagInfo[];
}

export interface VersionInfo {
  version: string;
  commit: string | null;
  built_at: string | null;
}

/** `starting` until it listens, `draining` from the first signal on. */
export type Phase = 'starting' | 'serving' | 'draining';

/** What the server works with. */
export interface ServerContext {
  /** The settings that hold now: the same object for the whole life of the server, see `settings`. */
  config: Config;
  settings: Settings;
  /** Of all tenants. */
  store: Store;
  /** Of all tenants. */
  workspace: Workspace;
  tenants: Tenants;
  licence: Licence;
  queue: EmbeddedQueue;
  workers: WorkerPool;
  garbage: GarbageCollector;
  notifier: Notifier;
  catalogues: Catalogues;
  /** What scans are planned with; its library is another one after a reload. */
  installed: Catalogue;
  version: VersionInfo;
  log: PinoLogger;
  logOutput: LogOutput;
  audit: AuditLog;
  /** Of the service as a whole; nothing in them tells of a tenant. */
  metrics: Metrics;
  /** Monotonic milliseconds (performance.now) of the start. */
  startedAt: number;
  phase: Phase;
  /** Aborted when long answers have to end. */
  closing: AbortSignal;
}

/**
 * What the routes work with. Store and workspace come with each request (`request.space`), as its tenant has them, so
 * that no route can reach those of another one.
 */
export type RouteContext = Omit<ServerContext, 'store' | 'workspace'>;

export function choicesOf({
  catalogues,
  installed,
  workers,
}: Pick<ServerContext, 'catalogues' | 'installed' | 'workers'>): ScanChoices {
  const dags = catalogues.dags().map(({ name }) => name);
  const { library } = installed;
  return { profiles: catalogues.profiles(), dags, installed: library, listeners: workers.listeners };
}
