import { randomBytes } from 'node:crypto';
import { type FieldProblem, invalidRequest, PortolanError } from '../../domain/errors.ts';
import { type Job, type JobType, jobTypes, newJobId } from '../../domain/job.ts';
import { defaultPriority, type ScanOptions } from '../../domain/scan.ts';
import { CronSchedule, scheduleProblem } from '../../domain/time/cron.ts';
import { defaultPool, optionNames } from '../../scan-run/plan/decide-request.ts';
import { maxNameLength, type Submission } from '../../scan-run/plan/submission.ts';
import type { NewJob } from '../../store/client-jobs/client-jobs.ts';
import type { KeyRecord } from '../../store/idempotency.ts';
import type { Store } from '../../store/open.ts';
import {
  checkSubmission,
  findKey,
  findSame,
  type RepeatKey,
  repeatKey,
  type SubmitContext,
  submitScan,
} from '../scans/submit-scan.ts';
import { showStored } from './show-job.ts';

/** Body of a job submission after type checks. */
export interface JobSubmission {
  type: string;
  params: Submission;
  schedule?: string | undefined;
  pool?: string | undefined;
  priority?: number | undefined;
  name?: string | undefined;
}

export interface SubmittedJob {
  job: Job;
  /** The original response to the same key and body; nothing was done. */
  replayed: boolean;
}

/** Maximum number of recurring jobs per tenant. */
export const maxSchedules = 10_000;

/** Stored fields of a submission; unknown ones are dropped. */
const paramNames = [
  'targets',
  'profile',
  'vuln',
  'notifications',
  'name',
  'tags',
  'ports',
  'exclude',
  'rate',
  'dag',
  'options',
] as const satisfies (keyof Submission)[];

/** A job to store, the scan it requests, and its idempotency key. */
interface Order {
  job: Omit<NewJob, 'job_id'>;
  submission: Submission;
  key: RepeatKey | null;
}

/**
 * Submits a job: without a schedule its scan is in the queue when this returns, else it runs at its scheduled times.
 * @param user ID of the client's token
 * @param idempotencyKey the same key of the same user with the same body returns the same job within 24 h
 * @throws PortolanError `invalid_request`, `not_implemented`, `license_required`, `conflict`, `queue_full`,
 * `insufficient_storage`
 */
export async function submitJob(
  context: SubmitContext,
  submission: JobSubmission,
  user: string | null,
  idempotencyKey: string | null = null,
): Promise<SubmittedJob> {
  // The same key for a scan is independent.
  const key = idempotencyKey === null ? null : repeatKey(user, idempotencyKey, ['job', submission]);
  const earlier = key && (await findKey(context.store, key));
  if (earlier && earlier.digest === key?.digest) return replay(earlier);
  const order = { ...(await decideJob(context, submission, user)), key };
  try {
    const job = order.job.schedule === null ? await runNow(context, order, user) : await keep(context, order);
    return { job, replayed: false };
  } catch (error) {
    if (error instanceof Repeated) return replay(error.earlier);
    throw error;
  }
}

/** Another request with the same key and body came first. */
class Repeated extends Error {
  readonly earlier: KeyRecord;

  constructor(earlier: KeyRecord) {
    super('repeated');
    this.earlier = earlier;
  }
}

function replay({ response }: KeyRecord): SubmittedJob {
  return { job: JSON.parse(response ?? '{}') as Job, replayed: true };
}

/** @throws PortolanError with all problems at once */
export async function decideJob(
  context: SubmitContext,
  requested: JobSubmission,
  user: string | null,
): Promise<Omit<Order, 'key'>> {
  const problems: FieldProblem[] = [];
  const type = readType(requested.type, problems);
  checkSchedule(requested.schedule, problems);
  checkName(requested.name, problems);
  const { params } = requested;
  const pool = sameOf('pool', requested.pool, params.pool, problems) ?? defaultPool;
  const priority = sameOf('priority', requested.priority, params.priority, problems) ?? defaultPriority;
  const submission = { ...params, pool, priority };
  const refusal = await rejectionOf(context, submission, user, requested);
  if (refusal && refusal.code !== 'invalid_request' && problems.length === 0) throw refusal;
  if (refusal || problems.length > 0) throw allProblems(problems, refusal);
  const createdAt = new Date();
  const schedule = requested.schedule?.trim() ?? null;
  const zone = context.config.queue.timezone;
  const now = context.shards ? new Date(await context.shards.line.now()) : createdAt;
  const next = schedule === null ? null : new CronSchedule(schedule, zone).after(now);
  const job = {
    type,
    params: knownParams(params),
    schedule,
    zone,
    pool,
    priority,
    name: requested.name ?? null,
    next_run_at: next?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
    created_by: user,
  };
  return { job, submission };
}

function readType(given: string, problems: FieldProblem[]): JobType {
  const found = jobTypes.find((type) => type === given);
  if (!found) problems.push({ field: 'type', reason: `must be one of ${jobTypes.join(', ')}` });
  return found ?? 'scan';
}

function checkSchedule(schedule: string | undefined, problems: FieldProblem[]): void {
  const reason = schedule === undefined ? null : scheduleProblem(schedule);
  if (reason !== null) problems.push({ field: 'schedule', reason });
}

function checkName(name: string | undefined, problems: FieldProblem[]): void {
  if (name === undefined) return;
  if (name.length > maxNameLength) {
    problems.push({ field: 'name', reason: `must have at most ${maxNameLength} characters` });
  }
  if (/\p{Cc}/u.test(name)) problems.push({ field: 'name', reason: 'must not contain control characters' });
}

/** Fields of a job that are those of its scans. */
const ownFields = ['pool', 'priority'] as const;

function sameOf<T>(
  field: (typeof ownFields)[number],
  own: T | undefined,
  ofScans: T | undefined,
  problems: FieldProblem[],
): T | undefined {
  if (own !== undefined && ofScans !== undefined && own !== ofScans) {
    problems.push({ field: `params.${field}`, reason: `differs from ${field}; leave one of them out` });
  }
  return own ?? ofScans;
}

/** Why a scan with these params would be rejected, in the fields of the job. */
async function rejectionOf(
  context: SubmitContext,
  submission: Submission,
  user: string | null,
  requested: JobSubmission,
): Promise<PortolanError | null> {
  try {
    await checkSubmission(context, submission, user);
    return null;
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const isOwn = (field: string) => ownFields.some((own) => own === field && requested[own] !== undefined);
    const fields = fieldsOf(error).map(({ field, reason }) => ({
      field: isOwn(field) ? field : `params.${field}`,
      reason,
    }));
    return new PortolanError(error.code, error.message, {
      ...error.details,
      ...(fields.length > 0 && { fields }),
    });
  }
}

function fieldsOf({ details }: PortolanError): FieldProblem[] {
  return (details['fields'] as FieldProblem[] | undefined) ?? [];
}

function allProblems(problems: FieldProblem[], refusal: PortolanError | null): PortolanError {
  const own = problems.map(({ field, reason }) => `${field}: ${reason}`);
  const text = [...own, ...(refusal ? [refusal.message] : [])].join('; ').slice(0, 2000);
  const { fields: _fields, ...details } = refusal?.details ?? {};
  return invalidRequest(text, [...problems, ...(refusal ? fieldsOf(refusal) : [])], details);
}

/** A job is stored for long: it must not contain what a later version would apply. */
function knownParams(params: Submission): Record<string, unknown> {
  const known = pick(params, paramNames);
  return params.options === undefined
    ? known
    : { ...known, options: pick<ScanOptions>(params.options, optionNames) };
}

function pick<T extends object>(from: T, names: readonly (keyof T & string)[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]),
  );
}

/** A job without a schedule is submitted together with its scan. */
async function runNow(context: SubmitContext, order: Order, user: string | null): Promise<Job> {
  const { job } = order;
  let stored: Job | null = null;
  const companion = {
    isDue: false,
    admit: (inside: Store) => admitKey(inside, order.key),
    store: async (inside: Store, scanId: string) => {
      const jobId = await insert(inside, job);
      const run = { fireAt: job.created_at, scanId, now: job.created_at, next: null };
      await inside.jobRuns.startRun(jobId, run);
      stored = await answer(context, inside, jobId, order);
    },
  };
  await submitScan({ ...context, companion }, order.submission, user);
  if (stored) return stored;
  throw new Error('the job was not stored with its scan');
}

/** Nothing runs yet, so the queue limit does not apply. */
async function keep(context: SubmitContext, order: Order): Promise<Job> {
  return await context.store.transaction(async (inside) => {
    await admitKey(inside, order.key);
    await checkSchedules(inside);
    return await answer(context, inside, await insert(inside, order.job), order);
  });
}

async function admitKey(inside: Store, key: RepeatKey | null): Promise<void> {
  const earlier = key && (await findSame(inside, key));
  if (earlier) throw new Repeated(earlier);
}

async function checkSchedules(inside: Store): Promise<void> {
  const recurring = await inside.jobSchedules.recurringCount();
  if (recurring < maxSchedules) return;
  throw new PortolanError('queue_full', `${recurring} recurring jobs exist already; cancel some first.`, {
    recurring,
    max_schedules: maxSchedules,
  });
}

async function insert(inside: Store, job: Omit<NewJob, 'job_id'>): Promise<string> {
  let jobId = newJobId(randomBytes);
  while (await inside.clientJobs.isTaken(jobId)) jobId = newJobId(randomBytes);
  await inside.clientJobs.insert({ ...job, job_id: jobId });
  return jobId;
}

/** Response to the client, also for repeated requests. */
async function answer(
  { config }: SubmitContext,
  inside: Store,
  jobId: string,
  { job, key }: Order,
): Promise<Job> {
  const shown = await showStored({ store: inside, config }, jobId);
  if (key) {
    const record = { ...key, scan_id: jobId, created_at: job.created_at, response: JSON.stringify(shown) };
    await inside.idempotency.insert(record, Date.now());
  }
  return shown;
}
