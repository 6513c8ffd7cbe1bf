import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { mergeRows } from '../../domain/merge-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { type Block, linesOf, readBlock } from './record-files.ts';
import { completeRow, parseRow } from './row-line.ts';
import { RowOrder, type RowPosition } from './row-order.ts';

/** The latest state of one identity. */
export interface MergedRow {
  row: ResultRow;
  /** Number of its newest row in the growing record. */
  lastRow: number;
}

/** Rows processed before yielding to the event loop. */
const rowsPerTurn = 500;

/**
 * The rows of the given blocks, sorted, each identity once with all its rows merged. Skips damaged lines. Memory: the
 * order of the rows, and one identity at a time.
 * @param onDamage a block does not match its checksum; called before the first row
 */
export async function* mergeRecord(
  file: FileHandle,
  blocks: Iterable<Block>,
  onDamage: () => void = () => undefined,
): AsyncGenerator<MergedRow> {
  const order = await sortRecord(file, blocks, onDamage);
  const reader = new RowReader(file);
  let done = 0;
  for (const places of order.identities()) {
    if (++done % rowsPerTurn === 0) await setImmediate();
    const merged = mergePlaces(reader, places);
    if (merged) yield merged;
  }
}

async function sortRecord(
  file: FileHandle,
  blocks: Iterable<Block>,
  onDamage: () => void,
): Promise<RowOrder> {
  const order = new RowOrder();
  for (const block of blocks) {
    const { bytes, sound } = await readBlock(file, block);
    if (!sound) onDamage();
    let row = block.first_row;
    for (const { start, end } of linesOf(bytes)) {
      const place = { offset: block.offset + start, length: end - start, row: row++ };
      order.add(bytes.subarray(start, end), place, parseBytes, sound);
    }
  }
  return order;
}

function parseBytes(line: Buffer): ResultRow | null {
  return parseRow(line.toString());
}

function mergePlaces(reader: RowReader, places: RowPosition[]): MergedRow | null {
  const merged = mergeRows(rowsAt(reader, places));
  const lastRow = places.at(-1)?.row ?? 0;
  return merged && { row: completeRow(merged), lastRow };
}

function* rowsAt(reader: RowReader, places: readonly RowPosition[]): Generator<ResultRow> {
  for (const place of places) {
    const row = parseRow(reader.read(place));
    if (row !== null) yield row;
  }
}

/** Reads rows from anywhere in the file, synchronously: they were just read and are in the page cache. */
export class RowReader {
  readonly #descriptor: number;
  #buffer = Buffer.allocUnsafe(16 * 1024);

  constructor(file: FileHandle) {
    this.#descriptor = file.fd;
  }

  read(place: Pick<RowPosition, 'offset' | 'length'>): string {
    if (place.length > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(place.length * 2);
    const read = readSync(this.#descriptor, this.#buffer, 0, place.length, place.offset);
    return this.#buffer.toString('utf8', 0, read);
  }
}
