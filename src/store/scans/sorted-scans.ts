import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { invalidRequest } from '../../domain/errors.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import { scanIdPattern, scanStatuses } from '../../domain/scan.ts';
import { isPostgres } from '../database.ts';
import type { Tables } from '../schema/tables.ts';
import { inView, type TenantView } from '../tenant-view.ts';
import { type AgeRange, newestOfAll, type SearchedList, windows } from './age-windows.ts';
import { scansWithIds } from './listed-scans.ts';
import { isInRange, matching, type ScanFilter, type ScanSort, scanSorts } from './scan-filter.ts';

/** Scans that a sorted list can skip: a page after more of them would need them all in memory. */
const maxOffset = 100_000;

/** Position of a scan in a sorted list; scans with the same key are in order of their ids. */
interface SortedPosition {
  key: string | number;
  scan_id: string;
}

/** The scans to sort. */
interface SortedScans {
  db: Kysely<Tables>;
  view: TenantView;
  list: Pick<SearchedList<unknown>, 'nthBefore'>;
}

/** A page in another order than by age. @throws PortolanError `invalid_request` for a malformed cursor */
export async function readSorted(
  source: SortedScans,
  filter: ScanFilter,
  sort: ScanSort,
): Promise<{ scans: ListedScan[]; nextCursor: string | null }> {
  const { limit, offset, cursor } = filter;
  const after = cursor === undefined ? null : decodePosition(cursor, sort);
  const skip = after === null ? offset : 0;
  if (skip > maxOffset) {
    const reason = `must be at most ${maxOffset} in a list that is sorted by ${sort.by}; use cursor`;
    throw invalidRequest(`offset ${reason}`, [{ field: 'offset', reason }]);
  }
  const found = await positions(source, filter, sort, after, skip + limit + 1);
  const page = found.slice(skip, skip + limit);
  const last = page.at(-1);
  return {
    // One may have been deleted meanwhile.
    scans: await scansWithIds(
      source.db,
      source.view,
      page.map(({ scan_id }) => scan_id),
    ),
    nextCursor: last && found.length > skip + limit ? encodePosition(last, sort) : null,
  };
}

/** The first positions after another one. */
async function positions(
  source: SortedScans,
  filter: ScanFilter,
  sort: ScanSort,
  after: SortedPosition | null,
  count: number,
): Promise<SortedPosition[]> {
  // PostgreSQL sorts without blocking the event loop.
  if (isPostgres(source.db)) {
    return await positionsIn(source, filter, sort, after, count, { before: newestOfAll, from: null });
  }
  let first: SortedPosition[] = [];
  for await (const range of windows(source.list, newestOfAll)) {
    first.push(...(await positionsIn(source, filter, sort, after, count, range)));
    first = first.sort((a, b) => compare(a, b, sort)).slice(0, count);
  }
  return first;
}

async function positionsIn(
  { db, view }: SortedScans,
  filter: ScanFilter,
  sort: ScanSort,
  after: SortedPosition | null,
  count: number,
  range: AgeRange,
): Promise<SortedPosition[]> {
  const key = keyOf(db, sort);
  const direction = sort.descending ? 'desc' : 'asc';
  let query = db
    .selectFrom('scans')
    .select(['scan_id', key.as('key')])
    .where(inView(view))
    .where(matching(filter, isPostgres(db)))
    .where(isInRange(range))
    .orderBy(isPostgres(db) && filter.q !== undefined ? unindexed(key, sort) : key, direction)
    .orderBy('scan_id', direction)
    .limit(count);
  if (after !== null) query = query.where(isAfter(key, sort, after));
  const rows = await query.execute();
  return rows.map((row) => ({ scan_id: row.scan_id, key: isText(sort) ? String(row.key) : Number(row.key) }));
}

/** For a search by text, whose rows PostgreSQL would look for one by one in the order of the index. */
function unindexed(key: RawBuilder<string | number>, sort: ScanSort): RawBuilder<string | number> {
  return isText(sort) ? sql`${key} || ''` : sql`${key} + 0`;
}

/** Compares the pair, as an index does. */
function isAfter(key: RawBuilder<string | number>, { descending }: ScanSort, after: SortedPosition) {
  const order = sql.raw(descending ? '<' : '>');
  return sql<SqlBool>`(${key}, scan_id) ${order} (${after.key}, ${after.scan_id})`;
}

/**
 * What a list is sorted by; never null. Text is compared by bytes in both databases. PostgreSQL has an index for each: see
 * `list-indexes.ts`.
 */
function keyOf(db: Kysely<Tables>, { by }: ScanSort): RawBuilder<string | number> {
  const postgres = isPostgres(db);
  switch (by) {
    case 'created_at':
      return postgres ? sql`created_at collate "C"` : sql`created_at`;
    case 'name':
      return postgres ? sql`lower(coalesce(name, '')) collate "C"` : sql`lower(coalesce(name, ''))`;
    case 'status':
      return sql`case status ${sql.join(
        scanStatuses.map((status, rank) => sql`when ${sql.lit(status)} then ${sql.lit(rank)}`),
        sql` `,
      )} else ${sql.lit(scanStatuses.length)} end`;
    case 'duration':
      // Of a scan that has not ended: before all others.
      return postgres
        ? sql`scan_duration(started_at, completed_at)`
        : sql`coalesce(round((julianday(completed_at) - julianday(started_at)) * 86400000), -1.0)`;
    case 'findings':
      return postgres ? sql`vulnerabilities::double precision` : sql`vulnerabilities`;
  }
}

function isText({ by }: ScanSort): boolean {
  return by === 'created_at' || by === 'name';
}

function compare(a: SortedPosition, b: SortedPosition, { descending }: ScanSort): number {
  const order = compareKeys(a.key, b.key) || (a.scan_id < b.scan_id ? -1 : Number(a.scan_id > b.scan_id));
  return descending ? -order : order;
}

function compareKeys(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

function encodePosition({ key, scan_id }: SortedPosition, sort: ScanSort): string {
  return Buffer.from(JSON.stringify([sortText(sort), key, scan_id])).toString('base64url');
}

/** @throws PortolanError `invalid_request` */
function decodePosition(cursor: string, sort: ScanSort): SortedPosition {
  const [text, key, scanId] = partsOf(cursor);
  if (
    text !== sortText(sort) ||
    !isKey(key, sort) ||
    typeof scanId !== 'string' ||
    !scanIdPattern.test(scanId)
  ) {
    throw invalidRequest('The cursor is malformed.', [
      { field: 'cursor', reason: 'not a next_cursor of this list with this sort' },
    ]);
  }
  return { key: key as string | number, scan_id: scanId };
}

/** Whether the database can compare it: PostgreSQL rejects texts with NUL, and numbers beyond a column's type. */
function isKey(key: unknown, sort: ScanSort): boolean {
  if (isText(sort)) return typeof key === 'string' && !key.includes('\0');
  const most = sort.by === 'status' ? scanStatuses.length : Number.MAX_SAFE_INTEGER;
  return Number.isSafeInteger(key) && (key as number) >= -1 && (key as number) <= most;
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function sortText({ by, descending }: ScanSort): string {
  return `${descending ? '-' : ''}${by}`;
}

/** @returns null if the text names no sort: a name, after `-` for descending */
export function readScanSort(text: string): ScanSort | null {
  const descending = text.startsWith('-');
  const by = scanSorts.find((name) => name === text.slice(descending ? 1 : 0));
  return by === undefined ? null : { by, descending };
}
