import { type FieldProblem, PortolanError } from '../../domain/errors.ts';
import type { ResultRow } from '../../domain/result.ts';
import type { Scan, ScanWarning } from '../../domain/scan.ts';
import { openResults, type RecordObserver, type Verification } from '../../scan-run/results/open-results.ts';
import { recordPage } from '../../workspace/record/record-page.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import { type ListPage, type PageQuery, readPage, rejectProblems } from '../paging/list-page.ts';
import { decodeOffset, encodeOffset } from '../paging/offset-cursor.ts';

export interface RecordList extends ListPage {
  records: ResultRow[];
  /** The scan is unfinished or incomplete, or its record is damaged. */
  partial: boolean;
  /** The warning about a damaged record. */
  warnings: ScanWarning[];
}

/**
 * A page of the records of a scan: errors, then hosts by address, each followed by its ports and their findings.
 * @param signal the client has gone; the page may then be incomplete
 * @throws PortolanError `invalid_request`, `not_found` for a scan that is deleted meanwhile
 */
export async function listRecords(
  scan: Scan,
  record: ScanRecord,
  query: PageQuery,
  observer: RecordObserver,
  signal?: AbortSignal,
): Promise<RecordList> {
  const problems: FieldProblem[] = [];
  const { limit, offset: first, cursor } = readPage(query, problems);
  rejectProblems(problems);
  const offset = cursor === undefined ? first : decodeOffset('record', cursor);
  const page = (verification: Verification) =>
    pageOf(scan, record, observer, { offset, limit, verification }, signal);
  // Damage in the page itself is found before the whole record is verified.
  return await page('behind-page').catch((error: unknown) => {
    if (error instanceof PortolanError && error.code === 'internal_error') return page('first');
    throw error;
  });
}

async function pageOf(
  scan: Scan,
  record: ScanRecord,
  observer: RecordObserver,
  { offset, limit, verification }: { offset: number; limit: number; verification: Verification },
  signal?: AbortSignal,
): Promise<RecordList> {
  const results = await openResults(scan, record, observer, verification);
  try {
    const { rows, total } = await recordPage(results.view, offset, limit, signal);
    // The records of a finished scan do not change.
    const next = offset + limit;
    const next_cursor = next < total ? encodeOffset('record', next) : null;
    const warnings = results.damage ? [results.damage] : [];
    return { records: rows, total, limit, offset, next_cursor, partial: results.summary.partial, warnings };
  } finally {
    await results.close();
  }
}
