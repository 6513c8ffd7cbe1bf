import { invalidRequest } from '../domain/errors.ts';
import type { ResultRow } from '../domain/result.ts';
import { recordPage } from '../workspace/record-page.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import { defaultLimit, maxLimit } from './list-scans.ts';

export interface RecordList {
  records: ResultRow[];
  total: number;
  limit: number;
  offset: number;
  next_cursor: string | null;
}

export interface RecordQuery {
  limit?: number | undefined;
  offset?: number | undefined;
  cursor?: string | undefined;
}

/**
 * A page of the records of a scan: errors, then hosts by address, each followed by its ports and their findings.
 * @param signal nobody wants the page any more; what comes then is not all of it
 * @throws PortolanError `invalid_request`
 */
export async function listRecords(
  folder: ScanFolder,
  query: RecordQuery,
  signal?: AbortSignal,
): Promise<RecordList> {
  if (query.cursor !== undefined && query.offset !== undefined) {
    throw refusal('cannot be used together with offset');
  }
  const limit = Math.min(query.limit ?? defaultLimit, maxLimit);
  const offset = query.cursor === undefined ? (query.offset ?? 0) : decode(query.cursor);
  const { rows, total } = await recordPage(folder, offset, limit, signal);
  const next = offset + limit;
  return { records: rows, total, limit, offset, next_cursor: next < total ? encode(next) : null };
}

/** The records of a finished scan do not change, so a place is its number. */
function encode(offset: number): string {
  return Buffer.from(`record ${offset}`).toString('base64url');
}

function decode(cursor: string): number {
  const offset = /^record (\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (offset === undefined || encode(Number(offset)) !== cursor) {
    throw refusal('not a next_cursor of this list');
  }
  return Number(offset);
}

function refusal(reason: string) {
  return invalidRequest(`cursor ${reason}`, [{ field: 'cursor', reason }]);
}
