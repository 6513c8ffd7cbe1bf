import type { FieldProblem } from '../../domain/errors.ts';
import type { Scan } from '../../domain/scan.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import { type ListPage, type PageQuery, readPage, rejectProblems } from '../paging/list-page.ts';
import { decodeOffset, encodeOffset } from '../paging/offset-cursor.ts';
import type { RecordIndexes } from '../record-index/record-indexes.ts';
import type { ListedFix } from './listed-fix.ts';
import { readQuery } from './query-records.ts';

export interface FixesQuery extends PageQuery {
  q?: string | undefined;
}

export interface FixPage extends ListPage {
  fixes: ListedFix[];
  /** Of the index of an ended scan that is being built; absent = all of it. */
  index_share?: number;
}

/**
 * What removes the findings that satisfy a query, worst first, as in a report.
 * @throws PortolanError `invalid_request`, `timeout`
 */
export async function listFixes(
  scan: Scan,
  record: ScanRecord,
  query: FixesQuery,
  indexes: RecordIndexes,
  signal?: AbortSignal,
): Promise<FixPage> {
  const problems: FieldProblem[] = [];
  const { limit, offset: first, cursor } = readPage(query, problems);
  const parsed = readQuery(query.q, problems);
  rejectProblems(problems);
  const offset = cursor === undefined ? first : decodeOffset('fix', cursor);
  const { fixes, total, share } = await indexes.request(
    indexes.scan(scan.scan_id, record, scan.status),
    { kind: 'fixes', query: parsed, offset, limit },
    signal,
  );
  const next = offset + limit;
  return {
    fixes,
    total,
    limit,
    offset,
    next_cursor: next < total ? encodeOffset('fix', next) : null,
    ...(share !== undefined && { index_share: share }),
  };
}
