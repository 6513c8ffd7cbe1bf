import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { invalidRequest } from '../../domain/errors.ts';
import type { ScanStatus } from '../../domain/scan.ts';
import type { Tables } from '../schema/tables.ts';
import { type AgeRange, newestOfAll } from './age-windows.ts';

/** What lists of scans can be sorted by. */
export const scanSorts = ['created_at', 'name', 'status', 'duration', 'findings'] as const;

export interface ScanSort {
  by: (typeof scanSorts)[number];
  descending: boolean;
}

export interface ScanFilter {
  status?: ScanStatus;
  /** ISO 8601, inclusive. */
  since?: string;
  /** ISO 8601, exclusive. */
  until?: string;
  tag?: string;
  profile?: string;
  /** Substring of the name or of a target, ASCII case-insensitive. */
  q?: string;
  /** Newest first by default. */
  sort?: ScanSort;
  limit: number;
  /** Scans to skip; not used together with `cursor`. */
  offset: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

export type Filters = Pick<ScanFilter, 'status' | 'since' | 'until' | 'tag' | 'profile' | 'q'>;

/** Whether an index yields the matching scans in list order. */
export function isIndexed({ tag, profile, q }: Filters): boolean {
  return tag === undefined && profile === undefined && q === undefined;
}

export function isInRange({ before, from }: AgeRange) {
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> => {
    const position = e.refTuple('created_at', 'scan_id');
    return e.and([
      ...(before === newestOfAll ? [] : [e(position, '<', e.tuple(before.createdAt, before.id))]),
      ...(from === null ? [] : [e(position, '>=', e.tuple(from.createdAt, from.id))]),
    ]);
  };
}

/**
 * @param onPostgres texts are found by an index
 * @throws PortolanError `invalid_request` for a malformed time
 */
export function matching(filter: Filters, onPostgres: boolean) {
  const since = filter.since === undefined ? null : isoTime(filter.since, 'since');
  const until = filter.until === undefined ? null : isoTime(filter.until, 'until');
  return (e: ExpressionBuilder<Tables, 'scans'>): Expression<SqlBool> => {
    const conditions: Expression<SqlBool>[] = [];
    if (filter.status !== undefined) conditions.push(e('status', '=', filter.status));
    if (since !== null) conditions.push(e('created_at', '>=', since));
    if (until !== null) conditions.push(e('created_at', '<', until));
    if (filter.profile !== undefined) conditions.push(e('profile', '=', filter.profile));
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
    if (filter.q !== undefined) conditions.push(contains(filter.q, onPostgres));
    return e.and(conditions);
  };
}

/** Characters of a text in the index of its trigrams; the octets of longer ones are more. As a literal, as in `list-indexes.ts`. */
const indexedLength = sql.lit(16_384);

/** In PostgreSQL in the form of the indexes, which keep long texts apart. */
function contains(q: string, onPostgres: boolean): Expression<SqlBool> {
  const found = (text: Expression<string>) =>
    sql<SqlBool>`lower(${text}) like lower(${likePattern(q)}) escape '\\'`;
  const anywhere = found(sql`searchable`);
  if (!onPostgres) return anywhere;
  const atStart = found(sql`left(searchable, ${indexedLength})`);
  return sql`(${atStart} or (octet_length(searchable) > ${indexedLength} and ${anywhere}))`;
}

function likePattern(substring: string): string {
  return `%${substring.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Stored times are `Date.toISOString` texts, which sort like times; normalizes others. */
function isoTime(text: string, field: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw invalidRequest('The time is malformed.', [{ field, reason: 'not an ISO 8601 time' }]);
  }
  return time.toISOString();
}
