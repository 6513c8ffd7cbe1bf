import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import { parseDuration } from '../../domain/time/duration.ts';
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
/** How long to wait for a killed process, milliseconds. */
const killMs = 5000;

/** Stops the server of the workspace. @throws `network` when none runs, `timeout` when it does not stop in time */
export async function stopServer(flags: StopFlags, global: GlobalFlags): Promise<void> {
  const timeoutMs = parseDuration(flags.timeout);
  if (timeoutMs === null) throw usage(`--timeout: "${flags.timeout}" is not a duration such as 30s`);
  const { config } = await readConfig(global);
  const { dir } = config.workspace;
  // The lock identifies this process by host, boot and start time: a reused pid is never signaled.
  const holder = await findLockHolder(dir);
  if (!holder) throw new PortolanError('network', `no server runs on the workspace ${dir}`);
  send(holder.pid, 'SIGTERM');
  if (!(await ended(dir, holder.pid, timeoutMs))) {
    if (!flags.force) {
      throw new PortolanError(
        'timeout',
        `the server (pid ${holder.pid}) is still running after ${flags.timeout}; --force kills it`,
      );
    }
    send(holder.pid, 'SIGKILL');
    if (!(await ended(dir, holder.pid, killMs))) {
      throw new PortolanError('timeout', `cannot kill the server (pid ${holder.pid})`);
    }
  }
  if (!global.quiet) note(`server stopped (pid ${holder.pid})`);
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
