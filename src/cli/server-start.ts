import { parseEndpoint } from '../config/endpoint.ts';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import { usage } from './failure.ts';
import type { GlobalFlags } from './globals.ts';
import { onInterrupt } from './interrupt.ts';
import { note } from './output.ts';
import { readConfigQuietly } from './session.ts';
import type { CliWiring, RunningServer } from './wiring.ts';

export interface StartFlags {
  bind?: string;
  workers?: number;
  allowInsecure?: boolean;
  strictConfig?: boolean;
  firstScan?: boolean;
}

/** Runs the server until a signal ends it. @returns 0 after a clean stop */
export async function startServer(
  flags: StartFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  if (flags.bind !== undefined && !parseEndpoint(flags.bind)) {
    throw usage(`--bind: "${flags.bind}" is not host:port, such as 127.0.0.1:8080 or [::1]:0`);
  }
  const { config, warnings } = await serverConfig(flags, global);
  const stopping = new AbortController();
  const release = onInterrupt(() => stopping.abort(), 1);
  try {
    const server = await listen(config, warnings, wiring);
    // The first scan and its end must never keep the server from stopping.
    if (flags.firstScan) await firstScan(server, config, global, stopping.signal);
    await aborted(stopping.signal);
    if (!global.quiet) note('stopping; running scans continue at the next start');
    await server.stop();
    return 0;
  } finally {
    release();
  }
}

async function serverConfig(
  flags: StartFlags,
  global: GlobalFlags,
): Promise<{ config: Config; warnings: string[] }> {
  const chosen = {
    'server.bind': flags.bind,
    'server.workers': flags.workers,
    'server.allow_insecure': flags.allowInsecure,
  };
  const loaded = await readConfigQuietly(global, chosen, flags.strictConfig);
  const levelChosen = loaded.origins.get('logging.level') !== 'default';
  if (!flags.firstScan || levelChosen) return loaded;
  // Log lines of a healthy start would tear the progress bar of the first scan apart.
  return readConfigQuietly(global, { ...chosen, 'logging.level': 'warn' }, flags.strictConfig);
}

async function listen(config: Config, warnings: string[], wiring: CliWiring): Promise<RunningServer> {
  try {
    return await wiring.startServer({ config, warnings });
  } catch (error) {
    throw listenFailure(error, config.server.bind);
  }
}

/** What the system refused, in words that name the way out. */
function listenFailure(error: unknown, bind: string): unknown {
  if (error instanceof PortolanError) return error;
  const port = bind.replace(/^.*:/, '');
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} is in use by another program; choose another with --bind, e.g. --bind 127.0.0.1:0 for any free port`,
    EACCES: `port ${port} needs more rights; choose one above 1023 with --bind`,
    EADDRNOTAVAIL: 'this machine has no such address; choose another with --bind',
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  return reason ? new PortolanError('network', `cannot listen on ${bind}: ${reason}`, {}, error) : error;
}

async function firstScan(
  server: RunningServer,
  config: Config,
  global: GlobalFlags,
  signal: AbortSignal,
): Promise<void> {
  const [{ runFirstScan }, { reportFailure }] = await Promise.all([
    import('./first-scan.ts'),
    import('./failure.ts'),
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
