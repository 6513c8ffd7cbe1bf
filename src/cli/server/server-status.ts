import { PortolanError } from '../../domain/errors.ts';
import { findLockHolder } from '../../workspace/workspace-lock.ts';
import type { Client } from '../session/client.ts';
import { clientOf } from '../session/server-choice.ts';
import { healthShape, type ShownHealth } from '../session/server-responses.ts';
import { readConfig } from '../session/session.ts';
import { amountText, bytesText, countText } from '../terminal/draw/amounts.ts';
import { drawFacts } from '../terminal/draw/columns.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { styleOf, type TerminalStyle, type TextColor } from '../terminal/draw/style.ts';
import { calendarText, spanText } from '../terminal/draw/times.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';

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
        : `running  ${printable(url)}, pid ${pid}\n`,
    );
    note('details need a token that can read the health: set SERVICE_API_TOKEN or use --api-token');
    return 0;
  }
  if (flags.format === 'json') print(printableJson({ running: true, pid, url, ...health }));
  else print(statusText({ pid, url }, health, styleOf(process.stdout, global)));
  return health.status === 'unhealthy' ? 1 : 0;
}

/** Null when the server denies it to this client. */
async function healthOf(client: Client): Promise<ShownHealth | null> {
  try {
    return await client.health(healthShape);
  } catch (error) {
    const refused =
      error instanceof PortolanError && ['unauthorized', 'insufficient_scope'].includes(error.code);
    if (refused) return null;
    throw error;
  }
}

/** Of the server that has the workspace. */
interface RunningServer {
  pid: number;
  url: string;
}

/**
 * The state in one line, then what the server does:
 *
 *     healthy  http://127.0.0.1:8080, version 0.1.0, up 2 min 4 s, pid 20207
 *     workers  1 of 4 busy; 3 scans wait, 0 failed
 *     storage  1,204 scans, 4.1 GB; 79 GB free
 */
export function statusText({ pid, url }: RunningServer, health: ShownHealth, style: TerminalStyle): string {
  const { workers, queue, workspace, checks = [] } = health;
  const { windows } = health;
  const up = spanText(Math.floor(health.uptime) * 1000);
  const waiting = `${countText(queue.pending, 'scan')} wait${queue.pending === 1 ? 's' : ''}`;
  const facts: [string, string][] = [
    [health.status, `${url}, version ${health.version}, up ${up}, pid ${pid}`],
    [
      'workers',
      `${amountText(workers.active)} of ${amountText(workers.total)} busy; ${waiting}, ${amountText(queue.failed)} failed`,
    ],
    [
      'storage',
      `${countText(workspace.scans, 'scan')}, ${storedText(workspace.size_mb)}; ${bytesText(workspace.free_space_mb * mebibyte)} free`,
    ],
    ...(windows && !windows.open ? [['scans', pauseText(windows)] satisfies [string, string]] : []),
    ...checks.map(({ name, status, message }): [string, string] => [
      status === 'unhealthy' ? 'fail' : 'warn',
      `${name}: ${message}`,
    ]),
  ];
  return drawFacts(facts, style, ([name]) => colors[name] ?? null);
}

const mebibyte = 1024 ** 2;

/** @param size_mb rounded up */
function storedText(size_mb: number): string {
  return size_mb === 1 ? `at most ${bytesText(mebibyte)}` : bytesText(size_mb * mebibyte);
}

const colors: Record<string, TextColor> = {
  healthy: 'green',
  degraded: 'yellow',
  warn: 'yellow',
  unhealthy: 'red',
  fail: 'red',
};

function pauseText({ reason, until }: NonNullable<ShownHealth['windows']>): string {
  const end = until ? `, until ${calendarText(Date.parse(until), Date.now())}` : '';
  return `paused, ${reason}${end}`;
}
