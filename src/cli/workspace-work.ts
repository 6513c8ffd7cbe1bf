import { deleteScan } from '../actions/delete-scan.ts';
import { type ListedScan, listScans } from '../actions/list-scans.ts';
import { showScan } from '../actions/show-scan.ts';
import { PortolanError } from '../domain/errors.ts';
import { isFinal, type Scan } from '../domain/scan.ts';
import { EmbeddedQueue } from '../queue/embedded.ts';
import { Client } from './client.ts';
import { renderColumns, renderRows } from './columns.ts';
import type { GlobalFlags } from './globals.ts';
import { renderResult } from './local-result.ts';
import { checkOutputFile, chooseOutput, note, print, writeResult } from './output.ts';
import { jsonText, printable } from './printable.ts';
import { tableStyle } from './result-table.ts';
import { type Session, withStore } from './session.ts';

export interface ListFlags {
  format: string;
  status?: string;
  since?: string;
  limit: number;
}

export async function info(format: string, global: GlobalFlags): Promise<number> {
  await withStore(global, async ({ store, workspace }) => {
    const { size_bytes, scan_count, oldest, newest } = await store.scans.totals();
    const facts = { path: workspace.dir, size_bytes, scan_count, oldest_scan: oldest, newest_scan: newest };
    if (format === 'json') print(jsonText(facts));
    else print(factLines(Object.entries(facts).map(([name, value]) => [name, String(value ?? '-')])));
  });
  return 0;
}

export async function list(flags: ListFlags, global: GlobalFlags): Promise<number> {
  const { format, ...query } = flags;
  const { limit, status, since } = query;
  const found = await withStore(global, ({ store }) => listScans(store, { limit, status, since }));
  const rows = found.scans.map((scan) => rowOf(scan, format === 'csv'));
  if (format === 'json') print(jsonText(found));
  else if (format === 'csv')
    print(
      renderRows(
        ['scan_id', 'status', 'created_at', 'live_hosts', 'open_ports', 'profile', 'name', 'targets'],
        rows,
      ),
    );
  else if (rows.length === 0) note('no scans');
  else
    print(renderColumns(['SCAN', 'STATUS', 'CREATED', 'HOSTS', 'OPEN', 'PROFILE', 'NAME', 'TARGETS'], rows));
  if (format === 'table' && found.total > rows.length)
    note(`${found.total - rows.length} more; raise --limit to see them`);
  return 0;
}

/** Longest list of targets in a table, characters. */
const maxTargetText = 40;

/** Cells of one scan; in CSV targets are in full and what is missing is empty. */
function rowOf(scan: ListedScan, csv: boolean): string[] {
  const targets = scan.targets.join(' ');
  return [
    scan.scan_id,
    scan.status,
    scan.created_at,
    String(scan.results.live_hosts),
    String(scan.results.open_ports),
    scan.profile,
    scan.name ?? (csv ? '' : '-'),
    !csv && targets.length > maxTargetText ? `${targets.slice(0, maxTargetText - 3)}...` : targets,
  ];
}

export async function show(
  id: string,
  flags: { showResults?: boolean; format: string },
  global: GlobalFlags,
): Promise<number> {
  await withStore(global, async ({ store, workspace }) => {
    const scan = await showScan(store, id);
    if (flags.format === 'json' && !flags.showResults) print(jsonText(scan));
    if (flags.format === 'text') print(scanText(scan));
    if (!flags.showResults) return;
    if (flags.format === 'text') print('\n');
    const style = tableStyle(process.stdout, !global.color);
    const format = flags.format === 'json' ? 'json' : 'text';
    await writeResult(null, renderResult(format, workspace.scan(id), scan, style));
  });
  return 0;
}

function scanText(scan: Scan): string {
  const { results, error } = scan;
  return factLines([
    ['scan', scan.scan_id],
    ['status', error ? `${scan.status} (${error.code}: ${error.message})` : scan.status],
    ['targets', scan.targets.join(' ')],
    ['profile', scan.profile],
    ['name', scan.name ?? '-'],
    ['tags', scan.tags.join(' ') || '-'],
    ['created', scan.created_at],
    ['started', scan.started_at ?? '-'],
    ['completed', scan.completed_at ?? '-'],
    [
      'found',
      `${results.live_hosts} hosts, ${results.open_ports} open ports, ${results.vulnerabilities} findings`,
    ],
    ['progress', `${scan.progress.percent} % (${scan.progress.phase})`],
    ...scan.warnings.map((warning): [string, string] => ['warning', warning.message]),
  ]);
}

function factLines(facts: [string, string][]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}

export async function exportScan(
  id: string,
  flags: { output?: string; format?: string },
  global: GlobalFlags,
): Promise<number> {
  const chosen = chooseOutput(flags);
  const format = flags.output === undefined && flags.format === undefined ? 'json' : chosen.format;
  if (chosen.file !== null) await checkOutputFile(chosen.file);
  await withStore(global, async ({ store, workspace }) => {
    const scan = await showScan(store, id);
    const style = tableStyle(chosen.file === null ? process.stdout : {}, !global.color);
    await writeResult(chosen.file, renderResult(format, workspace.scan(id), scan, style));
  });
  return 0;
}

export async function remove(id: string, flags: { force?: boolean }, global: GlobalFlags): Promise<number> {
  await withStore(global, async (session) => {
    const scan = await showScan(session.store, id);
    if (!isFinal(scan.status) && !flags.force) {
      throw new PortolanError('conflict', `the scan ${id} is ${scan.status}; --force stops and deletes it`);
    }
    const holder = await session.workspace.lockHolder();
    if (holder) {
      const client = new Client({ url: holder.url, token: process.env['SERVICE_API_TOKEN'] || null });
      await client.call('DELETE', `/api/v1/scans/${encodeURIComponent(id)}`);
    } else {
      await removeHere(scan, session);
    }
  });
  if (!global.quiet) note(`the scan ${id} is deleted`);
  return 0;
}

/** Without a server nobody runs scans of the queue; a scan of another command line is left alone. */
async function removeHere(scan: Scan, { store, workspace, config }: Session): Promise<void> {
  const runner = isFinal(scan.status) ? null : runnerOf(await store.scans.executor(scan.scan_id));
  if (runner !== null) {
    throw new PortolanError('conflict', `the scan ${scan.scan_id} runs in process ${runner}; end that first`);
  }
  const queue = new EmbeddedQueue(store, { leaseMs: config.workers.lease });
  await deleteScan({ store, workspace, queue, workers: { stop: async () => undefined } }, scan.scan_id);
}

/** Process id of a command line that is alive, or null. */
function runnerOf(executor: string | null): number | null {
  const pid = Number(/^cli:(\d+)$/.exec(executor ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(pid)) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : null;
  }
}
