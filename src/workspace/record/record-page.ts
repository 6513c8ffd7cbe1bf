import type { ResultRow } from '../../domain/result.ts';
import { completeRow } from './row-line.ts';
import type { RecordView } from './scan-record.ts';

export interface RecordPage {
  /** With every field of its kind. */
  rows: ResultRow[];
  /** Rows of the whole record, without the summary. */
  total: number;
}

/**
 * A page of a record in row order. Reads only the blocks of the page if the record is finished; a growing record has
 * no order yet and is merged from its start.
 * @param signal aborted when the client disconnects; the page may then be incomplete
 */
export async function recordPage(
  view: RecordView,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<RecordPage> {
  const { total } = view;
  const rows = total === null ? null : await view.page(offset, Math.min(offset + limit, total));
  if (rows === null || total === null) return await pageOfAll(view, offset, limit, signal);
  return { rows: rows.map((row) => completeRow(row)), total };
}

async function pageOfAll(
  view: RecordView,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<RecordPage> {
  const rows: ResultRow[] = [];
  let total = 0;
  for await (const row of view.rows()) {
    if (signal?.aborted) break;
    if (total >= offset && rows.length < limit) rows.push(completeRow(row));
    total += 1;
  }
  return { rows, total };
}
