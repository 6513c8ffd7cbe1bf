import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import { invalidRequest } from '../../domain/errors.ts';
import { type Scan, type ScanStatus, scanIdPattern } from '../../domain/scan.ts';
import { type CursorPosition, decodeCursor, encodeCursor } from '../cursor.ts';
import { isPostgres } from '../database.ts';
import { RowCounts } from '../row-counts.ts';
import type { Tables } from '../schema/tables.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import {
  type AgeRange,
  countInWindows,
  newestOfAll,
  rowsInWindows,
  type SearchedList,
  stepBack,
} from './age-windows.ts';
import { type StoredScan, scanFromRow, shortColumns } from './scan-row.ts';

export interface ScanFilter {
  status?: ScanStatus;
  /** ISO 8601, inclusive. */
  since?: string;
  tag?: string;
  /** Substring of the name or of a target, ASCII case-insensitive. */
  q?: string;
  limit: number;
  /** Scans to skip; not used together with `cursor`. */
  offset: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

/** A listed scan: with very many targets only the first ones and their number. */
export type ListedScan = Scan & { targets_total?: number };

export interface ScanPage {
  scans: ListedScan[];
  /** Number of matching scans on all pages. */
  total: number;
  /** Null on the last page. */
  nextCursor: string | null;
}

type Filters = Pick<ScanFilter, 'status' | 'since' | 'tag' | 'q'>;

/** Scans newest first, by page and filter. */
export class ScanLister {
  readonly #db: Kysely<Tables>;
  readonly #view: TenantView;

  /** @param view tenant whose scans are listed */
  constructor(db: Kysely<Tables>, view: TenantView) {
    this.#db = db;
    this.#view = view;
  }

  /**
   * Newest first.
   *
   * @throws PortolanError `invalid_request` for a malformed `cursor` or `since`
   */
  async list(filter: ScanFilter): Promise<ScanPage> {
    const total = await this.#count(filter);
    return { ...(await this.listPart(filter)), total };
  }

  /** Page without the total: a caller that reads many pages needs the total only once. */
  async listPart(filter: ScanFilter): Promise<Omit<ScanPage, 'total'>> {
    const rows = await this.#page(filter);
    const scans = rows.slice(0, filter.limit).map(listedScan);
    const last = scans.at(-1);
    return {
      scans,
      nextCursor:
        last && rows.length > filter.limit
          ? encodeCursor({ createdAt: last.created_at, id: last.scan_id })
          : null,
    };
  }

  async #count(filter: ScanFilter): Promise<number> {
    const { status, since } = filter;
    if (isIndexed(filter) && since === undefined)
      return (await new RowCounts(this.#db, this.#view).of('scans', status)).total;
    // PostgreSQL searches without blocking the event loop.
    if (isIndexed(filter) || isPostgres(this.#db))
      return await this.#countIn(filter, { before: newestOfAll, from: null });
    return await countInWindows(this.#searched(filter));
  }

  async #countIn(filter: Filters, range: AgeRange): Promise<number> {
    const row = await this.#db
      .selectFrom('scans')
      .select((e) => e.fn.countAll().as('scans'))
      .where(inView(this.#view))
      .where(matching(filter))
      .where(isInRange(range))
      .executeTakeFirstOrThrow();
    return Number(row.scans);
  }

  /** Reads one row more than the page holds, to know whether there is a next page. */
  async #page(filter: ScanFilter): Promise<ListedRow[]> {
    const { cursor, offset } = filter;
    const before = cursor === undefined ? newestOfAll : decodeCursor(cursor, scanIdPattern);
    const limit = filter.limit + 1;
    const skip = cursor === undefined ? offset : 0;
    if (isPostgres(this.#db)) return await this.#rows(filter, { before, from: null }, limit, skip);
    if (!isIndexed(filter)) return await rowsInWindows(this.#searched(filter), before, limit, skip);
    const start = await stepBack(before, skip, (position, n) => this.#nthBefore(filter, position, n));
    return start === null ? [] : await this.#rows(filter, { before: start, from: null }, limit, 0);
  }

  #searched(filter: Filters): SearchedList<ListedRow> {
    return {
      nthBefore: (position, n) => this.#nthBefore({}, position, n),
      count: (range) => this.#countIn(filter, range),
      rows: (range, limit, offset) => this.#rows(filter, range, limit, offset),
    };
  }

  async #nthBefore(filter: Filters, position: CursorPosition, n: number): Promise<CursorPosition | null> {
    const row = await this.#db
      .selectFrom('scans')
      .select(['created_at', 'scan_id'])
      .where(inView(this.#view))
      .where(matching(filter))
      .where(isInRange({ before: position, from: null }))
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc')
      .limit(1)
      .offset(n - 1)
      .executeTakeFirst();
    return row ? { createdAt: row.created_at, id: row.scan_id } : null;
  }

  async #rows(filter: Filters, range: AgeRange, limit: number, offset: number): Promise<ListedRow[]> {
    return await this.#db
      .selectFrom('scans')
      .select(shortColumns)
      // Does not even read megabytes of targets.
      .select((e) => {
        const listing = e.selectFrom('scan_listings').whereRef('scan_listings.scan_id', '=', 'scans.scan_id');
        return [
          e.fn.coalesce(listing.select('scan_listings.targets'), 'scans.targets').as('targets'),
          listing.select('targets_total').as('targets_total'),
        ];
      })
      .where(inView(this.#view))
      .where(matching(filter))
      .where(isInRange(range))
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
  }
}

type ListedRow = StoredScan & { targets_total: number | null };

function listedScan(row: ListedRow): ListedScan {
  const scan = scanFromRow(row);
  return row.targets_total === null ? scan : { ...scan, targets_total: Number(row.targets_total) };
}

/** Whether an index yields the matching scans in list order. */
function isIndexed({ tag, q }: Filters): boolean {
  return tag === undefined && q === undefined;
}

function isInRange({ before, from }: AgeRange) {
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> => {
    const position = e.refTuple('created_at', 'scan_id');
    return e.and([
      ...(before === newestOfAll ? [] : [e(position, '<', e.tuple(before.createdAt, before.id))]),
      ...(from === null ? [] : [e(position, '>=', e.tuple(from.createdAt, from.id))]),
    ]);
  };
}

function matching(filter: Filters) {
  const since = filter.since === undefined ? null : isoTime(filter.since);
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> => {
    const conditions: Expression<SqlBool>[] = [];
    if (filter.status !== undefined) conditions.push(e('status', '=', filter.status));
    if (since !== null) conditions.push(e('created_at', '>=', since));
    if (filter.tag !== undefined) {
      conditions.push(
        e.exists(
          e
            .selectFrom('scan_tags')
            .select('scan_tags.scan_id')
            .where('tag', '=', filter.tag)
            .whereRef('scan_tags.scan_id', '=', 'scans.scan_id'),
        ),
      );
    }
    if (filter.q !== undefined) {
      conditions.push(sql<SqlBool>`lower(searchable) like lower(${likePattern(filter.q)}) escape '\\'`);
    }
    return e.and(conditions);
  };
}

function likePattern(substring: string): string {
  return `%${substring.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Stored times are `Date.toISOString` texts, which sort like times; normalizes others. */
function isoTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw invalidRequest('The time is malformed.', [{ field: 'since', reason: 'not an ISO 8601 time' }]);
  }
  return time.toISOString();
}
