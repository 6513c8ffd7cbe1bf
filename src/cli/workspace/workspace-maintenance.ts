import { resolve } from 'node:path';
import { type CheckReport, checkWorkspace } from '../../actions/workspace/check-workspace.ts';
import { cleanCache } from '../../actions/workspace/clean-cache.ts';
import { migrateWorkspace } from '../../actions/workspace/migrate-workspace.ts';
import {
  type WorkspaceStatistics,
  workspaceStatistics,
} from '../../actions/workspace/workspace-statistics.ts';
import { openStore } from '../../store/open.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { readConfig, withStore } from '../session/session.ts';
import { countText } from '../terminal/amounts.ts';
import { renderColumns } from '../terminal/columns.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';
import { requireLocalStore } from './require-local-store.ts';

/** Creates a workspace with its folders and an empty store; existing files are not changed. */
export async function init(path: string | undefined, global: GlobalFlags): Promise<number> {
  const dir = path === undefined ? (await readConfig(global)).config.workspace.dir : resolve(path);
  const workspace = await openWorkspace(dir);
  await (await openStore(workspace.storeFile)).close();
  print(`${printable(workspace.dir)}\n`);
  if (path !== undefined && !global.quiet) {
    note(
      `use it with --workspace-dir ${printable(workspace.dir)}, or set workspace.dir in the configuration`,
    );
  }
  return 0;
}

/** @returns 0 when no problem remains, else 1 */
export async function check(flags: { fix?: boolean; format: string }, global: GlobalFlags): Promise<number> {
  const fix = flags.fix ?? false;
  const report = await withStore(global, async ({ store, workspace, config }) => {
    if (fix) requireLocalStore(config);
    // Nobody may write during a repair.
    const lock = fix ? await workspace.lock({ url: '' }) : null;
    try {
      const served = !fix && (await workspace.lockHolder()) !== null;
      return await checkWorkspace({ store, workspace, served }, fix);
    } finally {
      await lock?.release();
    }
  });
  print(flags.format === 'json' ? printableJson(report) : checkText(report));
  return report.left === 0 ? 0 : 1;
}

function checkText({ scans, problems, found, fixed, left }: CheckReport): string {
  const lines = problems.map(({ path, problem, remedy, fixed: repaired }) =>
    repaired
      ? `fixed  ${printable(path)}: ${printable(problem)}\n`
      : `ERROR  ${printable(path)}: ${printable(problem)}\n       ${printable(remedy)}\n`,
  );
  if (found > problems.length) lines.push(`... and ${found - problems.length} more\n`);
  const sum = found === 0 ? 'no problems' : `${countText(found, 'problem')}, ${fixed} fixed, ${left} left`;
  return `${lines.join('')}${countText(scans, 'scan')} checked: ${sum}\n`;
}

export async function migrateWorkspaceCommand(
  flags: { backup?: boolean; format: string },
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfig(global);
  const report = await migrateWorkspace(config.workspace.dir, flags.backup ?? false);
  if (flags.format === 'json') {
    print(printableJson(report));
    return 0;
  }
  const { layout, store, applied, backups } = report;
  print(`layout  ${layout.from ?? 'none'} -> ${layout.to}\n`);
  print(`store   ${store.from ?? 'none'} -> ${store.to}${applied.length === 0 ? ' (nothing to do)' : ''}\n`);
  for (const folder of backups) print(`copy    ${printable(folder)}\n`);
  return 0;
}

export async function showWorkspaceStats(
  { format }: { format: string },
  global: GlobalFlags,
): Promise<number> {
  const stats = await withStore(global, ({ store, workspace }) => workspaceStatistics(store, workspace));
  print(format === 'json' ? printableJson(stats) : statsText(stats));
  return 0;
}

function statsText(stats: WorkspaceStatistics): string {
  const { scan_count, oldest_scan, newest_scan, total_bytes } = stats;
  const shares = (title: string, entries: [string, { scans: number; bytes: number }][]) =>
    table(
      [title, 'SCANS', 'BYTES'],
      entries.map(([name, { scans, bytes }]) => [name, String(scans), String(bytes)]),
    );
  const kinds = Object.entries(stats.bytes_by_kind).filter(([, bytes]) => bytes > 0);
  return [
    `${countText(scan_count, 'scan')}, ${total_bytes} bytes; oldest ${oldest_scan ?? '-'}, newest ${newest_scan ?? '-'}\n`,
    shares('STATUS', Object.entries(stats.by_status)),
    shares('PROFILE', Object.entries(stats.by_profile)),
    table(
      ['KIND', 'BYTES'],
      kinds.map(([name, bytes]) => [name, String(bytes)]),
    ),
    shares(
      'MONTH',
      stats.growth.map(({ month, ...share }) => [month, share]),
    ),
    table(
      ['LARGEST', 'BYTES'],
      stats.largest.map(({ scan_id, bytes }) => [scan_id, String(bytes)]),
    ),
  ]
    .filter((text) => text !== '')
    .join('\n');
}

/** Empty for a table without rows. */
function table(titles: string[], rows: string[][]): string {
  return rows.length === 0 ? '' : renderColumns(titles, rows);
}

export async function clean({ format }: { format: string }, global: GlobalFlags): Promise<number> {
  const { config } = await readConfig(global);
  const cleaned = await cleanCache(await openWorkspace(config.workspace.dir));
  if (format === 'json') print(printableJson(cleaned));
  else print(`${cleaned.removed.length} cache entries removed (${cleaned.freed_bytes} bytes)\n`);
  return 0;
}
