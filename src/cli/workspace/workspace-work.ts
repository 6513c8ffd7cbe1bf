import { deleteScan } from '../../actions/scans/delete-scan.ts';
import { showScan } from '../../actions/scans/show-scan.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { ScanQueue } from '../../queue/scan-queue.ts';
import { liveCommandLine } from '../../scan-run/finalize/interrupt-scan.ts';
import { damageNote } from '../results/damage-warning.ts';
import { renderResult } from '../results/local-result.ts';
import { fetchResult, scanPath } from '../results/remote-result.ts';
import { resultStyle } from '../results/result-style.ts';
import type { TableOptions } from '../results/result-table.ts';
import { scanSummaryText } from '../results/scan-text.ts';
import type { Client } from '../session/client.ts';
import { scanIn, scanOn } from '../session/scan-choice.ts';
import { clientOf, namedClient } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import {
  scanShape,
  unreadShape,
  type WorkspaceInfo,
  workspaceInfoShape,
} from '../session/server-responses.ts';
import { readConfigQuietly, type Session, withStore } from '../session/session.ts';
import { isConfirmed } from '../terminal/confirm.ts';
import { amountText, bytesText, countText } from '../terminal/draw/amounts.ts';
import { drawFacts, renderRows } from '../terminal/draw/columns.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { paint, styleOf, unknownOf } from '../terminal/draw/style.ts';
import { whenText } from '../terminal/draw/times.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print, writeResult } from '../terminal/output.ts';
import { maxListLimit } from '../terminal/output-options.ts';
import { localRecord } from './local-record.ts';
import { requireLocalStore } from './require-local-store.ts';
import { scanListTable } from './scan-list-table.ts';
import { findScans, type ScanListFlags } from './workspace-list.ts';

export async function info(flags: ServerFlags & { format: string }, global: GlobalFlags): Promise<void> {
  const facts = await workspaceInfo(flags, global);
  if (flags.format === 'json') print(printableJson(facts));
  else printInfo(facts, global);
}

function printInfo(facts: WorkspaceInfo, global: GlobalFlags): void {
  const { path, size_bytes, scan_count, oldest_scan, newest_scan } = facts;
  const style = styleOf(process.stdout, global);
  const time = (at: string | null) => (at === null ? unknownOf(style) : whenText(at, Date.now()));
  const rows = [
    ['path', path],
    ['size', bytesText(size_bytes)],
    ['scans', amountText(scan_count)],
    ['oldest', time(oldest_scan)],
    ['newest', time(newest_scan)],
  ] as const;
  print(drawFacts(rows, style));
}

async function workspaceInfo(flags: ServerFlags, global: GlobalFlags): Promise<WorkspaceInfo> {
  const client = await namedClient(flags, global);
  if (client) return await client.call('GET', '/api/v1/workspace/info', workspaceInfoShape);
  return await withStore(global, async ({ store, workspace }) => {
    const { size_bytes, scan_count, oldest, newest } = await store.scans.totals();
    return { path: workspace.dir, size_bytes, scan_count, oldest_scan: oldest, newest_scan: newest };
  });
}

const csvTitles = [
  'scan_id',
  'status',
  'created_at',
  'live_hosts',
  'open_ports',
  'profile',
  'name',
  'targets',
  'targets_total',
];
export async function listWorkspaceScans(flags: ScanListFlags, global: GlobalFlags): Promise<void> {
  const { format } = flags;
  const found = await findScans(flags, global);
  const { scans, total } = found;
  if (format === 'json') print(printableJson(found));
  else if (format === 'csv') print(renderRows(csvTitles, scans.map(csvRow)));
  else if (scans.length === 0) note('no scans');
  else print(scanListTable(scans, styleOf(process.stdout, global), Date.now()));
  if (format === 'table' && total > scans.length) note(moreText(scans.length, total));
  if (format === 'table' && !global.quiet) await hintAtInterrupted(scans, global);
}

/** On a terminal: how the first interrupted scan of the list goes on, unless `cli.hints` is off. */
async function hintAtInterrupted(scans: readonly ListedScan[], global: GlobalFlags): Promise<void> {
  if (!process.stdout.isTTY || !process.stderr.isTTY) return;
  const interrupted = scans.find(({ progress }) => progress.interrupted);
  if (!interrupted || !(await readConfigQuietly(global)).config.cli.hints) return;
  const hint = `continue the interrupted scan: portolan scan resume ${printable(interrupted.scan_id)}`;
  note(paint(styleOf(process.stderr, global), hint, 'dim'));
}

/** `50 of 122 scans: --limit 122` */
function moreText(shown: number, total: number): string {
  const more = shown < maxListLimit ? `: --limit ${Math.min(total, maxListLimit)}` : '';
  return `${amountText(shown)} of ${countText(total, 'scan')}${more}`;
}

/** The targets that a list has, and their number; empty cells for missing values. */
function csvRow(scan: ListedScan): string[] {
  const { scan_id, status, created_at, results, profile, name, targets, targets_total } = scan;
  const counts = [String(results.live_hosts), String(results.open_ports)];
  const total = String(targets_total ?? targets.length);
  return [scan_id, status, created_at, ...counts, profile, name ?? '', targets.join(' '), total];
}

export interface ShowFlags extends ServerFlags {
  showResults?: boolean;
  /** Only the findings, all of them. */
  findings?: boolean;
  format: string;
}

export async function showWorkspaceScan(id: string, flags: ShowFlags, global: GlobalFlags): Promise<void> {
  if (flags.format === 'jsonl' || flags.format === 'csv')
    throw usage(`--format ${flags.format} needs --query; the whole scan is in "workspace export"`);
  if (flags.findings && flags.format !== 'text')
    throw usage('--findings is text; for programs: portolan workspace export ID --format json');
  const client = await namedClient(flags, global);
  if (client) return await showRemote(id, flags, client, global);
  await withStore(global, async (session) => {
    const scan = await showScan(session.store, await scanIn(session.store, id));
    if (flags.format === 'json' && !flags.showResults) print(printableJson(scan));
    if (flags.format === 'text' && !flags.findings)
      print(scanSummaryText(scan, styleOf(process.stdout, global), Date.now()));
    if (!flags.showResults && !flags.findings) return;
    if (flags.format === 'text' && !flags.findings) print('\n');
    const style = resultStyle(null, global);
    const table = tableOf(scan, flags);
    const format = flags.format === 'json' ? 'json' : 'text';
    await writeResult(
      null,
      renderResult(
        format,
        await localRecord(session, scan.scan_id),
        scan,
        style,
        damageNote(session.store),
        null,
        table,
      ),
    );
  });
}

async function showRemote(id: string, flags: ShowFlags, client: Client, global: GlobalFlags): Promise<void> {
  const scan = await client.call('GET', scanPath(await scanOn(client, id)), scanShape);
  const { showResults, findings, format } = flags;
  if (format === 'text' && !findings)
    print(scanSummaryText(scan, styleOf(process.stdout, global), Date.now()));
  else if (format === 'json' && !showResults) print(printableJson(scan));
  if (!showResults && !findings) return;
  if (format === 'text' && !findings) print('\n');
  const style = resultStyle(null, global);
  const form = format === 'json' ? 'json' : 'text';
  await writeResult(null, fetchResult(client, scan, form, style, {}, tableOf(scan, flags)));
}

function tableOf(scan: Scan, { findings = false }: ShowFlags): TableOptions {
  const command = `portolan workspace show ${scan.scan_id} --findings`;
  return { scan, isWhole: findings, onlyFindings: findings, command };
}

export async function removeWorkspaceScan(
  id: string,
  flags: ServerFlags & { force?: boolean },
  global: GlobalFlags,
): Promise<number> {
  const client = await namedClient(flags, global);
  const removed = client
    ? await removeRemote(id, flags.force ?? false, client)
    : await removeFromWorkspace(id, flags, global);
  if (removed === null) return 1;
  if (!global.quiet) note(`scan ${printable(removed)} deleted`);
  return 0;
}

/** @returns the id of the scan; null when the user declined */
async function removeRemote(text: string, force: boolean, client: Client): Promise<string | null> {
  const id = await scanOn(client, text);
  const path = scanPath(id);
  mayGo(await client.call('GET', path, scanShape), force);
  if (!force && !(await isConfirmed(`Delete scan ${printable(id)}`))) return null;
  await client.call('DELETE', path, unreadShape);
  return id;
}

/** @throws PortolanError `conflict` for an unfinished scan without `--force` */
function mayGo({ scan_id, status }: Scan, force: boolean): void {
  if (isFinal(status) || force) return;
  throw new PortolanError('conflict', `scan ${scan_id} is ${status}; --force stops and deletes it`);
}

/** @returns the id of the scan; null when the user declined */
async function removeFromWorkspace(
  text: string,
  flags: ServerFlags & { force?: boolean },
  global: GlobalFlags,
): Promise<string | null> {
  return await withStore(global, async (session) => {
    const { store, workspace } = session;
    const scan = await showScan(store, await scanIn(store, text));
    const { scan_id } = scan;
    mayGo(scan, flags.force ?? false);
    const holder = await workspace.lockHolder();
    if (holder === null) await checkRemovable(scan, session);
    if (!flags.force) {
      const size = await workspace
        .forTenant(await store.scans.tenantOf(scan_id))
        .scan(scan_id)
        .sizeBytes();
      if (!(await isConfirmed(`Delete scan ${scan_id} (${bytesText(size)})`))) return null;
    }
    if (holder) await clientOf(holder.url, flags).call('DELETE', scanPath(scan_id), unreadShape);
    else await removeHere(scan, session);
    return scan_id;
  });
}

/** Without a server, queued scans do not run; a scan of another command is left alone. */
async function checkRemovable(scan: Scan, { store, config }: Session): Promise<void> {
  requireLocalStore(config);
  const runner = isFinal(scan.status)
    ? null
    : liveCommandLine(await store.scans.executor(scan.scan_id), store.executor);
  if (runner !== null) {
    throw new PortolanError(
      'conflict',
      `scan ${scan.scan_id} is running in process ${runner}; stop that first`,
    );
  }
}

async function removeHere({ scan_id }: Scan, { store, workspace, config }: Session): Promise<void> {
  const queue = new ScanQueue(store, { leaseMs: config.workers.lease });
  const home = workspace.forTenant(await store.scans.tenantOf(scan_id));
  const workers = { stop: async () => undefined };
  const { openResultStore } = await import('../../workspace/result-store/open-result-store.ts');
  const results = await openResultStore(config, store);
  await deleteScan({ store, workspace: home, queue, workers, results }, scan_id);
}
