import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 256 * 1024;

export interface TextLine {
  /** Latin-1: each character is a byte of the file. Without its line feed, truncated to the maximum length. */
  bytes: string;
  /** False for a last line without line feed. */
  ended: boolean;
  /** Offset after the line, bytes. */
  end: number;
}

/** The lines of a part of a file, in constant memory. */
export async function* textLinesOf(
  file: FileHandle,
  { from = 0, to, longest }: { from?: number; to: number; longest: number },
): AsyncGenerator<TextLine> {
  const chunk = Buffer.alloc(chunkBytes);
  let rest = '';
  let at = from;
  while (at < to) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunkBytes, to - at), at);
    if (bytesRead === 0) break;
    const text = chunk.toString('latin1', 0, bytesRead);
    let begin = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', begin)) {
      yield { bytes: (rest + text.slice(begin, end)).slice(0, longest), ended: true, end: at + end + 1 };
      rest = '';
      begin = end + 1;
    }
    rest = (rest + text.slice(begin)).slice(0, longest + 1);
    at += bytesRead;
  }
  if (rest !== '') yield { bytes: rest.slice(0, longest), ended: false, end: at };
}
