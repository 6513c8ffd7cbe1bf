import type { FileHandle } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { crc32, createGunzip, gunzip } from 'node:zlib';
import { type Block, blockEnd, newLine, readBytes, readIndex } from './record-files.ts';

const unpack = promisify(gunzip);

/**
 * `results.jsonl.gz`: the finished record as one gzip member (RFC 1952) per block: any row can be read within a few
 * milliseconds, and every tool can read the whole. The summary line is a separate member. `results.members` has one
 * line per member.
 */
export interface GzipMember extends Block {
  /** Offset of the member in the compressed file, bytes. Offset and length of the block refer to the plain text. */
  at: number;
  size: number;
}

export function memberLine({ offset, length, first_row, rows, crc32, at, size }: GzipMember): string {
  return `${JSON.stringify({ offset, length, first_row, rows, crc32, at, size })}\n`;
}

/** The members of a compressed file; none if their index is missing or does not match the file. */
export async function readMembers(path: string, file: FileHandle): Promise<GzipMember[]> {
  const members = (await readIndex(path)) as GzipMember[];
  const { size } = await file.stat();
  let end = 0;
  for (const member of members) {
    if (member.at !== end || !Number.isSafeInteger(member.size) || member.size <= 0) return [];
    end += member.size;
  }
  return end === size ? members : [];
}

/** The decompressed bytes of a member, or null if it is damaged. */
export async function readMember(file: FileHandle, member: GzipMember): Promise<Buffer | null> {
  const packed = await readBytes(file, member.at, member.size);
  // A damaged member must not exhaust the memory either.
  const bytes = await unpack(packed, { maxOutputLength: Math.max(1, member.length) }).catch(() => null);
  return bytes !== null && bytes.length === member.length && crc32(bytes) === member.crc32 ? bytes : null;
}

/**
 * The whole text in chunks of complete lines. Skips damaged members; without members, everything before the first
 * damage.
 */
export async function* unpackedPieces(
  file: FileHandle,
  members: readonly GzipMember[],
): AsyncGenerator<Buffer> {
  if (members.length === 0) return yield* unpackedStream(file, false);
  for (const member of members) {
    const bytes = await readMember(file, member);
    if (bytes !== null) yield bytes;
  }
}

/** @param strict damage is an error instead of the end */
export async function* unpackedStream(file: FileHandle, strict: boolean): AsyncGenerator<Buffer> {
  const plain = createGunzip();
  // Errors are thrown to the reader of the last stream.
  pipeline(Readable.from(packedPieces(file)), plain, () => undefined);
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      const end = chunk.lastIndexOf(newLine) + 1;
      if (end === 0) {
        rest = Buffer.concat([rest, chunk]);
        continue;
      }
      yield Buffer.concat([rest, chunk.subarray(0, end)]);
      rest = Buffer.from(chunk.subarray(end));
    }
  } catch (error) {
    if (strict || !isDamage(error)) throw error;
  }
}

/** Chunk size, bytes. */
const readSize = 64 * 1024;

async function* packedPieces(file: FileHandle): AsyncGenerator<Buffer> {
  for (let offset = 0; ; ) {
    const piece = await readBytes(file, offset, readSize);
    if (piece.length === 0) return;
    offset += piece.length;
    yield piece;
  }
}

/** Errors of zlib for invalid data, as opposed to a disk that cannot be read. */
function isDamage(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith('Z_');
}

/** The last line of the text without its line break; null if unreadable. */
export async function lastLine(file: FileHandle, members: readonly GzipMember[]): Promise<string | null> {
  const last = members.at(-1);
  if (last) return lineAtEnd(await readMember(file, last));
  let piece: Buffer | null = null;
  for await (const bytes of unpackedStream(file, false)) piece = bytes;
  return lineAtEnd(piece);
}

function lineAtEnd(bytes: Buffer | null): string | null {
  if (bytes === null || bytes.at(-1) !== newLine) return null;
  return bytes.toString('utf8', bytes.lastIndexOf(newLine, bytes.length - 2) + 1, bytes.length - 1);
}

/**
 * The lines at offsets of the plain text, in the given order. Every member is decompressed once, whatever the order.
 * Skips lines in a damaged member, or outside of all.
 */
export async function linesAt<P extends { offset: number; length: number }>(
  file: FileHandle,
  members: readonly GzipMember[],
  places: readonly P[],
): Promise<{ place: P; line: string }[]> {
  const byMember = Map.groupBy(places, ({ offset }) => memberOf(members, offset));
  const lines = new Map<P, string>();
  for (const [member, within] of byMember) {
    const bytes = member && (await readMember(file, member));
    if (!bytes) continue;
    for (const place of within) {
      const start = place.offset - member.offset;
      lines.set(place, bytes.toString('utf8', start, start + place.length));
    }
  }
  return places.flatMap((place) => {
    const line = lines.get(place);
    return line === undefined ? [] : [{ place, line }];
  });
}

/** Binary search: the member at an offset of the plain text. */
function memberOf(members: readonly GzipMember[], offset: number): GzipMember | undefined {
  let low = 0;
  let high = members.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (blockEnd(members[middle]) > offset) high = middle;
    else low = middle + 1;
  }
  return members[low];
}
