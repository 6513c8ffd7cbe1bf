import type { FieldProblem } from '../../domain/errors.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import { type ScanStatus, scanStatuses } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import { type ScanFilter, type ScanSort, scanSorts } from '../../store/scans/scan-filter.ts';
import type { ScanPage } from '../../store/scans/scan-list.ts';
import { readScanSort } from '../../store/scans/sorted-scans.ts';
import { type ListPage, type PageQuery, readPage, readSince, rejectProblems } from '../paging/list-page.ts';
import { itemsPerTurn, nextTurn, oneByOne } from '../paging/work-turns.ts';

/** Filters of a list. */
export interface ListQuery extends PageQuery {
  status?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  tag?: string | undefined;
  profile?: string | undefined;
  q?: string | undefined;
  /** One of `scanSorts`, after `-` for descending. */
  sort?: string | undefined;
}

export interface ScanList extends ListPage {
  scans: ListedScan[];
  total_is_minimum: boolean;
}

/** Scans, newest first by default. @throws PortolanError `invalid_request` with every bad parameter */
export async function listScans(store: Store, query: ListQuery): Promise<ScanList> {
  const filter = readFilter(query);
  const { limit, offset } = filter;
  const { scans, total, totalIsMinimum, nextCursor } =
    limit > itemsPerTurn ? await oneByOne(() => readInParts(store, filter)) : await store.scans.list(filter);
  return { scans, total, limit, offset, next_cursor: nextCursor, total_is_minimum: totalIsMinimum };
}

/** A long page: reading a thousand scans at once would block all other requests. */
async function readInParts(store: Store, filter: ScanFilter): Promise<ScanPage> {
  const { limit } = filter;
  const { scans, nextCursor, ...count } = await store.scans.list(partOf(filter, limit));
  let cursor = nextCursor;
  while (cursor !== null && scans.length < limit) {
    await nextTurn();
    const part = await store.scans.listPart({ ...partOf(filter, limit - scans.length), cursor });
    scans.push(...part.scans);
    cursor = part.nextCursor;
  }
  return { scans, ...count, nextCursor: cursor };
}

function partOf(filter: ScanFilter, wanted: number): ScanFilter {
  return { ...filter, limit: Math.min(wanted, itemsPerTurn) };
}

function readFilter(query: ListQuery): ScanFilter {
  const problems: FieldProblem[] = [];
  const status = readStatus(query.status, problems);
  const since = readSince(query.since, problems);
  const until = readSince(query.until, problems, 'until');
  const sort = readSort(query.sort, problems);
  const page = readPage(query, problems);
  rejectProblems(problems);
  return {
    ...page,
    ...(status && { status }),
    ...(since && { since }),
    ...(until && { until }),
    ...(sort && { sort }),
    ...(query.tag !== undefined && { tag: query.tag }),
    ...(query.profile !== undefined && { profile: query.profile }),
    ...(query.q !== undefined && { q: query.q }),
  };
}

function readSort(given: string | undefined, problems: FieldProblem[]): ScanSort | null {
  if (given === undefined) return null;
  const sort = readScanSort(given);
  if (sort === null) {
    problems.push({
      field: 'sort',
      reason: `must be one of ${scanSorts.join(', ')}, after - for descending`,
    });
  }
  return sort;
}

function readStatus(given: string | undefined, problems: FieldProblem[]): ScanStatus | null {
  if (given === undefined) return null;
  const status = given === 'queued' ? 'pending' : given;
  if ((scanStatuses as readonly string[]).includes(status)) return status as ScanStatus;
  problems.push({ field: 'status', reason: `must be one of ${scanStatuses.join(', ')} (or queued)` });
  return null;
}
