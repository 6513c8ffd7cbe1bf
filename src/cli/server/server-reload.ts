import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { type ReloadNotice, readReloadNotice } from '../../workspace/reload-notice.ts';
import { findLockHolder } from '../../workspace/workspace-lock.ts';
import { readConfig } from '../session/session.ts';
import { printableLines } from '../terminal/draw/printable.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';

export interface ReloadFlags {
  timeout: string;
}

const pollMs = 50;

/**
 * Reloads the configuration of the workspace's server and reports the outcome.
 * @throws PortolanError `network` when none runs, `configuration` when it was rejected, `timeout` without a response
 */
export async function reloadServer(flags: ReloadFlags, global: GlobalFlags): Promise<void> {
  const timeoutMs = parseDuration(flags.timeout);
  if (timeoutMs === null) throw usage(`--timeout: "${flags.timeout}" is not a duration such as 10s`);
  const { config } = await readConfig(global);
  const { dir } = config.workspace;
  const holder = await findLockHolder(dir);
  if (!holder) throw new PortolanError('network', `no server runs on the workspace ${dir}`);
  const before = await readReloadNotice(dir, holder.pid);
  hangUp(holder.pid);
  tell(await outcome(dir, holder.pid, before?.count ?? 0, timeoutMs), global);
}

function hangUp(pid: number): void {
  try {
    process.kill(pid, 'SIGHUP');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') throw new PortolanError('network', `the server (pid ${pid}) has just exited`);
    throw new PortolanError('permission', `cannot signal the server (pid ${pid}): ${code}`, {}, error);
  }
}

async function outcome(dir: string, pid: number, before: number, timeoutMs: number): Promise<ReloadNotice> {
  for (const until = performance.now() + timeoutMs; performance.now() < until; ) {
    const notice = await readReloadNotice(dir, pid);
    if (notice && notice.count > before) return notice;
    await sleep(pollMs);
  }
  throw new PortolanError('timeout', `no response from the server (pid ${pid}) to the reload; see its log`);
}

/** @throws PortolanError `configuration` when the server rejected the configuration */
function tell({ ok, changed, needs_restart, warnings, problems }: ReloadNotice, global: GlobalFlags): void {
  for (const warning of warnings) note(`warning: ${printableLines(warning)}`);
  if (!ok) {
    note('reload rejected, the server keeps its old configuration');
    throw new PortolanError('configuration', problems.join('\n'), { problems });
  }
  if (needs_restart.length > 0) note(`warning: changed, but needs a restart: ${needs_restart.join(', ')}`);
  if (!global.quiet) note(changed.length > 0 ? `changed: ${changed.join(', ')}` : 'no changes');
}
