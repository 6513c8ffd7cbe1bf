import type { Logger as PinoLogger } from 'pino';
import type { ScanChoices } from '../actions/decide-request.ts';
import type { Config } from '../config/schema.ts';
import type { EmbeddedQueue } from '../queue/embedded.ts';
import type { Store } from '../store/open.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { GarbageCollector } from './garbage.ts';
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

/** What the routes work with. */
export interface ServerContext {
  config: Config;
  store: Store;
  workspace: Workspace;
  queue: EmbeddedQueue;
  workers: WorkerPool;
  garbage: GarbageCollector;
  catalogues: Catalogues;
  version: VersionInfo;
  log: PinoLogger;
  /** Monotonic milliseconds (performance.now) of the start. */
  startedAt: number;
  phase: Phase;
  /** Aborted when long answers have to end. */
  closing: AbortSignal;
}

export function choicesOf({ catalogues }: ServerContext): ScanChoices {
  return { profiles: catalogues.profiles(), dags: catalogues.dags().map(({ name }) => name) };
}
