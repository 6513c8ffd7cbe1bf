import type { FileHandle } from 'node:fs/promises';

const blockBytes = 256 * 1024;

/** A line that ends with a line feed. */
interface LineBackward {
  /** Latin-1: each character is a byte of the file, without the line feed; null for a line that is too long. */
  bytes: string | null;
  /** Offset of its first byte. */
  start: number;
  /** Bytes with the line feed. */
  size: number;
}

/**
 * The lines of the first bytes of a file, the last one first, in constant memory. What follows the last line feed is left
 * out: somebody may be writing it.
 *
 * @param to bytes of the file that count @param longest bytes of a line
 */
export async function* linesBackward(
  file: FileHandle,
  to: number,
  longest: number,
): AsyncGenerator<LineBackward> {
  const block = Buffer.alloc(blockBytes);
  /** What is known of the line that is looked for, from its end; null before the first line feed. */
  let known: string | null = null;
  /** Offset behind that line. */
  let lineEnd = 0;
  for (let end = to; end > 0; ) {
    const begin = Math.max(0, end - blockBytes);
    const { bytesRead } = await file.read(block, 0, end - begin, begin);
    // The file has become shorter meanwhile.
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
    // One character more than fits tells that the line is too long, however long it is.
    if (known !== null) known = (text.slice(0, stop) + known).slice(-longest - 1);
    end = begin;
  }
  if (known !== null) yield lineOf(known, 0, lineEnd, longest);
}

function lineOf(bytes: string, start: number, end: number, longest: number): LineBackward {
  return { bytes: bytes.length > longest ? null : bytes, start, size: end - start };
}
