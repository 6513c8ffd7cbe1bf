import { type FieldProblem, invalidRequest } from '../domain/errors.ts';
import { type ScanStatus, scanStatuses } from '../domain/scan.ts';
import type { Store } from '../store/open.ts';
import type { ListedScan, ScanFilter } from '../store/scans.ts';

/** What a list may be narrowed by; numbers are read already. */
export interface ListQuery {
  limit?: number | undefined;
  offset?: number | undefined;
  cursor?: string | undefined;
  status?: string | undefined;
  since?: string | undefined;
  tag?: string | undefined;
  q?: string | undefined;
}

export interface ScanList {
  scans: ListedScan[];
  total: number;
  limit: number;
  offset: number;
  next_cursor: string | null;
}

export const defaultLimit = 50;
export const maxLimit = 1000;

/** Scans, newest first. @throws PortolanError `invalid_request` with every bad parameter */
export async function listScans(store: Store, query: ListQuery): Promise<ScanList> {
  const filter = readFilter(query);
  const { scans, total, nextCursor } = await store.scans.list(filter);
  return {
    scans,
    total,
    limit: filter.limit,
    offset: filter.offset,
    next_cursor: nextCursor,
  };
}

function readFilter(query: ListQuery): ScanFilter {
  const problems: FieldProblem[] = [];
  const status = readStatus(query.status, problems);
  const since = readSince(query.since, problems);
  const limit = query.limit ?? defaultLimit;
  if (limit < 1) problems.push({ field: 'limit', reason: 'must be a whole number from 1 to 1000' });
  if (query.cursor !== undefined && query.offset !== undefined) {
    problems.push({ field: 'cursor', reason: 'cannot be used together with offset' });
  }
  if (problems.length > 0) {
    throw invalidRequest(problems.map(({ field, reason }) => `${field} ${reason}`).join('; '), problems);
  }
  return {
    limit: Math.min(limit, maxLimit),
    offset: Math.min(query.offset ?? 0, Number.MAX_SAFE_INTEGER),
    ...(status && { status }),
    ...(since && { since }),
    ...(query.tag !== undefined && { tag: query.tag }),
    ...(query.q !== undefined && { q: query.q }),
    ...(query.cursor !== undefined && { cursor: query.cursor }),
  };
}

function readStatus(given: string | undefined, problems: FieldProblem[]): ScanStatus | null {
  if (given === undefined) return null;
  const status = given === 'queued' ? 'pending' : given;
  if ((scanStatuses as readonly string[]).includes(status)) return status as ScanStatus;
  problems.push({ field: 'status', reason: `must be one of ${scanStatuses.join(', ')} (or queued)` });
  return null;
}

/** A blank before the offset is the `+` of a client that did not encode it. */
const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+\- ]\d\d:\d\d))?$/;

/** RFC 3339 with any offset, or a date alone (00:00 UTC); years 1970 to 9999. */
export function readSince(given: string | undefined, problems: FieldProblem[]): string | null {
  if (given === undefined) return null;
  const time = readTime(given);
  if (time !== null) return time.toISOString();
  problems.push({
    field: 'since',
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
