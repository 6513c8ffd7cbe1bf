import { PortolanError } from '../../domain/errors.ts';
import { formatDuration } from '../../domain/time/duration.ts';
import { findLockHolder } from '../../workspace/workspace-lock.ts';
import type { Client } from '../session/client.ts';
import { clientOf } from '../session/server-choice.ts';
import { readConfig } from '../session/session.ts';
import { countText } from '../terminal/amounts.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';

/** The displayed part of the health object (contract 8.1). */
interface Health {
  status: string;
  uptime: number;
  version: string;
  workers: { active: number; idle: number; total: number };
  queue: { pending: number; running: number; failed: number };
  workspace: { scans: number; size_mb: number; free_space_mb: number };
  windows?: { open: boolean; reason: string | null; until: string | null };
  checks?: { name: string; status: string; message: string }[];
}

/** @returns 0 when the server runs and is not unhealthy, 1 when it is unhealthy. @throws `network` when none runs */
export async function showStatus(
  flags: { format: string; apiToken?: string },
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfig(global);
  const { dir } = config.workspace;
  const holder = await findLockHolder(dir);
  if (!holder) {
    if (flags.format === 'json') print(printableJson({ running: false }));
    throw new PortolanError('network', `no server runs on the workspace ${dir}`);
  }
  const client = clientOf(holder.url, flags);
  const { pid, url } = holder;
  const health = await healthOf(client);
  if (health === null) {
    print(
      flags.format === 'json'
        ? printableJson({ running: true, pid, url })
        : `status     running\nurl        ${url}\npid        ${pid}\n`,
    );
    note('details need a token that can read the health: set SERVICE_API_TOKEN or use --api-token');
    return 0;
  }
  print(
    flags.format === 'json'
      ? printableJson({ running: true, pid, url, ...health })
      : statusText(pid, url, health),
  );
  return health.status === 'unhealthy' ? 1 : 0;
}

/** Null when the server denies it to this client. */
async function healthOf(client: Client): Promise<Health | null> {
  try {
    return await client.health<Health>();
  } catch (error) {
    const refused =
      error instanceof PortolanError && ['unauthorized', 'insufficient_scope'].includes(error.code);
    if (refused) return null;
    throw error;
  }
}

function statusText(pid: number, url: string, health: Health): string {
  const { workers, queue, workspace } = health;
  const lines = [
    `status     ${health.status}`,
    `url        ${url}`,
    `pid        ${pid}`,
    `version    ${health.version}`,
    `uptime     ${formatDuration(health.uptime * 1000)}`,
    `workers    ${workers.active} active, ${workers.idle} idle`,
    `queue      ${queue.pending} waiting, ${queue.running} running, ${queue.failed} failed`,
    `workspace  ${countText(workspace.scans, 'scan')}, ${workspace.size_mb} MiB, ${workspace.free_space_mb} MiB free`,
    ...pauseText(health),
    ...(health.checks ?? []).map((check) => `check      ${check.name}: ${check.status}, ${check.message}`),
  ];
  return `${lines.map(printable).join('\n')}\n`;
}

function pauseText({ windows }: Health): string[] {
  if (!windows || windows.open) return [];
  return [`scans      paused, ${windows.reason}${windows.until ? `, until ${windows.until}` : ''}`];
}
