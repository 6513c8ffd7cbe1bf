import { type FieldProblem, invalidRequest } from '../../domain/errors.ts';

/** Paging parameters; numbers are parsed already. */
export interface PageQuery {
  limit?: number | undefined;
  offset?: number | undefined;
  /** `next_cursor` of the previous page; excludes an offset. */
  cursor?: string | undefined;
}

/** Position of the items of a response in the whole list. */
export interface ListPage {
  total: number;
  /** There are more than `total`: the count has stopped. */
  total_is_minimum?: boolean;
  limit: number;
  offset: number;
  /** Null on the last page. */
  next_cursor: string | null;
}

/** Paging parameters with defaults applied. */
export interface PageChoice {
  limit: number;
  offset: number;
  cursor?: string;
}

/** Items of a page where the client names no `limit`. */
export const defaultLimit = 50;
/** Maximum number of items of a page. */
export const maxLimit = 1000;

/** @param problems collects what is wrong with it */
export function readPage(query: PageQuery, problems: FieldProblem[]): PageChoice {
  const { limit = defaultLimit, offset, cursor } = query;
  if (limit < 1) problems.push({ field: 'limit', reason: `must be a whole number from 1 to ${maxLimit}` });
  if (cursor !== undefined && offset !== undefined) {
    problems.push({ field: 'cursor', reason: 'cannot be used together with offset' });
  }
  return {
    limit: Math.min(limit, maxLimit),
    offset: Math.min(offset ?? 0, Number.MAX_SAFE_INTEGER),
    ...(cursor !== undefined && { cursor }),
  };
}

/** @throws PortolanError `invalid_request` with every problem, if there are any */
export function rejectProblems(problems: FieldProblem[]): void {
  if (problems.length === 0) return;
  throw invalidRequest(problems.map(({ field, reason }) => `${field} ${reason}`).join('; '), problems);
}

/** A blank before the offset is the `+` of a client that did not encode it. */
const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+\- ]\d\d:\d\d))?$/;

/** RFC 3339 with any offset, or a date alone (00:00 UTC); years 1970 to 9999. */
export function readSince(
  given: string | undefined,
  problems: FieldProblem[],
  field = 'since',
): string | null {
  if (given === undefined) return null;
  const time = readTime(given);
  if (time !== null) return time.toISOString();
  problems.push({
    field,
    reason: 'must be an RFC 3339 time such as 2026-10-06T14:30:00Z, or a date',
  });
  return null;
}

function readTime(text: string): Date | null {
  const match = rfc3339.exec(text);
  if (!match) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3);
  // A day such as 30 February would roll over to another one, and so does 24:00.
  const asUtc = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`);
  const echoed = Number.isNaN(asUtc.getTime()) ? '' : asUtc.toISOString();
  if (!echoed.startsWith(`${year}-${month}-${day}T${hour}`)) return null;
  const time = new Date(asUtc.getTime() - offsetMinutes(zone) * 60_000);
  const inRange =
    time.getTime() >= 0 && time.getUTCFullYear() <= 9999 && Math.abs(offsetMinutes(zone)) < 24 * 60;
  return inRange ? time : null;
}

function offsetMinutes(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith('-') ? -minutes : minutes;
}
