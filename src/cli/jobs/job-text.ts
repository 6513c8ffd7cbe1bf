import type { Job } from '../../domain/job.ts';
import { defaultPriority } from '../../domain/scan.ts';
import { shownState } from '../../domain/scan-state.ts';
import { defaultPool } from '../../scan-run/plan/decide-request.ts';
import { amountText } from '../terminal/draw/amounts.ts';
import { drawTable, type TableColumn } from '../terminal/draw/columns.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import { calendarText, whenText } from '../terminal/draw/times.ts';

/**
 * `job list`: one row per job; the pool only where one is not the default.
 * @param found new findings of scans against the run before, by the id of the scan
 */
export function jobTable(
  jobs: readonly Job[],
  found: ReadonlyMap<string, number>,
  style: TerminalStyle,
  now: number,
): string {
  const pool: TableColumn<Job> = { head: 'POOL', cell: (job) => job.pool };
  return drawTable<Job>(
    [
      { head: 'ID', cell: ({ job_id }) => job_id },
      { head: 'STATUS', cell: ({ status }) => status },
      { head: 'SCHEDULE', cell: ({ schedule }) => schedule ?? 'once', over: 'end' },
      { head: 'NEXT', cell: ({ next_run_at }) => next_run_at && whenText(next_run_at, now) },
      { head: 'LAST', cell: (job) => lastText(job, now, found.get(job.scan_id ?? '')), over: 'end' },
      { head: 'RUNS', cell: ({ run_count }) => run_count },
      ...(jobs.some((job) => job.pool !== defaultPool) ? [pool] : []),
      { head: 'NAME', cell: ({ name }) => name, over: 'end' },
    ],
    jobs,
    style,
    [
      ['NAME', 12],
      ['SCHEDULE', 12],
      ['LAST', 9],
    ],
  );
}

/** `completed, 2 new, 9 min ago` @param found new findings */
export function lastText({ last_status, last_run_at, error }: Job, now: number, found = 0): string | null {
  if (last_status === null) return null;
  const parts = [
    last_status === 'failed' ? shownState({ status: last_status, error }) : last_status,
    ...(found > 0 ? [`${amountText(found)} new`] : []),
    ...(last_run_at === null ? [] : [whenText(last_run_at, now)]),
  ];
  return parts.join(', ');
}

/** A job as names and values. */
export function jobFacts(job: Job, now: number): [string, string][] {
  const { targets, profile } = job.params;
  const time = (at: string) => `${calendarText(Date.parse(at), now)}, ${whenText(at, now)}`;
  const last = lastText(job, now);
  return [
    ['job', job.job_id],
    ['status', job.error ? `${job.status} (${job.error.code}: ${job.error.message})` : job.status],
    ['schedule', job.schedule ?? 'once'],
    ...job.next_runs.map((at): [string, string] => ['next', time(at)]),
    ...(Array.isArray(targets) ? [['targets', targets.join(' ')] satisfies [string, string]] : []),
    ...(typeof profile === 'string' ? [['profile', profile] satisfies [string, string]] : []),
    ['pool', job.pool],
    ...(job.priority === defaultPriority
      ? []
      : [['priority', String(job.priority)] satisfies [string, string]]),
    ...(job.name === null ? [] : [['name', job.name] satisfies [string, string]]),
    ['created', time(job.created_at)],
    ['progress', `${job.progress} %`],
    ...(job.warnings ?? []).map((warning): [string, string] => ['warning', warning.message]),
    ['runs', `${amountText(job.run_count)}${last === null ? '' : `, the last ${last}`}`],
    ...job.runs.map(({ scan_id, status, completed_at, started_at }): [string, string] => {
      const at = completed_at ?? started_at;
      return ['run', `${scan_id ?? 'no scan'} ${status}${at === null ? '' : `, ${whenText(at, now)}`}`];
    }),
  ];
}
