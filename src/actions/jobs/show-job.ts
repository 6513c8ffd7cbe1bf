import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { type Job, type JobRun, jobIdPattern } from '../../domain/job.ts';
import { isFinal, type Scan, type ScanWarning } from '../../domain/scan.ts';
import { CronSchedule } from '../../domain/time/cron.ts';
import type { BlackoutWindow } from '../../domain/time/scan-calendar.ts';
import type { StoredJob } from '../../store/client-jobs/job-row.ts';
import type { LiveRun } from '../../store/client-jobs/job-runs.ts';
import type { Store } from '../../store/open.ts';
import { windowWarning } from '../scans/window-warning.ts';
import { finalizeJobRuns } from './finalize-runs.ts';

export interface JobView {
  store: Store;
  config: Pick<Config, 'queue'>;
  /** Why no scan may send now; null while they may. */
  closure?: BlackoutWindow | null;
  /** The missing server or worker that a scan waits for. */
  waitsFor?: (scan: Pick<Scan, 'scan_id' | 'pool' | 'status'>) => ScanWarning[];
}

/** Number of upcoming occurrences shown. */
const shownTimes = 3;

/** One job with its current state. @throws PortolanError `not_found` */
export async function showJob(view: JobView, jobId: string): Promise<Job> {
  await finalizeBeforeReading(view.store);
  return await showStored(view, jobId);
}

/** The stored state: a run that has just ended may still appear as running. */
export async function showStored(view: JobView, jobId: string): Promise<Job> {
  const stored = await findJob(view.store, jobId);
  const [job] = await viewJobs(view, [stored]);
  if (job) return job;
  throw unknownJob();
}

/** @throws PortolanError `not_found` */
export async function findJob(store: Store, jobId: string): Promise<StoredJob> {
  const stored = jobIdPattern.test(jobId) ? await store.clientJobs.get(jobId) : null;
  if (stored) return stored;
  throw unknownJob();
}

function unknownJob(): PortolanError {
  return new PortolanError('not_found', 'There is no such job.');
}

/** A job must never lag behind a scan that the same client has seen end. A full disk must not block reading. */
export async function finalizeBeforeReading(store: Store): Promise<void> {
  await finalizeJobRuns(store).catch(() => undefined);
}

/** Stored jobs with their runs, the progress of current ones, and the upcoming occurrences. */
export async function viewJobs(
  { store, config, closure = null, waitsFor = () => [] }: JobView,
  jobs: readonly StoredJob[],
): Promise<Job[]> {
  const runs = await store.jobRuns.runs(jobs.map(({ job_id }) => job_id));
  // Includes the scan of a job that was just canceled, and those of detached runs.
  const underWay = [...runs.values()].flatMap((known) =>
    known.flatMap(({ scan_id, completed_at }) =>
      completed_at === null && scan_id !== null ? [scan_id] : [],
    ),
  );
  const standing = await store.jobRuns.liveRuns(underWay);
  const { timezone } = config.queue;
  return jobs.map((job) => {
    const run = standing.get(job.scan_id ?? '');
    const known = (runs.get(job.job_id) ?? []).map((one) => asItStands(one, standing.get(one.scan_id ?? '')));
    const live = job.status === 'running' ? run : undefined;
    const shown = jobOf(job, known, live, timezone);
    if (live === undefined || isFinal(live.status)) return shown;
    const warnings = [
      ...waitsFor({ scan_id: job.scan_id ?? '', pool: job.pool, status: live.status }),
      ...(closure === null ? [] : [windowWarning(closure)]),
    ];
    return warnings.length > 0 ? { ...shown, warnings } : shown;
  });
}

function jobOf(
  { tenant: _tenant, params, ...job }: StoredJob,
  runs: readonly JobRun[],
  live: LiveRun | undefined,
  zone: string,
): Job {
  const waits = live?.status === 'pending';
  return {
    job_id: job.job_id,
    type: job.type,
    params: params ?? {},
    schedule: job.schedule,
    pool: job.pool,
    priority: job.priority,
    name: job.name,
    status: waits ? 'pending' : job.status,
    last_status: job.last_status,
    progress: live?.percent ?? (job.status === 'completed' ? 100 : 0),
    scan_id: job.scan_id,
    run_count: job.run_count,
    last_run_at: job.last_run_at,
    next_run_at: job.next_run_at,
    next_runs: timesToCome(job, zone),
    runs: [...runs],
    created_at: job.created_at,
    started_at: live?.started_at ?? job.started_at,
    completed_at: job.completed_at,
    error: job.error,
    created_by: job.created_by,
  };
}

function asItStands(run: JobRun, live: LiveRun | undefined): JobRun {
  if (run.completed_at !== null || !live) return run;
  return { ...run, status: live.status, started_at: live.started_at };
}

/** The next occurrence, even if overdue because the queue is full, and those after it. */
function timesToCome(
  { schedule, next_run_at }: Pick<StoredJob, 'schedule' | 'next_run_at'>,
  zone: string,
): string[] {
  if (schedule === null || next_run_at === null) return [];
  const cron = new CronSchedule(schedule, zone);
  const times = [next_run_at];
  while (times.length < shownTimes) {
    const next = cron.after(new Date(times.at(-1) ?? next_run_at));
    if (next === null) break;
    times.push(next.toISOString());
  }
  return times;
}
