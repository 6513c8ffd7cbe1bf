import type { ResultRow } from '../domain/result.ts';
import { isFinished, type OpenRecord, openRecordFile } from './open-record.ts';
import {
  type Block,
  blockEnd,
  blockLastRow,
  linesOf,
  type RecordFiles,
  readBlock,
  readIndex,
  recordFiles,
} from './record-files.ts';
import { type Member, readMember } from './record-members.ts';
import { mergedRows } from './record-reader.ts';
import { completeRow, parseRow } from './row-line.ts';
import type { ScanFolder } from './scan-folder.ts';

export interface RecordPage {
  /** With every field that its kind has. */
  rows: ResultRow[];
  /** Rows of the whole record, without the summary. */
  total: number;
}

/**
 * A page of a record in the order of mergedRows. Of a finished record only the blocks that hold the page are read; a
 * growing one has no order yet and is merged from its start.
 *
 * @param signal nobody wants the page any more; what comes then is not all of it
 */
export async function recordPage(
  folder: ScanFolder,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<RecordPage> {
  const files = recordFiles(folder.path);
  const record = await openRecordFile(files);
  if (record === null) return { rows: [], total: 0 };
  try {
    const blocks = isFinished(record) ? await blocksOf(files, record) : [];
    if (blocks.length > 0) return await pageOfBlocks(record, blocks, offset, limit);
  } finally {
    await record.file.close();
  }
  return await pageOfAll(folder, offset, limit, signal);
}

/** None when the index does not describe the file: it may be stale after a crash. */
async function blocksOf(files: RecordFiles, { file, members }: OpenRecord): Promise<readonly Block[]> {
  if (members !== null) return members;
  const blocks = await readIndex(files.index);
  return blockEnd(blocks.at(-1)) === (await file.stat()).size ? blocks : [];
}

async function pageOfBlocks(
  record: OpenRecord,
  blocks: readonly Block[],
  offset: number,
  limit: number,
): Promise<RecordPage> {
  // The last row is the summary.
  const total = blockLastRow(blocks.at(-1)) - 1;
  const rows: ResultRow[] = [];
  const last = Math.min(offset + limit, total);
  for (let at = blockOf(blocks, offset + 1); at < blocks.length; at++) {
    const block = blocks[at] as Block;
    if (block.first_row > last) break;
    rows.push(...rowsWithin(await bytesOf(record, block), block.first_row, offset, last));
  }
  return { rows, total };
}

/** Binary search: index of the block that holds a row. */
function blockOf(blocks: readonly Block[], row: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (blockLastRow(blocks[middle]) >= row) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Empty for a damaged block: its rows are left out. */
async function bytesOf({ file, members }: OpenRecord, block: Block): Promise<Buffer> {
  if (members !== null) return (await readMember(file, block as Member)) ?? Buffer.alloc(0);
  const { bytes, sound } = await readBlock(file, block);
  return sound ? bytes : Buffer.alloc(0);
}

/** Rows with a number above `after`, up to `last`. */
function rowsWithin(bytes: Buffer, firstRow: number, after: number, last: number): ResultRow[] {
  const rows: ResultRow[] = [];
  let number = firstRow - 1;
  for (const { start, end } of linesOf(bytes)) {
    number += 1;
    if (number > last) break;
    if (number <= after) continue;
    const row = parseRow(bytes.toString('utf8', start, end));
    if (row !== null) rows.push(completeRow(row));
  }
  return rows;
}

async function pageOfAll(
  folder: ScanFolder,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<RecordPage> {
  const rows: ResultRow[] = [];
  let total = 0;
  for await (const row of mergedRows(folder)) {
    if (signal?.aborted) break;
    if (total >= offset && rows.length < limit) rows.push(completeRow(row));
    total += 1;
  }
  return { rows, total };
}
