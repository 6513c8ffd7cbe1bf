import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { placePlugins } from '../actions/plugins/place-plugins.ts';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { PrivateFolder } from '../plugins/private-folder.ts';
import { Dispatcher } from '../queue/dispatcher.ts';
import { ShardQueue } from '../queue/shard-queue.ts';
import { WakeUps } from '../queue/wake-ups.ts';
import type { ModuleCatalog } from '../scan-run/plan/plan-scan.ts';
import { openStore, type Store } from '../store/open.ts';
import { isPostgresUrl, shownUrl } from '../store/postgres/postgres-url.ts';
import { logReason } from '../worker/log-reason.ts';
import { ShardWorker } from '../worker/shard-worker.ts';
import { requireSameMajor } from '../worker/worker-version.ts';
import { readLicense } from '../workspace/license/read-license.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { openAuditLogs } from './logging/audit.ts';
import { createServerLog, openLogOutput, type ServerLog } from './logging/log.ts';
import { openTraces } from './logging/open-traces.ts';
import { processesOf } from './scans/scan-processes.ts';
import { StandIns } from './shards/stand-ins.ts';

/** Retry delay for an unreachable database, milliseconds. */
const retryMs = 1000;
/** A server is present if its last heartbeat is younger than this, milliseconds. */
const presentMs = 60_000;
/** Part of the shutdown time reserved for closing, milliseconds. */
const closingMs = 1000;

export interface WorkerSettings {
  config: Config;
  /** Configuration warnings, for the log. */
  warnings: string[];
  pools: string[];
  tags: string[];
  /** Maximum concurrent shards. */
  concurrency: number;
}

export interface WorkerInput extends WorkerSettings {
  version: string;
  /** Entry file of scan processes. */
  entryFile: string;
  /** The builtin modules and graphs. */
  readCatalog: () => Promise<ModuleCatalog>;
}

/**
 * Runs a shard worker until it is stopped. Then returns running shards to the queue, within
 * `server.shutdown_timeout`.
 *
 * @throws PortolanError `configuration` without a PostgreSQL queue, or next to a server of another major version
 */
export async function runWorker(input: WorkerInput, signal: AbortSignal): Promise<void> {
  const { config } = input;
  const url = queueUrl(config);
  const temporary = config.workspace.enabled ? null : await mkdtemp(join(tmpdir(), 'portolan-worker-'));
  const workspace = await openWorkspace(temporary ?? config.workspace.dir);
  const output = openLogOutput(config.logging, workspace.dir);
  const log = createServerLog(config.logging, output);
  const plugins = new PrivateFolder();
  const traces = await openTraces(process.env, log, input.version);
  const audit = openAuditLogs(config, workspace.dir, log);
  try {
    for (const warning of input.warnings) log.warn(warning);
    const reached = await untilReached(url, log, signal);
    if (reached === null) return;
    const { store, dispatcher } = reached;
    const wakeUps = new WakeUps(url);
    try {
      const line = new ShardQueue(store, dispatcher, { leaseMs: config.workers.lease, wakeUps });
      await demandSameServers(store, line, input.version);
      const places = { store, config, license: await readLicense(config), folder: plugins };
      const { entryFile, readCatalog, ...settings } = input;
      const processes = processesOf({ config, entryFile, logOutput: output, log });
      const common = { ...settings, store, workspaceDir: workspace.dir, traces, log };
      const place = (request: ScanRequest) => placePlugins(request, places);
      const worker = new ShardWorker({
        ...common,
        placePlugins: place,
        line,
        idPrefix: '',
        scale: null,
        processes,
        listeners: [],
      });
      const standIns = new StandIns({
        ...common,
        entryFile,
        readCatalog,
        url,
        now: () => line.now(),
        worker,
        plugins: { place },
        audit,
        logOutput: output,
      });
      await worker.start();
      standIns.start();
      processes.prepare();
      const { pools, tags, concurrency, version } = input;
      log.info(
        { worker: worker.id, queue: shownUrl(url), pools, tags, concurrency, version },
        'worker started',
      );
      await aborted(signal);
      log.info('shutting down');
      const processesGone = processes.close();
      const timeoutMs = Math.max(closingMs, config.server.shutdown_timeout - closingMs);
      await Promise.all([standIns.close(timeoutMs), worker.stop(timeoutMs)]);
      await processesGone;
    } finally {
      await wakeUps.close();
      await dispatcher.close();
      await store.close();
    }
    log.info('stopped');
  } finally {
    await traces?.close();
    await audit.close();
    await output.close();
    await plugins.remove();
    if (temporary !== null) await rm(temporary, { recursive: true, force: true });
  }
}

/** @throws PortolanError `configuration` */
function queueUrl({ queue }: Config): string {
  if (queue.url !== null && isPostgresUrl(queue.url)) return queue.url;
  throw new PortolanError(
    'configuration',
    'a worker needs a PostgreSQL queue: set queue.url (SERVICE_QUEUE__URL) or --queue, ' +
      'such as postgres://portolan@db.example.net/portolan',
  );
}

/** Logs an unreachable database once, and retries. @returns null if the signal was aborted first */
async function untilReached(
  url: string,
  log: ServerLog,
  signal: AbortSignal,
): Promise<{ store: Store; dispatcher: Dispatcher } | null> {
  for (let tries = 1; !signal.aborted; tries++) {
    try {
      return await reach(url, log);
    } catch (err) {
      if (!(err instanceof PortolanError && err.code === 'unavailable')) throw err;
      if (tries === 1) log.warn(logReason(err), 'queue unreachable, retrying');
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return null;
}

async function reach(url: string, log: ServerLog): Promise<{ store: Store; dispatcher: Dispatcher }> {
  const store = await openStore(url);
  try {
    const dispatcher = await Dispatcher.start(url, (err) =>
      log.warn({ err }, 'queue maintenance failed, retrying'),
    );
    return { store, dispatcher };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function demandSameServers(store: Store, line: ShardQueue, version: string): Promise<void> {
  const servers = await store.hosts.servers((await line.now()) - presentMs);
  for (const server of servers) requireSameMajor(server, version);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
