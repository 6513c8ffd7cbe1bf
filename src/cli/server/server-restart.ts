import { readFileSync, readlinkSync } from 'node:fs';
import { PortolanError } from '../../domain/errors.ts';
import { findLockHolder } from '../../workspace/workspace-lock.ts';
import { readConfig } from '../session/session.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import type { CliWiring } from '../wiring.ts';
import { startDaemon } from './daemon.ts';
import { type StopFlags, stopServer } from './server-stop.ts';

/** How the running server was started. */
interface Start {
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Restarts the server of the workspace in the background, with its previous arguments, directory and environment.
 * @throws PortolanError `network` when none runs, `conflict` when a service manager runs it, `timeout`
 */
export async function restartServer(
  flags: StopFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const { config } = await readConfig(global);
  const holder = await findLockHolder(config.workspace.dir);
  if (!holder) {
    throw new PortolanError(
      'network',
      `no server runs on the workspace ${config.workspace.dir}; start one with: portolan server start --daemon`,
    );
  }
  const start = startOf(holder.pid);
  if (start.env['NOTIFY_SOCKET']) {
    throw new PortolanError(
      'conflict',
      'this server is run by a service manager; restart it there, e.g. systemctl restart portolan',
    );
  }
  await stopServer(flags, global);
  return await startDaemon({ ...start, entryFile: wiring.entryFile, config }, global.quiet ?? false);
}

/** proc_pid_cmdline(5): Node.js, its flags, the file, then the words of the command line. */
function startOf(pid: number): Start {
  try {
    const words = listOf(`/proc/${pid}/cmdline`);
    const file = words.findIndex((word, index) => index > 0 && !word.startsWith('-'));
    const pairs = listOf(`/proc/${pid}/environ`).map((entry): [string, string] => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    });
    return {
      args: words.slice(file + 1).filter((word) => word !== '--first-scan'),
      cwd: readlinkSync(`/proc/${pid}/cwd`),
      env: Object.fromEntries(pairs.filter(([name]) => !name.startsWith('PORTOLAN_'))),
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new PortolanError(
      'permission',
      `cannot see how the server (pid ${pid}) was started: ${code}`,
      {},
      error,
    );
  }
}

function listOf(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\0')
    .filter((word, index, all) => word !== '' || index < all.length - 1);
}
