import { type ErrorCode, PortolanError } from '../../domain/errors.ts';
import type { JobError } from '../../domain/job.ts';
import { CronSchedule } from '../../domain/time/cron.ts';
import type { Submission } from '../../scan-run/plan/submission.ts';
import type { StoredJob } from '../../store/client-jobs/job-row.ts';
import type { Turn } from '../../store/client-jobs/job-schedules.ts';
import type { Store } from '../../store/open.ts';
import { type SubmitContext, submitScan } from '../scans/submit-scan.ts';
import { finalizeJobRuns } from './finalize-runs.ts';

type PlannedWith = Pick<SubmitContext, 'choices' | 'installed'>;

/** Store and workspace of all tenants. */
export interface ScheduleContext extends Omit<SubmitContext, 'companion' | keyof PlannedWith> {
  /** As configured for the tenant of a job. */
  plannedWith: (tenant: string | null) => PlannedWith;
  /** Tenants of the service; null without tenants. */
  tenants: readonly string[] | null;
  /** Each run of a job stands for a request of its own. */
  newRequestId: () => string;
  /** Whether the owner of a scan has been down for long; absent if there is only one server. */
  isAbandoned?: (scanId: string) => Promise<boolean>;
}

/** Outcome of a due occurrence. */
export interface TurnReport {
  job_id: string;
  tenant: string | null;
  /** ISO 8601. */
  fire_at: string;
  /**
   * `late`: a later occurrence is due as well, and both are this one run. `crowded`: the queue is full, `broken`: it
   * could not be stored or read; both stay due. `detached`: the previous run is left to its owner, which is down.
   */
  outcome: 'detached' | 'started' | 'late' | 'skipped' | 'refused' | 'crowded' | 'broken';
  scan_id?: string;
  request_id?: string;
  reason?: string;
}

/** Maximum number of occurrences per call. */
const maxTurns = 1000;

/** The job as stored cannot run; retrying at once would be useless. */
const refusals = ['invalid_request', 'not_implemented', 'license_required'] as const satisfies ErrorCode[];

/**
 * Runs every due schedule exactly once: jobs that are still running skip the occurrence, missed occurrences count as
 * one, and a run without room in the queue stays due.
 */
export async function runSchedules(context: ScheduleContext, now: Date): Promise<TurnReport[]> {
  const { store, tenants } = context;
  await finalizeJobRuns(store);
  const at = now.toISOString();
  const reports: TurnReport[] = [];
  for (const turn of await store.jobSchedules.turns('running', at, tenants, maxTurns)) {
    if (await isDetached(context, turn)) {
      const scan = await store.scans.logFieldsOf(turn.scan_id ?? '');
      reports.push(report(turn, 'detached', { ...scan, reason: 'the server that owns it is down' }));
      continue;
    }
    const skipped = await store.jobSchedules.skip(turn.job_id, turn.fire_at, nextTime(context, turn, now));
    if (skipped) reports.push(report(turn, 'skipped', { reason: 'the previous run is still active' }));
  }
  const crowded = new Set<string | null>();
  for (const turn of await store.jobSchedules.turns('pending', at, tenants, maxTurns)) {
    // Its other jobs would find the queue full, too.
    if (crowded.has(turn.tenant)) continue;
    const done = await runTurn(context, turn, now);
    if (done) reports.push(done);
    if (done?.outcome === 'crowded') crowded.add(turn.tenant);
  }
  return reports;
}

/** Detaches a job from its last run, which can only end when its owner is back. */
async function isDetached({ store, isAbandoned }: ScheduleContext, turn: Turn): Promise<boolean> {
  const { job_id, scan_id } = turn;
  if (!isAbandoned || !scan_id || !(await isAbandoned(scan_id))) return false;
  return await store.jobRuns.detachRun(job_id, scan_id);
}

/** Applies a changed time zone to future occurrences. */
export async function moveSchedules(
  context: Pick<ScheduleContext, 'store' | 'config'>,
  now: Date,
): Promise<void> {
  const { store, config } = context;
  const { timezone } = config.queue;
  for (const turn of await store.jobSchedules.inOtherZone(timezone)) {
    // Due occurrences still run; the zone applies to later ones.
    const hasCome = turn.fire_at <= now.toISOString();
    const next = hasCome ? turn.fire_at : nextTime({ config }, { ...turn, fire_at: now.toISOString() }, now);
    await store.jobSchedules.moveToZone(turn, timezone, next);
  }
}

/** After the clock was set back: reschedules future occurrences by the current clock. No occurrence runs twice. */
export async function restoreSchedules(
  { store, config }: Pick<ScheduleContext, 'store' | 'config'>,
  now: Date,
): Promise<void> {
  for (const { lastFireAt, ...turn } of await store.jobSchedules.nextTimes()) {
    const next = nextTime({ config }, { ...turn, fire_at: lastFireAt ?? now.toISOString() }, now);
    if (next !== null && next < turn.fire_at) await store.jobSchedules.skip(turn.job_id, turn.fire_at, next);
  }
}

function report(turn: Turn, outcome: TurnReport['outcome'], more: Partial<TurnReport> = {}): TurnReport {
  const { job_id, tenant, fire_at } = turn;
  return { job_id, tenant, fire_at, outcome, ...more };
}

/** Never one that has already run, even after the clock was set back. */
function nextTime(
  { config }: Pick<ScheduleContext, 'config'>,
  { schedule, fire_at }: Turn,
  now: Date,
): string | null {
  const latest = new Date(Math.max(now.getTime(), Date.parse(fire_at)));
  return new CronSchedule(schedule, config.queue.timezone).after(latest)?.toISOString() ?? null;
}

/** Another server has run the occurrence, or the job was canceled. */
class Gone extends Error {}

/** @returns null if there was nothing left to do */
async function runTurn(context: ScheduleContext, turn: Turn, now: Date): Promise<TurnReport | null> {
  const store = context.store.forTenant(turn.tenant);
  const job = await store.clientJobs.get(turn.job_id);
  if (!job) return null;
  try {
    return await start({ ...context, store }, turn, job, now);
  } catch (error) {
    if (error instanceof Gone) return null;
    const { message } = error as Error;
    // A problem of one job must not keep the others from running.
    if (!(error instanceof PortolanError)) return report(turn, 'broken', { reason: message });
    const code = refusals.find((known) => known === error.code);
    if (code === undefined) return report(turn, 'crowded', { reason: message });
    return await refuse({ ...context, store }, turn, now, { code, message });
  }
}

async function start(context: ScheduleContext, turn: Turn, job: StoredJob, now: Date): Promise<TurnReport> {
  const { job_id, fire_at, tenant } = turn;
  const planned = context.plannedWith(tenant);
  planned.installed.license?.demand('jobs');
  const companion = {
    isDue: true,
    admit: (inside: Store) => demandDue(inside, turn),
    store: (inside: Store, scanId: string) =>
      inside.jobRuns.startRun(job_id, {
        fireAt: fire_at,
        scanId,
        now: now.toISOString(),
        next: nextTime(context, turn, now),
      }),
  };
  const { pool, priority } = job;
  const submission = { ...(job.params as unknown as Submission), pool, priority };
  const workspace = context.workspace.forTenant(tenant);
  const requestId = context.newRequestId();
  const origin = { requestId, traceparent: null };
  const { accepted } = await submitScan(
    { ...context, ...planned, workspace, companion, origin },
    submission,
    job.created_by,
  );
  const outcome = isLate(context, turn, now) ? 'late' : 'started';
  return report(turn, outcome, { scan_id: accepted.scan_id, request_id: requestId });
}

/** Whether the next occurrence is due as well. */
function isLate({ config }: ScheduleContext, { schedule, fire_at }: Turn, now: Date): boolean {
  const second = new CronSchedule(schedule, config.queue.timezone).after(new Date(fire_at));
  return second !== null && second <= now;
}

async function refuse(
  context: ScheduleContext,
  turn: Turn,
  now: Date,
  error: JobError,
): Promise<TurnReport | null> {
  const { job_id, fire_at } = turn;
  const next = nextTime(context, turn, now);
  try {
    await context.store.transaction(async (inside) => {
      await demandDue(inside, turn);
      await inside.jobRuns.rejectRun(job_id, { fireAt: fire_at, now: now.toISOString(), next, error });
    });
  } catch (gone) {
    if (gone instanceof Gone) return null;
    throw gone;
  }
  return report(turn, 'refused', { reason: error.message });
}

async function demandDue(inside: Store, { job_id, fire_at }: Turn): Promise<void> {
  if (!(await inside.jobSchedules.isDue(job_id, fire_at))) throw new Gone();
}
