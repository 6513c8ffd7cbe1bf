import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../../domain/duration.ts';
import { PortolanError } from '../../domain/errors.ts';
import { findLockHolder } from '../../workspace/workspace-lock.ts';
import { readConfig } from '../session/session.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';

export interface StopFlags {
  timeout: string;
  force?: boolean;
}

const pollMs = 100;
/** A killed process is gone after this time at the latest. */
const killMs = 5000;

/** Ends the server of the workspace. @throws `network` when none runs, `timeout` when it does not end in time */
export async function stopServer(flags: StopFlags, global: GlobalFlags): Promise<number> {
  const timeoutMs = parseDuration(flags.timeout);
  if (timeoutMs === null) throw usage(`--timeout: "${flags.timeout}" is not a duration such as 30s`);
  const { config } = await readConfig(global);
  const { dir } = config.workspace;
  // The lock names this very process: same host, same boot, same start time. A reused pid is never signalled.
  const holder = await findLockHolder(dir);
  if (!holder) throw new PortolanError('network', `no server runs on the workspace ${dir}`);
  send(holder.pid, 'SIGTERM');
  if (!(await ended(dir, holder.pid, timeoutMs))) {
    if (!flags.force) {
      throw new PortolanError(
        'timeout',
        `the server (pid ${holder.pid}) still runs after ${flags.timeout}; --force kills it`,
      );
    }
    send(holder.pid, 'SIGKILL');
    if (!(await ended(dir, holder.pid, killMs))) {
      throw new PortolanError('timeout', `the server (pid ${holder.pid}) could not be killed`);
    }
  }
  if (!global.quiet) note(`the server (pid ${holder.pid}) has stopped`);
  return 0;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return;
    throw new PortolanError('permission', `cannot signal the server (pid ${pid}): ${code}`, {}, error);
  }
}

async function ended(dir: string, pid: number, timeoutMs: number): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const holder = await findLockHolder(dir);
    if (holder?.pid !== pid) return true;
    if (performance.now() >= until) return false;
    await sleep(pollMs);
  }
}
