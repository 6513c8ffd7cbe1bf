import { sql } from 'kysely';
import type { ListedScan } from '../../domain/listed-scan.ts';
import { scanIdPattern } from '../../domain/scan.ts';
import { type CursorPosition, decodeCursor, encodeCursor } from '../cursor.ts';
import { isPostgres } from '../database.ts';
import { countedRows, countOf, exactly, type ListCount, numberOfRows } from '../list-count.ts';
import { RowCounts } from '../row-counts.ts';
import { ViewedTable } from '../store-table.ts';
import { inView } from '../tenant-view.ts';
import {
  type AgeRange,
  countInWindows,
  newestAndRest,
  newestOfAll,
  rowsInWindows,
  type SearchedList,
  stepBack,
} from './age-windows.ts';
import { type ListedRow, listedScan, selectListed } from './listed-scans.ts';
import { type Filters, isIndexed, isInRange, matching, type ScanFilter } from './scan-filter.ts';
import { readSorted } from './sorted-scans.ts';

/** The count is of the matching scans on all pages. */
export interface ScanPage extends ListCount {
  scans: ListedScan[];
  /** Null on the last page. */
  nextCursor: string | null;
}

/** Scans in which PostgreSQL looks for a text in order of age before it looks for it in all by their trigrams. */
const newestSearched = 5000;

/** Scans by page and filter, newest first by default. */
export class ScanLister extends ViewedTable {
  /** @throws PortolanError `invalid_request` for a malformed `cursor` or time */
  async list(filter: ScanFilter): Promise<ScanPage> {
    const count = await this.#count(filter);
    return { ...(await this.listPart(filter)), ...count };
  }

  /** Page without the total: a caller that reads many pages needs the total only once. */
  async listPart(filter: ScanFilter): Promise<Omit<ScanPage, keyof ListCount>> {
    const { sort } = filter;
    if (sort !== undefined && !(sort.by === 'created_at' && sort.descending)) {
      return await readSorted({ db: this.db, view: this.view, list: this.#searched(filter) }, filter, sort);
    }
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

  async #count(filter: ScanFilter): Promise<ListCount> {
    const { status, since, until } = filter;
    if (isIndexed(filter) && since === undefined && until === undefined)
      return exactly((await new RowCounts(this.db, this.view).of('scans', status)).total);
    if (isPostgres(this.db)) return await this.#countNewest(filter);
    if (isIndexed(filter)) return exactly(await this.#countIn(filter, { before: newestOfAll, from: null }));
    return exactly(await countInWindows(this.#searched(filter)));
  }

  /** PostgreSQL searches without blocking the event loop. */
  async #countNewest(filter: Filters): Promise<ListCount> {
    const newest = this.#matches(filter, { before: newestOfAll, from: null }).limit(countedRows);
    return countOf(await numberOfRows(this.db.selectFrom(newest.as('newest'))));
  }

  async #countIn(filter: Filters, range: AgeRange): Promise<number> {
    return await numberOfRows(
      this.db
        .selectFrom('scans')
        .where(inView(this.view))
        .where(matching(filter, isPostgres(this.db)))
        .where(isInRange(range)),
    );
  }

  /** Reads one row more than the page holds, to know whether there is a next page. */
  async #page(filter: ScanFilter): Promise<ListedRow[]> {
    const { cursor, offset } = filter;
    const before = cursor === undefined ? newestOfAll : decodeCursor(cursor, scanIdPattern);
    const limit = filter.limit + 1;
    const skip = cursor === undefined ? offset : 0;
    if (!isIndexed(filter) && !isPostgres(this.db))
      return await rowsInWindows(this.#searched(filter), before, limit, skip);
    if (filter.q !== undefined) {
      const list = this.#searched(filter);
      return await rowsInWindows(list, before, limit, skip, newestAndRest(list, before, newestSearched));
    }
    // Skips positions and not rows: those would be read with their targets.
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
    const row = await this.#matches(filter, { before: position, from: null })
      .limit(1)
      .offset(n - 1)
      .executeTakeFirst();
    return row ? { createdAt: row.created_at, id: row.scan_id } : null;
  }

  /** Positions, newest first. */
  #matches(filter: Filters, range: AgeRange) {
    return this.db
      .selectFrom('scans')
      .select(['created_at', 'scan_id'])
      .where(inView(this.view))
      .where(matching(filter, isPostgres(this.db)))
      .where(isInRange(range))
      .orderBy('created_at', 'desc')
      .orderBy('scan_id', 'desc');
  }

  async #rows(filter: Filters, range: AgeRange, limit: number, offset: number): Promise<ListedRow[]> {
    // PostgreSQL takes texts for more frequent than they are, and would look for them in every scan, from the newest on.
    const isSearch = filter.q !== undefined && range.from === null && isPostgres(this.db);
    return await selectListed(this.db, this.view)
      .where(matching(filter, isPostgres(this.db)))
      .where(isInRange(range))
      .orderBy(isSearch ? sql`created_at || ''` : sql.ref('created_at'), 'desc')
      .orderBy('scan_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
  }
}
