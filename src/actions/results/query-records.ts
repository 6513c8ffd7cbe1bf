import { hash } from 'node:crypto';
import { type FieldProblem, invalidRequest, PortolanError } from '../../domain/errors.ts';
import { parseQuery } from '../../domain/query/parse-query.ts';
import type { Query } from '../../domain/query/query.ts';
import { QueryProblem } from '../../domain/query/query-problem.ts';
import type { Scan, ScanWarning } from '../../domain/scan.ts';
import { openResults, type RecordObserver } from '../../scan-run/results/open-results.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { Member } from '../../workspace/record-index/record-index.ts';
import { parseSort, type SortKey } from '../../workspace/record-index/sort-keys.ts';
import { type ListPage, type PageQuery, readPage, rejectProblems } from '../paging/list-page.ts';
import type { RowsResponse } from '../record-index/index-requests.ts';
import type { RecordIndexes } from '../record-index/record-indexes.ts';

/** What a request asks of the records of a scan. */
export interface RecordsQuery extends PageQuery {
  type?: string | undefined;
  q?: string | undefined;
  sort?: string | undefined;
  join?: 'ports' | undefined;
}

/** Members of the tuples that satisfy a query. */
export interface Matches {
  hosts: number;
  ports: number;
  findings: number;
}

export interface QueriedRecords extends ListPage {
  /** JSON text of an array. */
  records: string;
  partial: boolean;
  warnings: ScanWarning[];
  matches: Matches;
  /** Of the record that the index has so far; absent = all of it. */
  index_share?: number;
}

/** Whether a request needs an index. */
export function needsIndex({ type, q, sort, join }: RecordsQuery): boolean {
  return [type, q, sort, join].some((each) => each !== undefined);
}

/** Reads a query. @param problems collects what is wrong with it */
export function readQuery(q: string | undefined, problems: FieldProblem[]): Query | null {
  if (q === undefined) return null;
  try {
    return parseQuery(q);
  } catch (error) {
    if (!(error instanceof QueryProblem)) throw error;
    problems.push({ field: 'q', reason: error.message });
    return null;
  }
}

/**
 * A page of the records of a scan that satisfy a query, sorted.
 * @param signal the client has gone
 * @throws PortolanError `invalid_request`, `timeout` while an index is being built, of which a page in the order of the
 *   record may not need all, or for a query that takes too long
 */
export async function queryRecords(
  scan: Scan,
  record: ScanRecord,
  query: RecordsQuery,
  indexes: RecordIndexes,
  observer: RecordObserver,
  signal?: AbortSignal,
): Promise<QueriedRecords> {
  const problems: FieldProblem[] = [];
  const { limit, offset, cursor } = readPage(query, problems);
  const parsed = readQuery(query.q, problems);
  const keys = readSort(query, problems);
  if (query.join !== undefined && query.type !== 'vulnerability')
    problems.push({ field: 'join', reason: 'needs type=vulnerability' });
  rejectProblems(problems);
  const list = listDigest(query);
  const start = cursor === undefined ? { offset, after: null } : decode(cursor, list);
  const { partial, warnings } = await stateOf(scan, record, observer);
  const rows = await indexes.request(
    indexes.scan(scan.scan_id, record, scan.status),
    {
      kind: 'rows',
      query: parsed,
      type: query.type,
      keys,
      limit,
      joined: query.join !== undefined,
      ...start,
    },
    signal,
  );
  const { hosts, ports, findings } = rows.matches;
  return {
    records: rows.records,
    total: rows.total,
    limit,
    offset: rows.offset,
    next_cursor: nextCursor(rows, limit, list),
    partial,
    warnings,
    matches: { hosts, ports, findings },
    ...(rows.share !== null && { index_share: rows.share }),
  };
}

function readSort({ sort, type }: RecordsQuery, problems: FieldProblem[]): SortKey[] {
  if (sort === undefined) return [];
  try {
    return parseSort(sort, type);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    problems.push(...(error.details['fields'] as FieldProblem[]));
    return [];
  }
}

async function stateOf(
  scan: Scan,
  record: ScanRecord,
  observer: RecordObserver,
): Promise<{ partial: boolean; warnings: ScanWarning[] }> {
  const results = await openResults(scan, record, observer, 'behind-page');
  await results.close();
  return { partial: results.summary.partial, warnings: results.damage ? [results.damage] : [] };
}

/** A cursor belongs to one list: a type, a query and an order. */
function listDigest({ type = '', q = '', sort = '', join }: RecordsQuery): string {
  return hash('sha256', JSON.stringify([type, q, sort, join]), 'base64url').slice(0, 16);
}

interface CursorPlace {
  offset: number;
  after: { epoch: string; member: Member } | null;
}

/**
 * The last row of the page, so that the next page of a growing record begins behind it, and its place, for an index
 * that was built anew.
 */
function nextCursor(
  { offset, total, epoch, last }: RowsResponse,
  limit: number,
  list: string,
): string | null {
  if (offset + limit >= total || last === null) return null;
  const { table, number } = last;
  return Buffer.from(`rows ${list} ${offset + limit} ${epoch} ${table} ${number}`).toString('base64url');
}

const cursorPattern = /^rows ([\w-]{16}) (\d{1,15}) ([\w-]{1,40}) (host|port|finding|other) (\d{1,10})$/;

function decode(cursor: string, list: string): CursorPlace {
  const found = cursorPattern.exec(Buffer.from(cursor, 'base64url').toString());
  const [, ofList, offset, epoch = '', table, number] = found ?? [];
  if (ofList === list)
    return {
      offset: Number(offset),
      after: { epoch, member: { table: table as Member['table'], number: Number(number) } },
    };
  const reason = 'not a next_cursor of this list';
  throw invalidRequest(`cursor ${reason}`, [{ field: 'cursor', reason }]);
}
