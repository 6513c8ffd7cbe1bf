import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import { openStore } from '../../store/open.ts';
import { type ShardWorker, workerFolders } from '../../worker/shard-worker.ts';
import { folderMode } from '../../workspace/atomic-file.ts';
import { serverId } from '../../workspace/server-id.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { Components } from '../components.ts';
import { Metrics } from '../metrics/metrics.ts';
import { EndResults } from '../results/end-results.ts';
import type { WorkerPoolInput } from '../scans/pool-context.ts';
import { scanComponent } from '../scans/scan-component.ts';
import { WorkerPool } from '../scans/worker-pool.ts';
import { ShutdownDeadline } from '../shutdown-deadline.ts';
import { openDistribution } from './distribution.ts';
import { standInUrl } from './presence.ts';
import { scopeRules, withScanSettings } from './scan-settings.ts';

/** A server that is away, and the settings of its scans. */
export interface AwayServer {
  serverId: string;
  settings: string;
}

type FromWorker = 'entryFile' | 'log' | 'logOutput' | 'audit' | 'plugins' | 'traces';

export interface StandInInput extends Pick<WorkerPoolInput, FromWorker> {
  /** Of the worker. */
  config: Config;
  /** Of the database. */
  url: string;
  version: string;
  /** Contains a folder for the scans. */
  workspaceDir: string;
  /** It has the places for small scans. */
  worker: Pick<ShardWorker, 'takePlace'>;
  /** The builtin modules and graphs. */
  readCatalog: () => Promise<ModuleCatalog>;
}

export interface StandIn {
  /** Number of scans that it runs. */
  readonly claimed: number;
  /** Whether it has unfinished scans: nobody else completes them while it is there. */
  hasScans(): Promise<boolean>;
  /** Whether the server that is away has some that it can complete. */
  findsScans(): Promise<boolean>;
  close(timeoutMs: number): Promise<void>;
}

/**
 * Takes no submissions, starts no jobs, collects no garbage and sends no notifications: that is what servers are set up for.
 * @param resumesUndivided as for `StandInRole`
 */
export async function startStandIn(
  input: StandInInput,
  away: AwayServer,
  resumesUndivided: () => boolean,
): Promise<StandIn> {
  const { url, version, log, worker } = input;
  const config = withScanSettings(input.config, away.settings);
  const parts = new Components();
  try {
    const folder = join(
      workerFolders(input.workspaceDir),
      `${process.pid}-server-${randomBytes(4).toString('hex')}`,
    );
    await mkdir(folder, { recursive: true, mode: folderMode });
    parts.add({ close: () => rm(folder, { recursive: true, force: true }) });
    const workspace = await openWorkspace(folder);
    const { enabled, tenants } = config.multi_tenant;
    await workspace.makeTenants(enabled ? tenants : []);
    const id = await serverId(folder);
    const store = await openStore(url, id);
    parts.add({ close: () => store.close() });
    const shards = await openDistribution({
      store,
      url,
      workspaceDir: folder,
      leaseMs: config.workers.lease,
      maxAttempts: config.workers.max_attempts,
      poolTags: {},
      // Another worker may have to go on.
      settings: () => away.settings,
      freeBytes: async () => null,
      log,
    });
    parts.add({ close: () => shards.close() });
    shards.localWorker = worker;
    const metrics = new Metrics();
    const { registry, library } = await input.readCatalog();
    const pool = new WorkerPool({
      ...input,
      config,
      store,
      workspace,
      shards,
      queue: shards.queue,
      metrics,
      endResults: new EndResults({ store, workspace, config, metrics, isOnlyCopy: true }),
      installed: { of: () => ({ registry, library }) },
      standIn: {
        serverId: away.serverId,
        rules: scopeRules(input.config),
        resumesUndivided,
      },
      onScanEnd: () => undefined,
    });
    const announced = { start: () => shards.announce(standInUrl, version) };
    await parts.start([announced, scanComponent({ config, workers: pool, log })]);
    return {
      get claimed() {
        return pool.claimed;
      },
      hasScans: async () => (await store.scanQueue.unfinishedOf([id], 1)).length > 0,
      findsScans: () => store.scanTakeovers.isLeft(away.serverId, { resumesUndivided: resumesUndivided() }),
      close: (timeoutMs) => parts.close(new ShutdownDeadline(timeoutMs)),
    };
  } catch (error) {
    await parts.close(new ShutdownDeadline(0)).catch(() => undefined);
    throw error;
  }
}
