import { mkdtemp, rm } from 'node:fs/promises';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { finishDeletions } from '../actions/workspace/finish-deletions.ts';
import { isLoopbackHost, parseEndpoint } from '../config/endpoint.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { GraphLibrary } from '../engine/graph-library.ts';
import type { Registry } from '../engine/registry.ts';
import type { Listener } from '../net/local-listeners.ts';
import { EmbeddedQueue } from '../queue/embedded.ts';
import { checkModuleDefaults } from '../scan-run/plan/module-defaults.ts';
import { openStore, type Store } from '../store/open.ts';
import { ShardWorker } from '../worker/shard-worker.ts';
import { readLicense } from '../workspace/license/read-license.ts';
import { ReloadNotices } from '../workspace/reload-notice.ts';
import { FetchedScans } from '../workspace/result-store/fetched-scans.ts';
import { openResultStore } from '../workspace/result-store/open-result-store.ts';
import { serverId } from '../workspace/server-id.ts';
import { openWorkspace, type Workspace } from '../workspace/workspace.ts';
import { Admission } from './access/admission.ts';
import { isProtected, requiresTokens } from './access/auth.ts';
import { Tenants } from './access/tenants.ts';
import { alertWarning, ignoredAlertFiles } from './background/alert-files.ts';
import { FingerprintSync } from './background/fingerprint-sync.ts';
import { GarbageCollector } from './background/garbage.ts';
import { Housekeeping } from './background/housekeeping.ts';
import { JobClock } from './background/job-scheduler.ts';
import { watchLicense } from './background/license-watch.ts';
import { Notifier } from './background/notifier.ts';
import { openServiceNotifier } from './background/service-notify.ts';
import { StoreComparison } from './background/store-comparison.ts';
import { openWhenReachable } from './background/store-wait.ts';
import { VulndbSync } from './background/vulndb-sync.ts';
import type { ServerContext, VersionInfo } from './context.ts';
import type { GrpcListener } from './grpc/listener.ts';
import { buildApp } from './http/app.ts';
import type { App } from './http/app-type.ts';
import { OpenResponses } from './http/open-responses.ts';
import { checkUiFolder } from './http/resources/ui.ts';
import { Installed, type Libraries, problemsOf, readLibraries } from './installed.ts';
import { configChanged, openAuditLogs } from './logging/audit.ts';
import { createServerLog, logEnvironment, openLogOutput, type ServerLog } from './logging/log.ts';
import { Metrics } from './logging/metrics.ts';
import { DamagedRecords } from './results/damaged-records.ts';
import { ResultMover } from './results/result-mover.ts';
import { ScanFolders } from './results/scan-folders.ts';
import { ScanFeeds } from './scans/scan-feeds.ts';
import { ScanWindows } from './scans/scan-windows.ts';
import { WorkerPool } from './scans/worker-pool.ts';
import { WorkerScale } from './scans/worker-scale.ts';
import { Settings } from './settings.ts';
import type { Distribution } from './shards/distribution.ts';
import { ownPools } from './shards/presence.ts';
import { stabilizeTickShapes } from './tick-shape.ts';
import { prepareTlsReload, readTls, type TlsMaterial } from './tls.ts';

export interface StartInput {
  config: Config;
  /** Remarks about the configuration, for the log. */
  warnings: string[];
  /** Where each value comes from, by key. */
  origins: Map<string, string>;
  alertFiles: string[];
  /** Reads the settings anew from where they came, for a reload. */
  readConfig: () => Promise<LoadedConfig>;
  version: string;
  /** What the program was made from. */
  build: Omit<VersionInfo, 'version'>;
  /** The program that scan processes run. */
  entryFile: string;
  registry: Registry;
  /** Aborted when a start that waits for its store is to end. */
  stopping?: AbortSignal;
  /** The builtin graphs; those in folders are read at the start and at each reload. */
  library: GraphLibrary;
}

export interface RunningServer {
  /** Base URL for clients on this machine, without a slash at its end. */
  url: string;
  /** Takes no more work, lets running scans go, answers what is under way, gives the workspace back. */
  stop(): Promise<void>;
  /** Reads the settings anew and tells the log how that ended. Never throws. */
  reload(): Promise<void>;
}

/** Of the drain time, this is kept for what is stored and closed after the scans, milliseconds. */
const closingMs = 2000;
/** Of that, what comes after the last answer. */
const finalMs = 500;
/** However short the drain time is. */
const leastMs = 100;

/**
 * Opens the workspace, takes its lock and serves.
 * @throws PortolanError `configuration`; what the system says when the address cannot be bound
 */
export async function startServer(input: StartInput): Promise<RunningServer> {
  stabilizeTickShapes();
  const undo: (() => Promise<unknown>)[] = [];
  const unwind = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await assemble(input, undo, unwind);
  } catch (error) {
    await unwind();
    throw error;
  }
}

async function assemble(
  input: StartInput,
  undo: (() => Promise<unknown>)[],
  unwind: () => Promise<void>,
): Promise<RunningServer> {
  const { config } = input;
  input.registry.maxRate = () => config.scanner.max_rate;
  const libraries = await readLibraries(input.library, input.registry, config, null);
  checkDefaultProfile(input, libraries.service);
  checkModuleDefaults(input, input.registry);
  await checkUiFolder(input);
  const tls = await readTls(config.server.tls);
  const licence = await readLicense(config);
  if (config.multi_tenant.enabled) licence.demand('multi_tenant');
  const installed = new Installed(input.registry, libraries, licence);
  const workspace = await openWorkspace(await workspaceDir(config, undo));
  const lock = await workspace.lock({ url: '' });
  undo.push(() => lock.release());
  const output = openLogOutput(config.logging, workspace.dir);
  const log = createServerLog(config.logging, output);
  undo.push(async () => {
    log.info('stopped');
    await output.close();
  });
  const audit = openAuditLogs(config, workspace.dir, log);
  undo.push(() => audit.close());
  const manager = openServiceNotifier(process.env, (message) => log.warn(message));
  await workspace.makeTenants(config.multi_tenant.enabled ? config.multi_tenant.tenants : []);
  await audit.check();
  const results = await openResultStore(config);
  const { bind } = config.server;
  const { store, shards } = await openWhenReachable(() => openStores(config, workspace, log), {
    bind,
    tls,
    grpcBind: config.server.grpc.enabled ? config.server.grpc.bind : null,
    log,
    stopping: input.stopping,
  });
  undo.push(async () => {
    await shards?.close();
    await store.close();
  });
  await finishCutOffDeletions(store, workspace, log);
  const settings = new Settings(input, input.readConfig, log);
  const leaseMs = config.workers.lease;
  const queue = shards?.queue ?? new EmbeddedQueue(store, { leaseMs });
  const fetched = results && new FetchedScans(results, workspace);
  const folders = new ScanFolders({ store, workspace, fetched, log });
  undo.push(() => folders.close());
  const mover = results && fetched && new ResultMover({ store, workspace, results, fetched, log });
  if (mover) undo.push(() => mover.close());
  const { retention } = config.workspace;
  const garbage = new GarbageCollector({ store, workspace, retention, results: mover }, log);
  undo.push(() => garbage.close());
  const housekeeping = new Housekeeping({ store, workspace }, log);
  undo.push(() => housekeeping.close());
  const comparison = new StoreComparison({ store, workspace }, log);
  undo.push(() => comparison.close());
  const fingerprintSync = new FingerprintSync(config, log);
  undo.push(() => fingerprintSync.close());
  const vulndbSync = new VulndbSync(config, log);
  undo.push(() => vulndbSync.close());
  const metrics = new Metrics({ store, workspace, version: input.version });
  const notifier = new Notifier({
    store,
    workspace,
    config,
    log,
    onEnd: (type, status) => metrics.notificationEnded(type, status),
  });
  undo.push(() => notifier.close());
  const workers = new WorkerPool({
    store,
    queue,
    workspace,
    config,
    entryFile: input.entryFile,
    log,
    audit,
    metrics,
    onScanEnd: () => {
      notifier.wake();
      garbage.sweep();
      mover?.wake();
    },
    logOutput: output,
    shards,
    installed,
  });
  metrics.followWorkers(workers);
  undo.push(() => workers.close(config.server.shutdown_timeout));

  const closing = new AbortController();
  const damaged = new DamagedRecords(log);
  const tenants = new Tenants({ config, store, workspace, folders, damaged, installed });
  const context: ServerContext = {
    config,
    settings,
    store,
    workspace,
    tenants,
    admission: new Admission({ config, store, tenants, licence, log }),
    licence,
    queue,
    workers,
    shards,
    results: mover,
    damaged,
    comparison,
    garbage,
    notifier,
    installed,
    feeds: new ScanFeeds(workers),
    version: { version: input.version, ...input.build },
    log,
    logOutput: output,
    audit,
    metrics,
    startedAt: performance.now(),
    phase: 'starting',
    closing: closing.signal,
  };
  for (const warning of tls?.warnings ?? []) log.warn(warning);
  const app = await buildApp(context, tls);
  const drain = new Drain(config.server.shutdown_timeout);
  const answers = new OpenResponses(app.server);
  const grpc = config.server.grpc.enabled ? await openGrpc(context, tls) : null;
  undo.push(() => closeApp(app, grpc, answers, closing, drain));
  const url = await listen(app, config);
  await grpc?.listen();
  workers.listeners = [...app.addresses().flatMap((bound) => listenerOf(bound)), ...(grpc?.listeners ?? [])];
  await shards?.announce(urlForOthers(url, config), input.version);
  const windows = new ScanWindows(config, workers, log);
  undo.push(async () => windows.close());
  windows.start();
  await workers.start();
  const own = shards && ownWorker(input, context, shards);
  if (shards && own) {
    undo.push(() => own.stop(drain.leftMs(closingMs)));
    // The server before is gone, and its own workers with it.
    await shards.line.releaseOf(ownWorkers(shards));
    await own.start();
  }
  await notifier.start();
  garbage.start();
  housekeeping.start();
  comparison.start();
  await folders.start();
  mover?.start();
  vulndbSync.start();
  fingerprintSync.start();
  const jobClock = new JobClock(context);
  undo.push(() => jobClock.close());
  await jobClock.start();
  const stopWatching = watchLicense(licence, log);
  undo.push(async () => stopWatching());
  await lock.setUrl(url);
  context.phase = 'serving';
  announce(log, input, url);
  tellProblems(libraries, log);
  followSettings(context, app, tls !== null);
  if (grpc) settings.onReload('server.tls', ({ server }) => grpc.prepareTlsReload(server.tls));
  settings.onReload('scanner.windows', (_next, changed) => {
    const concerns = changed.has('scanner.windows') || changed.has('scanner.freeze');
    return concerns ? () => windows.renew() : undefined;
  });
  followInstalled(context, input);
  settings.observe({
    begin: () => manager.reloading(),
    end: ({ ok, changed, needs_restart, problems }) => {
      manager.ready();
      void audit.record(configChanged('config.reload', ok, { changed, needs_restart, problems }));
    },
  });
  manager.ready();
  const reloads = new ReloadNotices(workspace.dir);
  undo.push(() => reloads.remove());
  return {
    url,
    stop: () => {
      manager.stopping();
      return shutDown(context, own, drain, unwind);
    },
    reload: () => reload(context, reloads),
  };
}

/** What the ids of the server's own workers begin with. */
function ownWorkers({ home }: Distribution): string {
  return `${home}:`;
}

function ownWorker(
  { config, version, entryFile }: StartInput,
  { store, workspace, workers, logOutput, log }: ServerContext,
  shards: Distribution,
): ShardWorker {
  return new ShardWorker({
    store,
    line: shards.line,
    config,
    workspaceDir: workspace.dir,
    idPrefix: ownWorkers(shards),
    pools: [...ownPools],
    tags: [],
    concurrency: config.workers.auto_scale ? config.workers.max : config.server.workers,
    // A process exists only while it runs a shard; the places, as the health endpoint counts them, follow the work too.
    scale: config.workers.auto_scale ? new WorkerScale(config) : null,
    version,
    entryFile,
    env: { ...process.env, ...logEnvironment(config.logging) },
    listeners: workers.listeners,
    homeUrl: null,
    ownHome: shards.ownHome,
    onLogLine: logOutput.lineTaker(),
    log,
  });
}

/** Before anybody can list a scan whose folder is gone. */
async function finishCutOffDeletions(store: Store, workspace: Workspace, log: ServerLog): Promise<void> {
  const { scan_ids, failed } = await finishDeletions({ store, workspace });
  if (scan_ids.length > 0) log.info({ scan_ids }, 'interrupted deletions finished');
  if (failed > 0) log.warn({ folders: failed }, 'interrupted deletions could not be finished');
}

/** @throws PortolanError `unavailable` as long as a database on another host cannot be reached; `configuration` */
async function openStores(
  { queue: { url }, workers, workspace: { result_store } }: Config,
  workspace: Workspace,
  log: ServerLog,
): Promise<{ store: Store; shards: Distribution | null }> {
  const store = await openStore(
    url ?? workspace.storeFile,
    url === null ? null : await serverId(workspace.dir),
    true,
  );
  if (url === null) return { store, shards: null };
  try {
    const { openDistribution } = await import('./shards/distribution.ts');
    const leaseMs = workers.lease;
    return {
      store,
      shards: await openDistribution({
        store,
        url,
        workspaceDir: workspace.dir,
        leaseMs,
        storesResults: result_store.url !== null,
        log,
      }),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Its libraries are loaded where it is served only. */
async function openGrpc(context: ServerContext, tls: TlsMaterial | null): Promise<GrpcListener> {
  const { GrpcListener } = await import('./grpc/listener.ts');
  return new GrpcListener(context, tls);
}

async function reload({ settings, phase, log }: ServerContext, notices: ReloadNotices): Promise<void> {
  if (phase === 'draining') return;
  const report = await settings.reload();
  await notices
    .write(report)
    .catch((err: unknown) => log.warn({ err }, 'the outcome of a reload was not kept'));
}

/** What is derived from settings is renewed when they are read again. */
function followSettings(
  { settings, log, logOutput, garbage, workers, notifier }: ServerContext,
  app: App,
  secure: boolean,
): void {
  settings.onReload('logging', ({ logging }) => () => {
    log.level = logging.level;
    // Also when nothing has changed: somebody may have moved the file away.
    logOutput.use(logging);
  });
  settings.onReload('workspace.retention', (_next, changed) => {
    const concerns = [...changed].some((path) => path.startsWith('workspace.retention.'));
    return concerns ? () => garbage.sweep() : undefined;
  });
  settings.onReload('notifications', (_next, changed) => {
    const concerns = [...changed].some((path) => path.startsWith('notifications.'));
    return concerns ? () => notifier.forgetFailures() : undefined;
  });
  settings.onReload('scanner.scope', ({ scanner }, changed) => {
    const concerns = [...changed].some((path) => path.startsWith('scanner.'));
    return concerns ? () => workers.narrowScope(scanner) : undefined;
  });
  if (secure) {
    const listener = app.server as HttpsServer;
    settings.onReload('server.tls', (next) => prepareTlsReload(listener, next.server.tls, log));
  }
}

/** Folders with graphs and profiles are read again with the settings. Scans that were accepted keep what they have. */
function followInstalled({ settings, installed, log }: ServerContext, input: StartInput): void {
  settings.onReload('profiles', async () => {
    const { library, registry, config } = input;
    const libraries = await readLibraries(library, registry, config, installed.libraries);
    checkDefaultProfile(input, libraries.service);
    return () => {
      tellProblems(libraries, log);
      installed.libraries = libraries;
    };
  });
}

function tellProblems(libraries: Libraries, log: ServerLog): void {
  for (const { message } of problemsOf(libraries))
    log.warn(`a file with a profile or graph is not used: ${message}`);
}

function checkDefaultProfile({ config, origins }: StartInput, library: GraphLibrary): void {
  const name = config.scanner.default_profile;
  if (library.profile(name)) return;
  const known = library
    .profiles()
    .map((profile) => profile.name)
    .join(', ');
  throw new PortolanError(
    'configuration',
    `${origins.get('scanner.default_profile')} scanner.default_profile: there is no profile ${JSON.stringify(name)}; valid names: ${known}`,
  );
}

/** With the workspace disabled, scans live in a temporary folder until the process ends. */
async function workspaceDir(config: Config, undo: (() => Promise<unknown>)[]): Promise<string> {
  if (config.workspace.enabled) return config.workspace.dir;
  const folder = await mkdtemp(join(tmpdir(), 'portolan-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'workspace');
}

/** Unix sockets are out of the reach of scans. */
function listenerOf(bound: string | AddressInfo | null): Listener[] {
  return bound === null || typeof bound === 'string' ? [] : [{ host: bound.address, port: bound.port }];
}

async function listen(app: App, config: Config): Promise<string> {
  const { host, port } = parseEndpoint(config.server.bind) ?? { host: '127.0.0.1', port: 8080 };
  await app.listen({ host, port });
  const bound = app.server.address() as AddressInfo;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const scheme = config.server.tls.enabled ? 'https' : 'http';
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound.port}`;
}

/** Where workers on other hosts find the server; bound to all addresses, it says the first that is not loopback. */
function urlForOthers(url: string, { server }: Config): string {
  const host = parseEndpoint(server.bind)?.host;
  if (host !== '0.0.0.0' && host !== '::') return url;
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const outside = addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80'));
  const chosen = outside.find(({ family }) => family === 'IPv4') ?? outside[0];
  if (!chosen) return url;
  const place = new URL(url);
  place.hostname = chosen.family === 'IPv6' ? `[${chosen.address}]` : chosen.address;
  return place.origin;
}

function announce(log: ServerLog, { config, warnings, alertFiles, version }: StartInput, url: string): void {
  for (const warning of warnings) log.warn(warning);
  for (const path of ignoredAlertFiles({ config, alertFiles })) log.warn(alertWarning(path));
  if (isProtected(config)) {
    log.warn(
      'PROTECTED MODE: bound to an outside address without tokens, so only clients on this machine are served. ' +
        'Set server.api.auth: true, or server.allow_insecure: true to serve everybody.',
    );
  }
  const outside = !isLoopbackHost(parseEndpoint(config.server.bind)?.host ?? '');
  if (outside && !requiresTokens(config) && config.server.allow_insecure) {
    log.warn('server.allow_insecure is set: everybody who reaches this address may scan with it');
  }
  log.info({ url, version, auth: requiresTokens(config) }, 'portolan serves');
}

/** The time that a stop may take. */
class Drain {
  readonly #timeoutMs: number;
  #startedAt: number | null = null;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  begin(): void {
    this.#startedAt ??= performance.now();
  }

  /** Milliseconds left when so many are kept for what comes after; nothing is left before it has begun. */
  leftMs(keptMs: number): number {
    const passed = this.#startedAt === null ? this.#timeoutMs : performance.now() - this.#startedAt;
    return Math.max(leastMs, this.#timeoutMs - passed - keptMs);
  }
}

async function shutDown(
  context: ServerContext,
  own: ShardWorker | null,
  drain: Drain,
  unwind: () => Promise<void>,
): Promise<void> {
  if (context.phase === 'draining') return;
  context.phase = 'draining';
  drain.begin();
  context.log.info('shutting down');
  // As long as scans take in what their workers have found.
  await own?.stop(drain.leftMs(closingMs));
  await context.workers.close(drain.leftMs(closingMs));
  await unwind();
}

/**
 * Event streams end at once; answers that are under way, long downloads too, have the rest of the drain time. Meanwhile
 * whoever asks still hears that the server goes.
 */
async function closeApp(
  app: App,
  grpc: GrpcListener | null,
  answers: OpenResponses,
  closing: AbortController,
  drain: Drain,
): Promise<void> {
  closing.abort();
  const left = drain.leftMs(finalMs);
  await Promise.all([answers.ended(left), grpc?.close(left)]);
  const closed = app.close();
  app.server.closeAllConnections();
  await closed;
}
