import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isMissing } from '../atomic-file.ts';
import { isNoPlainFile, readPlainText } from '../plain-file.ts';

/**
 * The files of a record.
 *
 * While the scan runs, `results.jsonl` grows by sealed blocks, and `results.index` gets a line per block once the
 * block is durable, or written where another copy is (see `RecordOptions`). Readers ignore bytes after the last indexed block.
 *
 * A finished record is a new `results.jsonl`, renamed over the old one: one row per identity, sorted, with the
 * summary as its last line, which marks it as finished. `results.index` then describes the new file (it is stale
 * until it is renamed too, so readers of a finished record do not need it), and `results.sequence` maps the rows of
 * the growing record, see record-sequence.ts.
 *
 * A finished record may then be compressed: `results.jsonl.gz` with its index `results.members` replaces
 * `results.jsonl` and `results.index`, see record-members.ts. While both exist, the plain one counts.
 */
export function recordFiles(folder: string) {
  return {
    data: join(folder, 'results.jsonl'),
    index: join(folder, 'results.index'),
    sequence: join(folder, 'results.sequence'),
    compressed: join(folder, 'results.jsonl.gz'),
    members: join(folder, 'results.members'),
    newData: join(folder, 'results.jsonl.new'),
    newIndex: join(folder, 'results.index.new'),
    newSequence: join(folder, 'results.sequence.new'),
    newCompressed: join(folder, 'results.jsonl.gz.new'),
    newMembers: join(folder, 'results.members.new'),
  };
}

export type RecordFiles = ReturnType<typeof recordFiles>;

/** One line of the index: a run of complete rows of the data file. */
export interface Block {
  /** Bytes. */
  offset: number;
  length: number;
  /** Number of its first row; rows start at 1. */
  first_row: number;
  rows: number;
  /** CRC-32 of its bytes. */
  crc32: number;
  /** Written without waiting for the disk: a crash of the machine may tear it, and not only at the end of the file. */
  unsynced?: true;
}

export const newLine = 0x0a;

export function blockEnd(block: Block | undefined): number {
  return block ? block.offset + block.length : 0;
}

/** Number of the last row of a block; 0 without a block. */
export function blockLastRow(block: Block | undefined): number {
  return block ? block.first_row + block.rows - 1 : 0;
}

export function indexLine(block: Block): string {
  const { offset, length, first_row, rows, crc32, unsynced } = block;
  return `${JSON.stringify({ offset, length, first_row, rows, crc32, unsynced })}\n`;
}

/** The blocks of an index text, up to the first line that is torn, damaged or out of sequence. */
export function parseIndex(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  // After the last line break there is a torn line or nothing.
  for (const line of lines.slice(0, -1)) {
    const block = parseBlock(line);
    if (block === null || !follows(block, blocks.at(-1))) break;
    blocks.push(block);
  }
  return blocks;
}

function follows(block: Block, before: Block | undefined): boolean {
  if (before === undefined) return true;
  return block.offset === blockEnd(before) && block.first_row === blockLastRow(before) + 1;
}

function parseBlock(line: string): Block | null {
  try {
    const block = JSON.parse(line) as Block;
    const numbers = [block.offset, block.length, block.first_row, block.rows, block.crc32];
    return numbers.every((number) => Number.isSafeInteger(number) && number >= 0) ? block : null;
  } catch {
    return null;
  }
}

/** All blocks of an index file; none if it is missing. */
export async function readIndex(path: string): Promise<Block[]> {
  const blocks = parseIndex((await readIfThere(path)) ?? '');
  return blocks[0] && (blocks[0].offset !== 0 || blocks[0].first_row !== 1) ? [] : blocks;
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readPlainText(path);
  } catch (error) {
    if (isMissing(error) || isNoPlainFile(error)) return null;
    throw error;
  }
}

/**
 * Bytes of a file from an offset; fewer at its end.
 * @param bytes memory for them, at least as long
 */
export async function readBytes(
  file: FileHandle,
  offset: number,
  length: number,
  bytes: Buffer = Buffer.allocUnsafe(length),
): Promise<Buffer> {
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(bytes, read, length - read, offset + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}

/** Memory for one block after another: memory for each of its own would grow to a multiple before it is collected. */
export class BlockMemory {
  #bytes: Buffer = Buffer.of();

  /** Not before the block before is done with. */
  for({ length }: Pick<Block, 'length'>): Buffer {
    if (this.#bytes.length < length) this.#bytes = Buffer.allocUnsafeSlow(length);
    return this.#bytes;
  }
}

/**
 * The bytes of a block, and whether they match their checksum.
 * @param memory for them, at least as long
 */
export async function readBlock(
  file: FileHandle,
  block: Block,
  memory?: Buffer,
): Promise<{ bytes: Buffer; sound: boolean }> {
  const bytes = await readBytes(file, block.offset, block.length, memory);
  return { bytes, sound: bytes.length === block.length && crc32(bytes) === block.crc32 };
}

/** The complete lines as [start, end) without their line breaks. */
export function* linesOf(bytes: Buffer): Generator<{ start: number; end: number }> {
  let start = 0;
  for (let end = bytes.indexOf(newLine); end >= 0; end = bytes.indexOf(newLine, start)) {
    yield { start, end };
    start = end + 1;
  }
}

/** A summary has a few hundred bytes; a longer last line is not one. */
const summaryLimit = 64 * 1024;

/** The summary line that ends a finished record, or null. */
export async function readSummaryLine(file: FileHandle): Promise<string | null> {
  const { size } = await file.stat();
  const start = Math.max(0, size - summaryLimit);
  const tail = await readBytes(file, start, size - start);
  if (tail.at(-1) !== newLine) return null;
  const lastBreak = tail.lastIndexOf(newLine, tail.length - 2);
  if (lastBreak < 0 && start > 0) return null;
  const line = tail.toString('utf8', lastBreak + 1, tail.length - 1);
  return line.startsWith('{"type":"summary",') ? line : null;
}

/** Chunk size for a finished record, bytes. */
const readSize = 256 * 1024;

/** The file from its start in chunks of complete lines; skips a torn last line. */
export async function* wholeLines(file: FileHandle): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for (let offset = 0; ; ) {
    // A line longer than the chunk: double the size, so that copying stays linear.
    const piece = await readBytes(file, offset, Math.max(readSize, rest.length));
    if (piece.length === 0) return;
    offset += piece.length;
    const end = piece.lastIndexOf(newLine) + 1;
    if (end === 0) {
      rest = Buffer.concat([rest, piece]);
      continue;
    }
    yield Buffer.concat([rest, piece.subarray(0, end)]);
    rest = Buffer.from(piece.subarray(end));
  }
}
