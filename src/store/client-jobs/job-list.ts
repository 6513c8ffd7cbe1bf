import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { type JobStatus, type JobType, jobIdPattern } from '../../domain/job.ts';
import { type CursorPosition, decodeCursor, encodeCursor } from '../cursor.ts';
import { isPostgres } from '../database.ts';
import { countedRows, countOf, exactly, type ListCount, numberOfRows } from '../list-count.ts';
import { RowCounts } from '../row-counts.ts';
import {
  type AgeRange,
  countInWindows,
  newestOfAll,
  rowsInWindows,
  type SearchedList,
  stepBack,
} from '../scans/age-windows.ts';
import type { Tables } from '../schema/tables.ts';
import { ViewedTable } from '../store-table.ts';
import { inView, searchedInView } from '../tenant-view.ts';
import { type ListedJobRow, listedColumns, newestScanStatus, type StoredJob, storedJob } from './job-row.ts';

export interface JobFilter {
  status?: JobStatus;
  /** ISO 8601, inclusive. */
  since?: string;
  pool?: string;
  type?: JobType;
  limit: number;
  /** Jobs to skip; not used together with `cursor`. */
  offset: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

type Filters = Pick<JobFilter, 'status' | 'since' | 'pool' | 'type'>;

export interface JobPage extends ListCount {
  jobs: StoredJob[];
  nextCursor: string | null;
}

/** Maximum length of `params` in a list, characters; longer ones are read one by one. */
const maxListedParams = 65_536;

/** Jobs newest first, by page and filter. */
export class JobLister extends ViewedTable {
  /** Newest first. @throws PortolanError `invalid_request` for a malformed `cursor` */
  async list(filter: JobFilter): Promise<JobPage> {
    const count = await this.#count(filter);
    return { ...(await this.listPart(filter)), ...count };
  }

  /** Page without the total: a caller that reads many pages needs the total only once. */
  async listPart(filter: JobFilter): Promise<Omit<JobPage, keyof ListCount>> {
    const rows = await this.#page(filter);
    const jobs = rows.slice(0, filter.limit).map(storedJob);
    const last = jobs.at(-1);
    const next = last && rows.length > filter.limit ? { createdAt: last.created_at, id: last.job_id } : null;
    return { jobs, nextCursor: next && encodeCursor(next) };
  }

  async #count(filter: JobFilter): Promise<ListCount> {
    if (isIndexed(filter) && filter.since === undefined)
      return exactly((await new RowCounts(this.db, this.view).of('client_jobs', filter.status)).total);
    const onPostgres = isPostgres(this.db);
    if (isLive(filter) || (isIndexed(filter) && !onPostgres))
      return exactly(await this.#countIn(filter, { before: newestOfAll, from: null }));
    if (onPostgres) return await this.#countNewest(filter);
    return exactly(await countInWindows(this.#searched(filter)));
  }

  /** PostgreSQL searches without blocking the event loop. */
  async #countNewest(filter: Filters): Promise<ListCount> {
    const newest = this.#matches(filter, newestOfAll).limit(countedRows);
    return countOf(await numberOfRows(this.db.selectFrom(newest.as('newest'))));
  }

  async #countIn(filter: Filters, range: AgeRange): Promise<number> {
    return await numberOfRows(
      this.db
        .selectFrom('client_jobs')
        .where(isLive(filter) ? searchedInView(this.view) : inView(this.view))
        .where(matching(filter))
        .where(isInRange(range)),
    );
  }

  /** Reads one row more than the page holds, to know whether there is a next page. */
  async #page(filter: JobFilter): Promise<ListedJobRow[]> {
    const { cursor, offset } = filter;
    const before = cursor === undefined ? newestOfAll : decodeCursor(cursor, jobIdPattern);
    const limit = filter.limit + 1;
    const skip = cursor === undefined ? offset : 0;
    if (isLive(filter)) return await this.#rows(filter, { before, from: null }, limit, skip);
    if (!isIndexed(filter) && !isPostgres(this.db))
      return await rowsInWindows(this.#searched(filter), before, limit, skip);
    // Skips positions and not rows: those would be read with their parameters.
    const start = await stepBack(before, skip, (position, n) => this.#nthBefore(filter, position, n));
    return start === null ? [] : await this.#rows(filter, { before: start, from: null }, limit, 0);
  }

  #searched(filter: Filters): SearchedList<ListedJobRow> {
    return {
      nthBefore: (position, n) => this.#nthBefore({}, position, n),
      count: (range) => this.#countIn(filter, range),
      rows: (range, limit, offset) => this.#rows(filter, range, limit, offset),
    };
  }

  async #nthBefore(filter: Filters, position: CursorPosition, n: number): Promise<CursorPosition | null> {
    const row = await this.#matches(filter, position)
      .limit(1)
      .offset(n - 1)
      .executeTakeFirst();
    return row ? { createdAt: row.created_at, id: row.job_id } : null;
  }

  /** Positions, newest first. */
  #matches(filter: Filters, before: CursorPosition) {
    return this.db
      .selectFrom('client_jobs')
      .select(['created_at', 'job_id'])
      .where(inView(this.view))
      .where(matching(filter))
      .where(isInRange({ before, from: null }))
      .orderBy('created_at', 'desc')
      .orderBy('job_id', 'desc');
  }

  async #rows(filter: Filters, range: AgeRange, limit: number, offset: number): Promise<ListedJobRow[]> {
    return await this.db
      .selectFrom('client_jobs')
      .select(listedColumns)
      .select(sql<string | null>`case when length(params) <= ${maxListedParams} then params end`.as('params'))
      .where(isLive(filter) ? searchedInView(this.view) : inView(this.view))
      .where(matching(filter))
      .where(isInRange(range))
      .orderBy('created_at', 'desc')
      .orderBy('job_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
  }
}

/** Whether an index yields the matching jobs in list order. */
function isIndexed(filter: Filters): boolean {
  return filter.pool === undefined && filter.type === undefined && !isLive(filter);
}

/** Unfinished jobs: few enough for one statement, at most `queue.max_jobs` plus the recurring ones. */
function isLive({ status }: Filters): boolean {
  return status === 'pending' || status === 'running';
}

function isInRange({ before, from }: AgeRange) {
  return (e: ExpressionBuilder<Tables, 'client_jobs'>): Expression<SqlBool> => {
    const position = e.refTuple('created_at', 'job_id');
    return e.and([
      ...(before === newestOfAll ? [] : [e(position, '<', e.tuple(before.createdAt, before.id))]),
      ...(from === null ? [] : [e(position, '>=', e.tuple(from.createdAt, from.id))]),
    ]);
  };
}

function matching(filter: Filters) {
  return (e: ExpressionBuilder<Tables, 'client_jobs'>): Expression<SqlBool> => {
    const conditions: Expression<SqlBool>[] = [];
    if (filter.status !== undefined) conditions.push(hasStatus(e, filter.status));
    if (filter.since !== undefined) conditions.push(e('created_at', '>=', filter.since));
    if (filter.pool !== undefined) conditions.push(e('pool', '=', filter.pool));
    if (filter.type !== undefined) conditions.push(e('type', '=', filter.type));
    return e.and(conditions);
  };
}

/** A job whose scan waits for a worker is stored as running and listed as pending. */
function hasStatus(e: ExpressionBuilder<Tables, 'client_jobs'>, status: JobStatus): Expression<SqlBool> {
  if (status !== 'pending' && status !== 'running') return e('status', '=', status);
  const live = e('status', 'in', ['pending', 'running']);
  const waiting = e(newestScanStatus(e), '=', 'pending');
  const runs = e('client_jobs.status', '=', 'running');
  if (status === 'running') return e.and([live, runs, e(newestScanStatus(e), '!=', 'pending')]);
  return e.and([live, e.or([e('client_jobs.status', '=', 'pending'), e.and([runs, waiting])])]);
}
