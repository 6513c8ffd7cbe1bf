import type { Job } from '../../domain/job.ts';
import { defaultPool } from '../../scan-run/plan/decide-request.ts';
import { drawTable, renderRows, type TableColumn } from '../terminal/draw/columns.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import { targetsText } from '../terminal/draw/targets-text.ts';
import { whenText } from '../terminal/draw/times.ts';

/** Terminals of this width have the pool of each job; others only where one is not the default. */
const wideColumns = 100;

/** One row per job, with as many targets as fit. */
export function scheduleTable(jobs: readonly Job[], style: TerminalStyle, now: number): string {
  const isWide = !style.terminal || style.columns >= wideColumns;
  const pool: TableColumn<Job> = { head: 'POOL', cell: (job) => job.pool };
  const shown = (job: Job, columns?: number) => {
    const { shown: targets, total } = targetsOf(job);
    return targetsText(targets, total, style, columns);
  };
  return drawTable<Job>(
    [
      { head: 'ID', cell: ({ job_id }) => job_id },
      { head: 'NAME', cell: ({ name }) => name, over: 'end' },
      { head: 'SCHEDULE', cell: ({ schedule }) => schedule, over: 'end' },
      { head: 'NEXT', cell: (job) => nextRun(job, now) },
      { head: 'LAST', cell: ({ last_status }) => last_status },
      ...(isWide || jobs.some((job) => job.pool !== defaultPool) ? [pool] : []),
      { head: 'TARGETS', cell: (job) => shown(job), over: (job, columns) => shown(job, columns) },
    ],
    jobs,
    style,
    [
      ['TARGETS', 15],
      ['NAME', 12],
      ['SCHEDULE', 12],
      ['LAST', 0],
      ['TARGETS', 10],
    ],
  );
}

/** `in 2 h`, or the state of a job that never runs again. */
function nextRun({ next_run_at, status }: Job, now: number): string {
  return next_run_at === null ? status : whenText(next_run_at, now);
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
