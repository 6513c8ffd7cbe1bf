import { shownState } from '../../../../src/domain/scan-state.ts';
import type { Data } from '../../api/api-types.ts';
import type { State } from '../../format/words.ts';

export type Job = Data<'/api/v1/jobs'>['jobs'][number];

/** What the runs of a job scan: its request, as it was accepted. */
export interface JobParams {
  targets?: string[];
  /** In lists, which have a hundred targets at most. */
  targets_total?: number;
  [name: string]: unknown;
}

export function paramsOf({ params }: Pick<Job, 'params'>): JobParams {
  return params as JobParams;
}

/** Name, else targets, as a title. */
export function jobTitle(job: Pick<Job, 'name' | 'params' | 'job_id'>): string {
  if (job.name !== null && job.name !== '') return job.name;
  return targetsText(job) || job.job_id;
}

/** The first targets, and how many more there are. */
export function targetsText(job: Pick<Job, 'params'>): string {
  const { targets = [], targets_total: total = targets.length } = paramsOf(job);
  const shown = targets.slice(0, 2);
  const more = total - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more.toLocaleString('en-US')} more` : shown.join(', ');
}

/** The state of the last run; that of the job itself while it runs and after it was canceled. Null before the first. */
export function lastState({ status, last_status: last, error }: Job): State | null {
  if (status === 'running' || status === 'canceled') return status;
  if (last === 'failed') return shownState({ status: last, error: error ?? null });
  return last === 'completed' || last === 'running' ? last : null;
}

/** Whether it waits for a run or has one. */
export function isActive({ status }: Pick<Job, 'status'>): boolean {
  return status === 'pending' || status === 'running';
}

/** The last completed run, if it is not the first one: the server knows what to compare it with. */
export function comparedRun({ runs }: Pick<Job, 'runs'>): string | null {
  const [last, before] = runs.flatMap(({ scan_id, status }) =>
    status === 'completed' && scan_id !== null ? [scan_id] : [],
  );
  return last === undefined || before === undefined ? null : last;
}

/** How long a run took, milliseconds; null while it runs. */
export function tookOf({ started_at, completed_at }: Job['runs'][number]): number | null {
  if (started_at === null || completed_at === null) return null;
  return Math.max(0, Date.parse(completed_at) - Date.parse(started_at));
}

/** What a reader types: a part of the name, a target, the pool. */
export function jobMatches(job: Job, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return true;
  const { targets = [] } = paramsOf(job);
  return [job.name ?? '', job.pool, job.job_id, ...targets].some((each) =>
    each.toLowerCase().includes(wanted),
  );
}
