import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finishDeletions } from '../actions/workspace/finish-deletions.ts';
import type { Config } from '../config/schema.ts';
import type { PoolTags } from '../domain/pool-tags.ts';
import { openStore, type Store } from '../store/open.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import type { AuditLogs } from '../workspace/audit/audit-logs.ts';
import { openResultStore } from '../workspace/result-store/open-result-store.ts';
import type { ResultStore } from '../workspace/result-store/result-store.ts';
import { serverId } from '../workspace/server-id.ts';
import { openWorkspace, type Workspace } from '../workspace/workspace.ts';
import { openServiceNotifier, type ServiceNotifier } from './background/service-notify.ts';
import { openWhenReachable } from './background/store-wait.ts';
import type { Components } from './components.ts';
import { openAuditLogs } from './logging/audit.ts';
import { createServerLog, openLogOutput, type ServerLog } from './logging/log.ts';
import type { LogOutput } from './logging/log-output.ts';
import { openTraces } from './logging/open-traces.ts';
import type { Distribution } from './shards/distribution.ts';
import { scanSettings } from './shards/scan-settings.ts';
import type { TlsMaterial } from './tls.ts';

/** Resources that a server holds open, and values derived from them. */
export interface Resources {
  workspace: Workspace;
  /** Writes the URL of the server into the lock of the workspace. */
  setUrl: (url: string) => Promise<void>;
  logOutput: LogOutput;
  log: ServerLog;
  audit: AuditLogs;
  serviceManager: ServiceNotifier;
  /** Null = no traces. */
  traces: Tracer | null;
  /** Null = results stay in the workspace. */
  results: ResultStore | null;
  store: Store;
  /** Null with a single server. */
  shards: Distribution | null;
}

export interface OpenInput {
  config: Config;
  tls: TlsMaterial | null;
  /** Program version. */
  version: string;
  /** Aborts a start that waits for its store. */
  stopping?: AbortSignal | undefined;
}

/**
 * Opens workspace, log and store, and locks the workspace. Adds each to the components once it is open.
 * @throws PortolanError `configuration`, `conflict` if another server uses the workspace
 */
export async function openResources(input: OpenInput, components: Components): Promise<Resources> {
  const { config } = input;
  const { workspace, setUrl } = await lockWorkspace(config, components);
  const { logOutput, log } = openLog(config, workspace, components);
  const traces = await openTraces(process.env, log, input.version);
  components.add({ close: () => traces?.close() });
  const audit = openAuditLogs(config, workspace.dir, log);
  components.add({ close: () => audit.close() });
  const serviceManager = openServiceNotifier(process.env, (message) => log.warn(message));
  await workspace.makeTenants(config.multi_tenant.enabled ? config.multi_tenant.tenants : []);
  await audit.check();
  const { store, shards } = await openStores(input, workspace, log);
  components.add({
    close: async () => {
      await shards?.close();
      await store.close();
    },
  });
  const results = await openResultStore(config, store);
  await finishCutOffDeletions(store, workspace, log);
  return { workspace, setUrl, logOutput, log, audit, serviceManager, traces, results, store, shards };
}

async function lockWorkspace(config: Config, components: Components) {
  const workspace = await openWorkspace(await workspaceDir(config, components));
  const lock = await workspace.lock({ url: '' });
  components.add({ close: () => lock.release() });
  return { workspace, setUrl: (url: string) => lock.setUrl(url) };
}

/** With the workspace disabled, scans use a temporary folder until the process exits. */
async function workspaceDir(config: Config, components: Components): Promise<string> {
  if (config.workspace.enabled) return config.workspace.dir;
  const folder = await mkdtemp(join(tmpdir(), 'portolan-'));
  components.add({ close: () => rm(folder, { recursive: true, force: true }) });
  return join(folder, 'workspace');
}

function openLog(config: Config, workspace: Workspace, components: Components) {
  const logOutput = openLogOutput(config.logging, workspace.dir);
  const log = createServerLog(config.logging, logOutput);
  components.add({
    close: async () => {
      log.info('stopped');
      await logOutput.close();
    },
    reload: {
      logging:
        ({ logging }) =>
        () => {
          log.level = logging.level;
          // Even without changes: the file may have been moved away.
          logOutput.use(logging);
        },
    },
  });
  return { logOutput, log };
}

/** Waits for a remote database; meanwhile clients get `unavailable`. */
async function openStores({ config, tls, stopping }: OpenInput, workspace: Workspace, log: ServerLog) {
  const { bind, grpc } = config.server;
  const grpcBind = grpc.enabled ? grpc.bind : null;
  return await openWhenReachable(() => tryOpenStores(config, workspace, log), {
    bind,
    tls,
    grpcBind,
    log,
    stopping,
  });
}

/** @throws PortolanError `unavailable` while a remote database cannot be reached; `configuration` */
async function tryOpenStores(
  config: Config,
  workspace: Workspace,
  log: ServerLog,
): Promise<Pick<Resources, 'store' | 'shards'>> {
  const { queue, workers } = config;
  const { url } = queue;
  if (url === null) return { store: await openStore(workspace.storeFile, null, true), shards: null };
  const store = await openStore(url, await serverId(workspace.dir), true);
  try {
    const { openDistribution } = await import('./shards/distribution.ts');
    const shards = await openDistribution({
      store,
      url,
      workspaceDir: workspace.dir,
      leaseMs: workers.lease,
      maxAttempts: workers.max_attempts,
      poolTags: poolTagsOf(workers),
      settings: () => scanSettings(config),
      freeBytes: () => workspace.freeBytes(),
      log,
    });
    return { store, shards };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function poolTagsOf({ pools }: Config['workers']): PoolTags {
  return Object.fromEntries(Object.entries(pools ?? {}).map(([name, { tags }]) => [name, tags]));
}

/** Before clients can list a scan whose folder is gone. */
async function finishCutOffDeletions(store: Store, workspace: Workspace, log: ServerLog): Promise<void> {
  const { scan_ids, failed } = await finishDeletions({ store, workspace });
  if (scan_ids.length > 0) log.info({ scan_ids }, 'interrupted deletions finished');
  if (failed > 0) log.warn({ folders: failed }, 'finishing interrupted deletions failed');
}
