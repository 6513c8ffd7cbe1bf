import { resolve } from 'node:path';
import { parseEndpoint } from '../../config/endpoint.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { readConfigQuietly } from '../session/session.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { note } from '../terminal/output.ts';
import type { CliWiring, ServerSettings, StartedServer } from '../wiring.ts';
import { HangUp } from './hang-up.ts';
import { PidFile } from './pid-file.ts';

export interface StartFlags {
  bind?: string;
  workers?: number;
  allowInsecure?: boolean;
  strictConfig?: boolean;
  firstScan?: boolean;
  daemon?: boolean;
  pidFile?: string;
  /** False after --no-ui. */
  ui?: boolean;
  /** False after --no-api. */
  api?: boolean;
  plugin?: string[];
}

/** Runs the server until a signal stops it, or starts one in the background. @returns 0 after a clean stop or start */
export async function startServerCommand(
  flags: StartFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  checkFlags(flags);
  const { isDaemon, reportStart, startDaemon } = await import('./daemon.ts');
  if (isDaemon()) {
    const background = { ...flags, daemon: true };
    return await serve(background, global, wiring, (url) => reportStart({ url })).catch(
      async (error: unknown) => {
        await reportStart({ error });
        throw error;
      },
    );
  }
  if (!flags.daemon) return await serve(flags, global, wiring, async () => undefined);
  const { config } = await serverConfig(flags, global);
  if (flags.pidFile !== undefined) PidFile.claim(flags.pidFile);
  const { entryFile } = wiring;
  const order = { entryFile, args: process.argv.slice(2), cwd: process.cwd(), env: process.env, config };
  return await startDaemon(order, global.quiet ?? false);
}

/** Validates flags before anything is opened or written. */
function checkFlags({ bind }: StartFlags): void {
  if (bind !== undefined && !parseEndpoint(bind)) {
    throw usage(`--bind: "${bind}" is not host:port, such as 127.0.0.1:8080 or [::1]:0`);
  }
}

/** @param started called once, when the server serves */
async function serve(
  flags: StartFlags,
  global: GlobalFlags,
  wiring: CliWiring,
  started: (url: string) => Promise<void>,
): Promise<number> {
  const readConfig = () => serverConfig(flags, global);
  // A later change of the working directory must not lead a reload to another file.
  const plugins = (flags.plugin ?? []).map((file) => resolve(file));
  const settings = { ...(await readConfig()), readConfig, plugins };
  const { config } = settings;
  const pidFile = flags.pidFile === undefined ? null : PidFile.claim(flags.pidFile);
  const stopping = new AbortController();
  const release = onInterrupt(() => stopping.abort(), 1, ['SIGINT', 'SIGTERM']);
  const hangUp = new HangUp(() => stopping.abort());
  try {
    const server = await listen({ ...settings, stopping: stopping.signal }, wiring).catch(
      (error: unknown) => {
        if (stopping.signal.aborted) return null;
        throw error;
      },
    );
    if (server === null) return 0;
    hangUp.reloads(server);
    await pidFile?.write().catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    await started(server.url);
    if (!flags.daemon && !global.quiet) notePlace(server, config);
    // The first scan must never keep the server from stopping.
    if (flags.firstScan) await firstScan(server, config, global, stopping.signal);
    await aborted(stopping.signal);
    if (!flags.daemon && !global.quiet) note('stopping; running scans continue at the next start');
    await server.stop();
    return 0;
  } finally {
    pidFile?.remove();
    hangUp.release();
    release();
  }
}

/** With a log file the terminal would otherwise stay empty. */
function notePlace({ url }: StartedServer, { logging, workspace }: Config): void {
  if (logging.output !== 'file') return;
  const file = logging.file.path || `${workspace.dir}/logs/portolan.log`;
  note(`portolan serves ${url}, logging to ${file}`);
}

async function serverConfig(flags: StartFlags, global: GlobalFlags): Promise<LoadedConfig> {
  const chosen = {
    'server.bind': flags.bind,
    'server.workers': flags.workers,
    'server.allow_insecure': flags.allowInsecure,
    'server.ui.enabled': flags.ui === false ? false : undefined,
    'server.api.enabled': flags.api === false ? false : undefined,
    'logging.output': flags.daemon ? 'file' : undefined,
  };
  const loaded = await readConfigQuietly(global, chosen, flags.strictConfig);
  const levelChosen = loaded.origins.get('logging.level') !== 'default';
  if (!flags.firstScan || levelChosen) return loaded;
  // Log lines of a normal start would garble the progress bar of the first scan.
  return readConfigQuietly(global, { ...chosen, 'logging.level': 'warn' }, flags.strictConfig);
}

async function listen(settings: ServerSettings, wiring: CliWiring): Promise<StartedServer> {
  try {
    return await wiring.startServer(settings);
  } catch (error) {
    throw listenFailure(error, settings.config.server.bind);
  }
}

/** Explains a failed bind and how to fix it. */
function listenFailure(error: unknown, bind: string): unknown {
  if (error instanceof PortolanError) return error;
  const port = bind.replace(/^.*:/, '');
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} is in use by another program; choose another with --bind, e.g. --bind 127.0.0.1:0 for any free port`,
    EACCES: `no permission to listen on port ${port}; choose one above 1023 with --bind`,
    EADDRNOTAVAIL: 'this machine has no such address; choose another with --bind',
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  return reason ? new PortolanError('network', `cannot listen on ${bind}: ${reason}`, {}, error) : error;
}

async function firstScan(
  server: StartedServer,
  config: Config,
  global: GlobalFlags,
  signal: AbortSignal,
): Promise<void> {
  const [{ runFirstScan }, { reportFailure }] = await Promise.all([
    import('./first-scan.ts'),
    import('../terminal/failure.ts'),
  ]);
  try {
    await runFirstScan(server, config, global, signal);
  } catch (error) {
    if (!signal.aborted) reportFailure(error);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
