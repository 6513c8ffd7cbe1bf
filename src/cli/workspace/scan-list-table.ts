import type { ListedScan } from '../../domain/listed-scan.ts';
import { shownState } from '../../domain/scan-state.ts';
import { drawTable, type Narrowing, type TableColumn } from '../terminal/draw/columns.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import { targetsText } from '../terminal/draw/targets-text.ts';
import { spanText, whenText } from '../terminal/draw/times.ts';

/** Terminals of this width have all columns. */
const wideColumns = 100;

const narrowing: Narrowing = [
  ['NAME', 12],
  ['TARGETS', 14],
  ['HOSTS', 0],
  ['TOOK', 0],
  ['NAME', 0],
];

/** `workspace list`: one row per scan. */
export function scanListTable(scans: readonly ListedScan[], style: TerminalStyle, now: number): string {
  const isWide = !style.terminal || style.columns >= wideColumns;
  return drawTable(columnsOf(isWide, style, now), scans, style, narrowing);
}

function columnsOf(isWide: boolean, style: TerminalStyle, now: number): TableColumn<ListedScan>[] {
  const onlyWide = (...columns: TableColumn<ListedScan>[]) => (isWide ? columns : []);
  return [
    { head: 'ID', cell: ({ scan_id }) => scan_id },
    {
      head: 'STATUS',
      cell: shownState,
      paint: (scan) => (shownState(scan) === 'interrupted' ? 'yellow' : null),
    },
    { head: 'WHEN', cell: ({ created_at }) => whenText(created_at, now) },
    ...onlyWide(
      { head: 'TOOK', cell: tookText, right: true },
      { head: 'HOSTS', cell: (scan) => countOf(scan, scan.results.live_hosts), right: true },
    ),
    { head: 'OPEN', cell: (scan) => countOf(scan, scan.results.open_ports), right: true },
    { head: 'FINDINGS', cell: findingsOf, right: true },
    ...onlyWide({ head: 'NAME', cell: ({ name }) => name, over: 'end' }),
    {
      head: 'TARGETS',
      cell: ({ targets, targets_total }) => targetsText(targets, targets_total ?? targets.length, style),
      over: ({ targets, targets_total }, width) =>
        targetsText(targets, targets_total ?? targets.length, style, width),
    },
  ];
}

/** Null before the scan starts. */
function countOf({ started_at }: ListedScan, count: number): number | null {
  return started_at === null ? null : count;
}

/** Null if the scan does not look for any. */
function findingsOf(scan: ListedScan): number | null {
  const { vulnerabilities } = scan.results;
  return scan.vuln || vulnerabilities > 0 ? countOf(scan, vulnerabilities) : null;
}

function tookText({ started_at, completed_at }: ListedScan): string | null {
  if (started_at === null || completed_at === null) return null;
  return spanText(Date.parse(completed_at) - Date.parse(started_at));
}
