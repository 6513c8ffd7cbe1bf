import type { Job } from '../../domain/job.ts';
import { defaultPool } from '../../scan-run/plan/decide-request.ts';
import { renderColumns, renderRows } from '../terminal/columns.ts';
import { columnsOf, fit, printable } from '../terminal/printable.ts';

/** Narrower terminals get shorter names, and no pool column if all pools are the default. */
const wideColumns = 100;
/** Minimum width of the targets column. */
const leastTargetColumns = 10;
/** Maximum widths of user-supplied text. */
const roomFor = { wide: { name: 30, schedule: 40 }, narrow: { name: 12, schedule: 18 } };
/** Columns between two cells. */
const gap = 2;

type Column = [title: string, cellOf: (job: Job) => string];

/** One line per job; targets fill the rest of `lineColumns`. */
export function scheduleTable(jobs: readonly Job[], lineColumns: number): string {
  const columns = columnsFor(jobs, lineColumns >= wideColumns);
  const titles = columns.map(([title]) => title);
  const rows = jobs.map((job) => columns.map(([, cellOf]) => printable(cellOf(job))));
  const widths = titles.map((title, column) => widest([title, ...rows.map((row) => row[column] ?? '')]));
  const left = widths.reduce((rest, width) => rest - width - gap, lineColumns);
  const targets = jobs.map((job) => shortTargets(job, Math.max(leastTargetColumns, left)));
  return renderColumns(
    [...titles, 'TARGETS'],
    rows.map((row, index) => [...row, targets[index] ?? '']),
  );
}

function columnsFor(jobs: readonly Job[], isWide: boolean): Column[] {
  const room = isWide ? roomFor.wide : roomFor.narrow;
  const showsPool = isWide || jobs.some(({ pool }) => pool !== defaultPool);
  return [
    ['ID', (job) => job.job_id],
    ['NAME', (job) => fit(printable(job.name ?? '-'), room.name)],
    ['SCHEDULE', (job) => fit(printable(job.schedule ?? '-'), room.schedule)],
    ['NEXT RUN (UTC)', nextRun],
    ['LAST', (job) => job.last_status ?? '-'],
    ...(showsPool ? [['POOL', (job) => job.pool] satisfies Column] : []),
  ];
}

/** `2026-10-07 02:00`, or the state of a job that never runs again. */
function nextRun({ next_run_at, status }: Job): string {
  return next_run_at?.slice(0, 16).replace('T', ' ') ?? status;
}

function widest(cells: readonly string[]): number {
  return cells.reduce((most, cell) => Math.max(most, columnsOf(cell)), 0);
}

/** As many targets as fit, at least one, and the number of the rest. */
function shortTargets(job: Job, columns: number): string {
  const { shown, total } = targetsOf(job);
  const restAfter = (named: number) => (total > named ? ` +${total - named}` : '');
  let text = fit(printable(shown[0] ?? '-'), columns - restAfter(1).length) + restAfter(1);
  for (let named = 2; named <= shown.length; named += 1) {
    const longer = printable(shown.slice(0, named).join(' ')) + restAfter(named);
    if (columnsOf(longer) > columns) break;
    text = longer;
  }
  return text;
}

/** The list contains only the first targets of each job, and their total. */
function targetsOf({ params }: Job): { shown: string[]; total: number } {
  const { targets, targets_total } = params;
  const shown = Array.isArray(targets) ? targets.map(String) : [];
  return { shown, total: typeof targets_total === 'number' ? targets_total : shown.length };
}

const csvTitles = [
  'job_id',
  'status',
  'name',
  'schedule',
  'next_run_at',
  'last_status',
  'pool',
  'targets',
  'targets_total',
];

/** CSV, without truncation. */
export function scheduleRows(jobs: readonly Job[]): string {
  return renderRows(csvTitles, jobs.map(rowOf));
}

function rowOf(job: Job): string[] {
  const { job_id, status, name, schedule, next_run_at, last_status, pool } = job;
  const { shown, total } = targetsOf(job);
  const run = [next_run_at ?? '', last_status ?? ''];
  return [job_id, status, name ?? '', schedule ?? '', ...run, pool, shown.join(' '), String(total)];
}
