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
import { isConfirmed } from '../terminal/confirm.ts';
import { amountText, bytesText, countText } from '../terminal/draw/amounts.ts';
import { drawTable, type TableColumn } from '../terminal/draw/columns.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { styleOf, type TerminalStyle, unknownOf } from '../terminal/draw/style.ts';
import { whenText } from '../terminal/draw/times.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { requireLocalStore } from './require-local-store.ts';

/** Creates a workspace with its folders and an empty store; existing files are not changed. */
export async function init(path: string | undefined, _flags: object, global: GlobalFlags): Promise<void> {
  const dir = path === undefined ? (await readConfig(global)).config.workspace.dir : resolve(path);
  const workspace = await openWorkspace(dir);
  await (await openStore(workspace.storeFile)).close();
  print(`${printable(workspace.dir)}\n`);
  if (path !== undefined && !global.quiet) {
    note(
      `use it with --workspace-dir ${printable(workspace.dir)}, or set workspace.dir in the configuration`,
    );
  }
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
  if (found > problems.length) lines.push(`... and ${amountText(found - problems.length)} more\n`);
  const sum = found === 0 ? 'no problems' : `${countText(found, 'problem')}, ${fixed} fixed, ${left} left`;
  return `${lines.join('')}${countText(scans, 'scan')} checked: ${sum}\n`;
}

export async function migrateWorkspaceCommand(
  flags: { backup?: boolean; format: string },
  global: GlobalFlags,
): Promise<void> {
  const { config } = await readConfig(global);
  const report = await migrateWorkspace(config.workspace.dir, flags.backup ?? false);
  if (flags.format === 'json') {
    print(printableJson(report));
    return;
  }
  const { layout, store, applied, backups } = report;
  print(`layout  ${layout.from ?? 'none'} -> ${layout.to}\n`);
  print(`store   ${store.from ?? 'none'} -> ${store.to}${applied.length === 0 ? ' (nothing to do)' : ''}\n`);
  for (const folder of backups) print(`copy    ${printable(folder)}\n`);
}

export async function showWorkspaceStats({ format }: { format: string }, global: GlobalFlags): Promise<void> {
  const stats = await withStore(global, ({ store, workspace }) => workspaceStatistics(store, workspace));
  print(
    format === 'json' ? printableJson(stats) : statsText(stats, styleOf(process.stdout, global), Date.now()),
  );
}

function statsText(stats: WorkspaceStatistics, style: TerminalStyle, now: number): string {
  const { scan_count, oldest_scan, newest_scan, total_bytes } = stats;
  const shares = (title: string, entries: [string, { scans: number; bytes: number }][]) =>
    table(
      [
        { head: title, cell: ([name]) => name },
        { head: 'SCANS', cell: ([, { scans }]) => scans },
        { head: 'SIZE', cell: ([, { bytes }]) => bytesText(bytes), right: true },
      ],
      entries,
      style,
    );
  const sizes = (title: string, entries: [string, number][]) =>
    table(
      [
        { head: title, cell: ([name]) => name },
        { head: 'SIZE', cell: ([, bytes]) => bytesText(bytes), right: true },
      ],
      entries,
      style,
    );
  const kinds = Object.entries(stats.bytes_by_kind).filter(([, bytes]) => bytes > 0);
  const time = (at: string | null) => (at === null ? unknownOf(style) : whenText(at, now));
  return [
    `${countText(scan_count, 'scan')}, ${bytesText(total_bytes)}; oldest ${time(oldest_scan)}, newest ${time(newest_scan)}\n`,
    shares('STATUS', Object.entries(stats.by_status)),
    shares('PROFILE', Object.entries(stats.by_profile)),
    sizes('KIND', kinds),
    shares(
      'MONTH',
      stats.growth.map(({ month, ...share }) => [month, share]),
    ),
    sizes(
      'LARGEST',
      stats.largest.map(({ scan_id, bytes }) => [scan_id, bytes]),
    ),
  ]
    .filter((text) => text !== '')
    .join('\n');
}

/** Empty for a table without rows. */
function table<Row>(columns: TableColumn<Row>[], rows: Row[], style: TerminalStyle): string {
  return rows.length === 0 ? '' : drawTable(columns, rows, style);
}

/** @returns 1 when the user declined */
export async function clean(
  { format, force = false }: { format: string; force?: boolean },
  global: GlobalFlags,
): Promise<number> {
  const { config } = await readConfig(global);
  const workspace = await openWorkspace(config.workspace.dir);
  const { removed, freed_bytes } = await cleanCache(workspace, true);
  const entries = cachedText(removed.length);
  if (!force && removed.length > 0 && !(await isConfirmed(`Delete ${entries} (${bytesText(freed_bytes)})`)))
    return 1;
  const cleaned = await cleanCache(workspace);
  if (format === 'json') print(printableJson(cleaned));
  else print(`${cachedText(cleaned.removed.length)} deleted (${bytesText(cleaned.freed_bytes)})\n`);
  return 0;
}

function cachedText(entries: number): string {
  return countText(entries, 'cache entry', 'cache entries');
}
