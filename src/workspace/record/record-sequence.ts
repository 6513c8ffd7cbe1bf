import type { FileHandle } from 'node:fs/promises';
import { isNoPlainFile, openIfThere } from '../plain-file.ts';
import { readBytes } from './record-files.ts';

/**
 * `results.sequence`: which row of the finished record contains a row of the growing record. Readers that followed
 * the growing record by row number can continue from any number without a gap: an identity keeps the number of its
 * newest row.
 * Entries of 16 bytes in ascending order of the number, little-endian: number (uint32), length of the line in bytes
 * (uint32), its offset (float64).
 */
export interface SequenceEntry {
  sequence: number;
  offset: number;
  length: number;
}

const entryBytes = 16;

/** Collects the entries in any order. Memory: 12 bytes per row of the growing record. */
export class SequenceTable {
  readonly #offsets: Float64Array;
  readonly #lengths: Uint32Array;

  constructor(rows: number) {
    this.#offsets = new Float64Array(rows + 1);
    this.#lengths = new Uint32Array(rows + 1);
  }

  set(entry: SequenceEntry): void {
    this.#offsets[entry.sequence] = entry.offset;
    this.#lengths[entry.sequence] = entry.length;
  }

  toBytes(): Buffer {
    const bytes = Buffer.alloc(
      this.#lengths.reduce((entries, length) => entries + (length > 0 ? 1 : 0), 0) * entryBytes,
    );
    let at = 0;
    for (const [sequence, length] of this.#lengths.entries()) {
      if (length === 0) continue;
      bytes.writeUInt32LE(sequence, at);
      bytes.writeUInt32LE(length, at + 4);
      bytes.writeDoubleLE(this.#offsets[sequence] as number, at + 8);
      at += entryBytes;
    }
    return bytes;
  }
}

/** Number of the last entry; 0 without any. */
export async function lastSequence(path: string): Promise<number> {
  const file = await openIfThere(path).catch(nullIfNoFile);
  if (file === null) return 0;
  try {
    const total = Math.floor((await file.stat()).size / entryBytes);
    return total === 0 ? 0 : (await readBytes(file, (total - 1) * entryBytes, 4)).readUInt32LE(0);
  } finally {
    await file.close();
  }
}

/** Entries with a number above `after`, ascending, at most `limit`, and whether more follow. Null without the file. */
export async function readSequence(
  path: string,
  after: number,
  limit: number,
): Promise<{ entries: SequenceEntry[]; more: boolean } | null> {
  const file = await openIfThere(path).catch(nullIfNoFile);
  if (file === null) return null;
  try {
    const total = Math.floor((await file.stat()).size / entryBytes);
    const first = await firstAbove(file, total, after);
    const bytes = await readBytes(file, first * entryBytes, Math.min(limit, total - first) * entryBytes);
    return { entries: parseEntries(bytes), more: first + limit < total };
  } finally {
    await file.close();
  }
}

/** Entries of the file; 0 without it. */
export async function sequenceLength(path: string): Promise<number> {
  const file = await openIfThere(path).catch(nullIfNoFile);
  if (file === null) return 0;
  try {
    return Math.floor((await file.stat()).size / entryBytes);
  } finally {
    await file.close();
  }
}

/** Binary search: index of the first entry with a number above `after`. */
async function firstAbove(file: FileHandle, total: number, after: number): Promise<number> {
  let low = 0;
  let high = total;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const sequence = (await readBytes(file, middle * entryBytes, 4)).readUInt32LE(0);
    if (sequence > after) high = middle;
    else low = middle + 1;
  }
  return low;
}

function parseEntries(bytes: Buffer): SequenceEntry[] {
  const entries: SequenceEntry[] = [];
  for (let at = 0; at + entryBytes <= bytes.length; at += entryBytes) {
    entries.push({
      sequence: bytes.readUInt32LE(at),
      length: bytes.readUInt32LE(at + 4),
      offset: bytes.readDoubleLE(at + 8),
    });
  }
  return entries;
}

function nullIfNoFile(error: unknown): null {
  if (isNoPlainFile(error)) return null;
  throw error;
}
