import type { FileHandle } from 'node:fs/promises';

const blockBytes = 256 * 1024;

/** A line that ends with a line feed. */
interface LineBackward {
  /** Latin-1: each character is a byte of the file, without the line feed; null if the line is too long. */
  bytes: string | null;
  /** Offset of its first byte. */
  start: number;
  /** Length in bytes, including the line feed. */
  size: number;
}

/**
 * The lines of the first bytes of a file, last one first, in constant memory. Skips text after the last line feed: a
 * write may be in progress.
 *
 * @param to end of the range, bytes @param longest maximum line length, bytes
 */
export async function* linesBackward(
  file: FileHandle,
  to: number,
  longest: number,
): AsyncGenerator<LineBackward> {
  const block = Buffer.alloc(blockBytes);
  /** Known part of the current line, from its end; null before the first line feed. */
  let known: string | null = null;
  /** Offset after that line. */
  let lineEnd = 0;
  for (let end = to; end > 0; ) {
    const begin = Math.max(0, end - blockBytes);
    const { bytesRead } = await file.read(block, 0, end - begin, begin);
    // The file was truncated meanwhile.
    if (bytesRead < end - begin) return;
    const text = block.toString('latin1', 0, bytesRead);
    let stop = text.length;
    for (let at = text.lastIndexOf('\n'); at >= 0; at = stop === 0 ? -1 : text.lastIndexOf('\n', stop - 1)) {
      const start = begin + at + 1;
      if (known !== null) yield lineOf(text.slice(at + 1, stop) + known, start, lineEnd, longest);
      known = '';
      lineEnd = start;
      stop = at;
    }
    // One character beyond the limit marks the line as too long, whatever its length.
    if (known !== null) known = (text.slice(0, stop) + known).slice(-longest - 1);
    end = begin;
  }
  if (known !== null) yield lineOf(known, 0, lineEnd, longest);
}

function lineOf(bytes: string, start: number, end: number, longest: number): LineBackward {
  return { bytes: bytes.length > longest ? null : bytes, start, size: end - start };
}
