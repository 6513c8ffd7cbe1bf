import { openPlain } from '../plain-file.ts';
import { isCurrent, isFinished, type OpenRecord, openRecordFile } from './open-record.ts';
import {
  type Block,
  blockLastRow,
  linesOf,
  parseIndex,
  type RecordFiles,
  readBlock,
  readBytes,
  recordFiles,
} from './record-files.ts';
import { type GzipMember, linesAt } from './record-members.ts';
import { RowReader } from './record-merge.ts';
import { lastSequence, readSequence, type SequenceEntry } from './record-sequence.ts';
import type { NumberedLine } from './scan-record.ts';

/** Maximum rows per call of tailRecord. */
const tailRows = 1000;

/**
 * The same for a compressed record, in rows and bytes: they may be anywhere, and a member is decompressed for all of
 * its rows together.
 */
const compressedTailRows = 20_000;
const compressedTailBytes = 4 * 1024 * 1024;

/** @see ScanRecord.rowsAfter */
export async function tailRecord(
  path: string,
  fromRow: number,
): Promise<{ rows: NumberedLine[]; finished: boolean }> {
  const files = recordFiles(path);
  for (;;) {
    const record = await openRecordFile(files);
    if (record === null) return { rows: [], finished: false };
    try {
      if (isFinished(record)) return await finishedTail(files, record, fromRow);
      const blocks = await readIndexAfter(files.index, fromRow);
      if (await isCurrent(files, record)) return await growingTail(record, blocks, fromRow);
      // Finished or deleted between the two reads: retry.
    } finally {
      await record.file.close();
    }
  }
}

/** Number of the last row that `tailRecord` returns; 0 without any. */
export async function lastRowOf(path: string): Promise<number> {
  const files = recordFiles(path);
  for (;;) {
    const record = await openRecordFile(files);
    if (record === null) return 0;
    try {
      if (isFinished(record)) return await lastSequence(files.sequence);
      const blocks = await readIndexAfter(files.index, Number.MAX_SAFE_INTEGER);
      if (await isCurrent(files, record)) return blockLastRow(blocks.at(-1));
    } finally {
      await record.file.close();
    }
  }
}

async function growingTail(
  record: OpenRecord,
  blocks: readonly Block[],
  fromRow: number,
): Promise<{ rows: NumberedLine[]; finished: boolean }> {
  const rows: NumberedLine[] = [];
  for (const block of blocks) {
    if (blockLastRow(block) <= fromRow) continue;
    const { bytes, sound } = await readBlock(record.file, block);
    // The end of a record whose scan was killed, and which was not recovered yet.
    if (!sound) break;
    let sequence = block.first_row - 1;
    for (const { start, end } of linesOf(bytes)) {
      sequence += 1;
      if (sequence > fromRow) rows.push({ sequence, line: bytes.toString('utf8', start, end) });
      if (rows.length === tailRows) return { rows, finished: false };
    }
  }
  return { rows, finished: false };
}

async function finishedTail(
  files: RecordFiles,
  record: OpenRecord,
  fromRow: number,
): Promise<{ rows: NumberedLine[]; finished: boolean }> {
  if (record.members !== null) return await compressedTail(files, record, record.members, fromRow);
  const found = await readSequence(files.sequence, fromRow, tailRows);
  const reader = new RowReader(record.file);
  const rows = (found?.entries ?? []).map((entry) => ({
    sequence: entry.sequence,
    line: reader.read(entry),
  }));
  return { rows, finished: !found?.more };
}

async function compressedTail(
  files: RecordFiles,
  { file }: OpenRecord,
  members: readonly GzipMember[],
  fromRow: number,
): Promise<{ rows: NumberedLine[]; finished: boolean }> {
  for (let after = fromRow; ; ) {
    const found = await readSequence(files.sequence, after, compressedTailRows);
    if (found === null || found.entries.length === 0) return { rows: [], finished: true };
    const entries = upToBytes(found.entries, compressedTailBytes);
    const rows = (await linesAt(file, members, entries)).map(({ place, line }) => ({
      sequence: place.sequence,
      line,
    }));
    after = entries.at(-1)?.sequence ?? after;
    const finished = !found.more && entries.length === found.entries.length;
    // Only damaged rows: an empty result would mean the end.
    if (rows.length > 0 || finished) return { rows, finished };
  }
}

/** The first entries up to a size limit, at least one. */
function upToBytes(entries: SequenceEntry[], bytes: number): SequenceEntry[] {
  let sum = 0;
  const end = entries.findIndex(({ length }) => (sum += length) > bytes);
  return end < 0 ? entries : entries.slice(0, Math.max(1, end));
}

/** Bytes read first from the end of the index: some 700 blocks, far more than a follower lags. */
const indexWindow = 64 * 1024;

/** The blocks from the one after `fromRow` on, reading the index from its end. */
async function readIndexAfter(path: string, fromRow: number): Promise<Block[]> {
  const file = await openPlain(path).catch(() => null);
  if (file === null) return [];
  try {
    const { size } = await file.stat();
    for (let window = indexWindow; ; window *= 8) {
      const start = Math.max(0, size - window);
      const text = (await readBytes(file, start, size - start)).toString('latin1');
      const blocks = parseIndex(start === 0 ? text : text.slice(text.indexOf('\n') + 1));
      if (start === 0 || (blocks[0] && blocks[0].first_row <= fromRow + 1)) return blocks;
    }
  } finally {
    await file.close();
  }
}
