import { setTimeout as sleep } from 'node:timers/promises';
import type { Dashboard } from '../../actions/dashboard/dashboards.ts';
import type { Job } from '../../domain/job.ts';
import { readListFile, type ScanFlags, type ScanSubmissionBody, submissionOf } from '../scan/submission.ts';
import type { Client } from '../session/client.ts';
import { jobOn } from '../session/job-choice.ts';
import { requireServer } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { jobListShape, jobShape, seriesShape } from '../session/server-responses.ts';
import { amountText, countText } from '../terminal/draw/amounts.ts';
import { drawFacts, renderRows } from '../terminal/draw/columns.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { styleOf } from '../terminal/draw/style.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { jobFacts, jobTable } from './job-text.ts';

/** Attempts to read comparisons that the server has not finished; the list comes without them then. */
const maxReads = 5;
/** Between two of them, milliseconds. */
const pendingMs = 200;

/** Flags of `job submit`. */
export type JobFlags = Partial<ScanFlags> & JobShowFlags & { name?: string; params?: string };

export interface JobShowFlags extends ServerFlags {
  format: string;
}

export interface JobListFlags extends ServerFlags {
  format: string;
  status?: string;
  since?: string;
  pool?: string;
  type?: string;
  limit: number;
  offset?: number;
}

/** Job definition. */
export interface JobSubmissionBody {
  params: Record<string, unknown>;
  schedule?: string | undefined;
  pool?: string | undefined;
  name?: string | undefined;
}

/** `job submit` */
export async function submitJobFromFlags(
  positional: string[],
  flags: JobFlags,
  global: GlobalFlags,
): Promise<void> {
  const params = await paramsOf(positional, flags);
  const client = await requireServer(flags, global);
  await submitJobCommand(
    client,
    { params, schedule: flags.schedule, pool: flags.pool, name: flags.name },
    flags.format,
    global,
  );
}

/** Submits a job and prints it with its next run times. */
export async function submitJobCommand(
  client: Client,
  job: JobSubmissionBody,
  format: string,
  colors: { color: boolean },
): Promise<void> {
  const body = { type: 'scan', ...job };
  const { data, warnings } = await client.submit('POST', '/api/v1/jobs', jobShape, body);
  for (const warning of warnings) note(`warning: ${printable(warning)}`);
  printJob(data, format, colors);
}

async function paramsOf(positional: string[], flags: JobFlags): Promise<Record<string, unknown>> {
  const given = flags.params === undefined ? {} : await readParams(flags.params);
  const named = positional.length > 0 || flags.targets !== undefined || flags.targetFile !== undefined;
  const targets = named ? positional : targetsIn(given);
  // The pool belongs to the job, not to its scans.
  const { pool: _pool, ...requested }: ScanSubmissionBody = await submissionOf(targets, {
    ...flags,
    discover: true,
    fingerprint: true,
    wait: false,
  });
  const options = { ...objectIn(given, 'options'), ...objectIn(requested, 'options') };
  return { ...given, ...requested, ...(Object.keys(options).length > 0 && { options }) };
}

function targetsIn({ targets }: Record<string, unknown>): string[] {
  return Array.isArray(targets) ? targets.map(String) : [];
}

function objectIn(from: Record<string, unknown>, name: string): object {
  const value = from[name];
  return typeof value === 'object' && value !== null ? value : {};
}

async function readParams(file: string): Promise<Record<string, unknown>> {
  const text = await readListFile(file);
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Reported below.
  }
  throw usage(`--params: ${file} is not a JSON object`);
}

/** `job list` */
export async function listJobsCommand(flags: JobListFlags, global: GlobalFlags): Promise<void> {
  const client = await requireServer(flags, global);
  const { format, status, since, pool, type, limit, offset } = flags;
  const given = Object.entries({ status, since, pool, type, limit, offset }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const list = await client.call('GET', `/api/v1/jobs?${new URLSearchParams(given)}`, jobListShape);
  if (format === 'json') print(printableJson(list));
  else if (format === 'csv') print(renderRows(csvTitles, list.jobs.map(csvRow)));
  else if (list.jobs.length === 0) note('no jobs');
  else {
    print(jobTable(list.jobs, await newFindings(client), styleOf(process.stdout, global), Date.now()));
    const { jobs, total, total_is_minimum, offset: from } = list;
    if (total > jobs.length)
      note(
        `${amountText(jobs.length)} of ${total_is_minimum ? 'at least ' : ''}${countText(total, 'job')}, from number ${amountText(from + 1)}`,
      );
  }
}

/** Of the last run of what is scanned again and again, by the id of the scan; none where the server does not say. */
async function newFindings(client: Client): Promise<Map<string, number>> {
  const read = () =>
    client
      .call('GET', '/api/v1/dashboard', seriesShape)
      .catch((): Pick<Dashboard, 'series'> => ({ series: [] }));
  let { series } = await read();
  for (let reads = 1; reads < maxReads && series.some(({ pending }) => pending); reads++) {
    await sleep(pendingMs);
    ({ series } = await read());
  }
  return new Map(series.map(({ scan, changes }) => [scan.scan_id, changes?.new ?? 0]));
}

const csvTitles = ['job_id', 'status', 'schedule', 'next_run_at', 'last_status', 'run_count', 'pool', 'name'];

function csvRow(job: Job): string[] {
  const { job_id, status, schedule, next_run_at, last_status, run_count, pool, name } = job;
  const run = [next_run_at ?? '', last_status ?? '', String(run_count)];
  return [job_id, status, schedule ?? '', ...run, pool, name ?? ''];
}

/** `job show` */
export async function showJobCommand(id: string, flags: JobShowFlags, global: GlobalFlags): Promise<void> {
  const client = await requireServer(flags, global);
  printJob(await client.call('GET', jobPath(await jobOn(client, id)), jobShape), flags.format, global);
}

/** `job cancel`: prints the job as it is then. */
export function cancelJobCommand(id: string, flags: JobShowFlags, global: GlobalFlags): Promise<void> {
  return tellJob(id, 'cancel', flags, global);
}

export function runJobCommand(id: string, flags: JobShowFlags, global: GlobalFlags): Promise<void> {
  return tellJob(id, 'run', flags, global);
}

async function tellJob(
  id: string,
  what: 'cancel' | 'run',
  flags: JobShowFlags,
  global: GlobalFlags,
): Promise<void> {
  const client = await requireServer(flags, global);
  const job = await client.call('POST', `${jobPath(await jobOn(client, id))}/${what}`, jobShape);
  print(flags.format === 'json' ? printableJson(job) : `${printable(`${job.job_id} ${job.status}`)}\n`);
}

function jobPath(id: string): string {
  return `/api/v1/jobs/${encodeURIComponent(id)}`;
}

function printJob(job: Job, format: string, flags: { color: boolean }): void {
  if (format === 'json') print(printableJson(job));
  else print(drawFacts(jobFacts(job, Date.now()), styleOf(process.stdout, flags)));
}
