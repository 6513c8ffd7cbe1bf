import { readAlertRules } from '../alerts/read-rules.ts';
import type { LoadedConfig } from '../config/load.ts';
import { readLicense } from '../workspace/license/read-license.ts';
import { ReloadNotices } from '../workspace/reload-notice.ts';
import { announce } from './announce.ts';
import { ApiListeners } from './api-listeners.ts';
import { backgroundComponents } from './background/background-components.ts';
import type { ServiceNotifier } from './background/service-notify.ts';
import { buildContext } from './build-context.ts';
import { type Component, Components } from './components.ts';
import type { ServerContext, VersionInfo } from './context.ts';
import { checkUiFolder } from './http/resources/ui.ts';
import { Installed } from './installed.ts';
import { configChanged } from './logging/audit.ts';
import { openResources, type Resources } from './open-resources.ts';
import { followInstalled, type InstalledInput, readInstallation } from './read-installed.ts';
import { scanComponent } from './scans/scan-component.ts';
import { ServerPlugins } from './server-plugins.ts';
import { Settings } from './settings.ts';
import { LocalWorker } from './shards/local-worker.ts';
import { ShutdownDeadline } from './shutdown-deadline.ts';
import { stabilizeTickShapes } from './tick-shape.ts';
import { readTls } from './tls.ts';

export interface StartInput extends InstalledInput {
  /** Configuration warnings, for the log. */
  warnings: string[];
  /** Possible files of alert rules. */
  alertFiles: string[];
  /** Reads the settings from their source again, for a reload. */
  readConfig: () => Promise<LoadedConfig>;
  version: string;
  /** Build information of the program. */
  build: Omit<VersionInfo, 'version'>;
  /** Entry file of scan processes. */
  entryFile: string;
  /** Files of plugins for all scans. */
  plugins?: readonly string[];
  /** Aborts a start that waits for its store. */
  stopping?: AbortSignal;
}

export interface RunningServer {
  /** Base URL for clients on this machine, without a trailing slash. */
  url: string;
  /** Stops: accepts no more work, detaches running scans, completes pending responses, unlocks the workspace. */
  stop(): Promise<void>;
  /** Reads the settings again and logs the outcome. Never throws. */
  reload(): Promise<void>;
}

/**
 * Opens and locks the workspace, then serves.
 * @throws PortolanError `configuration`; the system error if the address cannot be bound
 */
export async function startServer(input: StartInput): Promise<RunningServer> {
  stabilizeTickShapes();
  const components = new Components();
  try {
    return await start(input, components);
  } catch (error) {
    // An error while closing would hide why the start failed.
    await components.close(deadlineOf(input)).catch(() => undefined);
    throw error;
  }
}

async function start(input: StartInput, components: Components): Promise<RunningServer> {
  const { config } = input;
  const license = await readLicense(config);
  const plugins = new ServerPlugins({ ...input, files: input.plugins ?? [], license });
  components.add({ close: () => plugins.remove() });
  const inForce = await readInstallation(input, plugins);
  await checkUiFolder(input);
  const alertRules = await readAlertRules(input.alertFiles, config.alerts.file);
  const tls = await readTls(config.server.tls);
  if (config.multi_tenant.enabled) license.demand('multi_tenant');
  const installed = new Installed(inForce, license);
  const resources = await openResources({ ...input, tls }, components);
  const settings = new Settings(input, input.readConfig, resources.log);
  const closing = new AbortController();
  const version = { version: input.version, ...input.build };
  const { context, folders, indexKeeper } = buildContext({
    ...input,
    ...resources,
    settings,
    license,
    installed,
    plugins,
    alertRules,
    version,
    closing: closing.signal,
  });
  const listeners = new ApiListeners(context, tls, closing);
  const reloads = new ReloadNotices(context.workspace.dir);
  const drain = drainReports(context);
  await components.start([
    listeners,
    drain.afterScans,
    ...scanComponents(context, listeners, input),
    drain.beforeScans,
    ...backgroundComponents(context, folders, indexKeeper),
    { start: () => serve(context, resources, listeners.url, input) },
    followInstalled(context, input),
    { close: () => reloads.remove() },
    serviceManager(context, resources.serviceManager),
  ]);
  components.follow(settings);
  return {
    url: listeners.url,
    stop: () => stop(context, components),
    reload: () => reload(context, reloads),
  };
}

/** Before the first scan starts, it must know the addresses that this server listens on. */
function scanComponents(
  context: ServerContext,
  listeners: ApiListeners,
  { version }: StartInput,
): Component[] {
  const { workers, shards } = context;
  const presence = {
    start: async () => {
      workers.listeners = listeners.endpoints;
      await shards?.announce(listeners.remoteUrl, version);
    },
  };
  const localWorker = shards ? [new LocalWorker(context, shards)] : [];
  return [presence, scanComponent(context), ...localWorker];
}

/** Followers of the service learn of a shutdown before scans stop, and when they are saved. */
function drainReports({ events, workers }: ServerContext): Record<'beforeScans' | 'afterScans', Component> {
  let running = 0;
  return {
    beforeScans: {
      drain: () => {
        running = workers.claimed;
        events.reportDraining({ running, saved: 0 });
      },
    },
    afterScans: {
      drain: () => {
        const left = workers.claimed;
        events.reportDraining({ running: left, saved: running - left });
      },
    },
  };
}

async function serve(
  context: ServerContext,
  { setUrl }: Pick<Resources, 'setUrl'>,
  url: string,
  input: StartInput,
): Promise<void> {
  await setUrl(url);
  context.phase = 'serving';
  announce(context.log, input, url);
}

/** Last to start and first to drain: the service manager is notified of both. */
function serviceManager({ settings, audit }: ServerContext, manager: ServiceNotifier): Component {
  return {
    start: () => {
      settings.observe({
        begin: () => manager.reloading(),
        end: ({ ok, changed, needs_restart, problems }) => {
          manager.ready();
          void audit.record(configChanged('config.reload', ok, { changed, needs_restart, problems }));
        },
      });
      manager.ready();
    },
    drain: () => manager.stopping(),
  };
}

async function stop(context: ServerContext, components: Components): Promise<void> {
  if (context.phase === 'draining') return;
  context.phase = 'draining';
  context.log.info('shutting down');
  await components.close(deadlineOf(context));
}

async function reload({ settings, phase, log }: ServerContext, notices: ReloadNotices): Promise<void> {
  if (phase === 'draining') return;
  const report = await settings.reload();
  await notices
    .write(report)
    .catch((err: unknown) => log.warn({ err }, 'cannot store the outcome of a reload'));
}

function deadlineOf({ config }: Pick<ServerContext, 'config'>): ShutdownDeadline {
  return new ShutdownDeadline(config.server.shutdown_timeout);
}
