import type { FieldProblem } from '../../domain/errors.ts';
import { type Job, jobStatuses, jobTypes } from '../../domain/job.ts';
import type { JobFilter, JobPage } from '../../store/client-jobs/job-list.ts';
import type { StoredJob } from '../../store/client-jobs/job-row.ts';
import type { Store } from '../../store/open.ts';
import { type ListPage, type PageQuery, readPage, readSince, rejectProblems } from '../paging/list-page.ts';
import { itemsPerTurn, nextTurn, oneByOne } from '../paging/work-turns.ts';
import { finalizeBeforeReading, type JobView, viewJobs } from './show-job.ts';

/** Filters of a list. */
export interface JobQuery extends PageQuery {
  status?: string | undefined;
  since?: string | undefined;
  pool?: string | undefined;
  type?: string | undefined;
}

export interface JobList extends ListPage {
  jobs: Job[];
  total_is_minimum: boolean;
}

/** Items of each list in `params` shown for a listed job; `<list>_total` has their number. */
const listedItems = 100;

/** Jobs, newest first. @throws PortolanError `invalid_request` with every bad parameter */
export async function listJobs(view: JobView, query: JobQuery): Promise<JobList> {
  const filter = readFilter(query);
  await finalizeBeforeReading(view.store);
  const { limit, offset } = filter;
  const { jobs, total, totalIsMinimum, nextCursor } =
    limit > itemsPerTurn ? await oneByOne(() => readInParts(view, filter)) : await readPart(view, filter);
  return { jobs, total, limit, offset, next_cursor: nextCursor, total_is_minimum: totalIsMinimum };
}

type ShownPage = Omit<JobPage, 'jobs'> & { jobs: Job[] };

/** A long page: reading a thousand jobs at once would block all other requests. */
async function readInParts(view: JobView, filter: JobFilter): Promise<ShownPage> {
  const { limit } = filter;
  const { jobs, nextCursor, ...count } = await readPart(view, partOf(filter, limit));
  let cursor = nextCursor;
  while (cursor !== null && jobs.length < limit) {
    await nextTurn();
    const next = { ...partOf(filter, limit - jobs.length), cursor };
    const part = await view.store.clientJobs.listPart(next);
    jobs.push(...(await shown(view, part.jobs)));
    cursor = part.nextCursor;
  }
  return { jobs, ...count, nextCursor: cursor };
}

async function readPart(view: JobView, filter: JobFilter): Promise<ShownPage> {
  const page = await view.store.clientJobs.list(filter);
  return { ...page, jobs: await shown(view, page.jobs) };
}

function partOf(filter: JobFilter, wanted: number): JobFilter {
  return { ...filter, limit: Math.min(wanted, itemsPerTurn) };
}

async function shown(view: JobView, jobs: readonly StoredJob[]): Promise<Job[]> {
  const shortened: StoredJob[] = [];
  for (const job of jobs) shortened.push(await shorten(view.store, job));
  return await viewJobs(view, shortened);
}

/** One at a time, so that never more than one job with a long list of targets is in memory. */
async function shorten(store: Store, job: StoredJob): Promise<StoredJob> {
  const params = job.params ?? (await store.clientJobs.params(job.job_id)) ?? {};
  const entries = Object.entries(params).flatMap(([name, value]): [string, unknown][] => {
    if (!Array.isArray(value) || value.length <= listedItems) return [[name, value]];
    return [
      [name, value.slice(0, listedItems)],
      [`${name}_total`, value.length],
    ];
  });
  return { ...job, params: Object.fromEntries(entries) };
}

function readFilter(query: JobQuery): JobFilter {
  const problems: FieldProblem[] = [];
  const status = oneOf(jobStatuses, 'status', query.status, problems);
  const type = oneOf(jobTypes, 'type', query.type, problems);
  const since = readSince(query.since, problems);
  const page = readPage(query, problems);
  rejectProblems(problems);
  return {
    ...page,
    ...(status && { status }),
    ...(type && { type }),
    ...(since && { since }),
    ...(query.pool !== undefined && { pool: query.pool }),
  };
}

function oneOf<T extends string>(
  values: readonly T[],
  field: string,
  given: string | undefined,
  problems: FieldProblem[],
): T | undefined {
  const found = values.find((value) => value === given);
  if (given !== undefined && found === undefined) {
    problems.push({ field, reason: `must be one of ${values.join(', ')}` });
  }
  return found;
}
