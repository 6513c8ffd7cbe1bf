import type { FileHandle } from 'node:fs/promises';

/** Chunk size, bytes. */
const pieceBytes = 256 * 1024;

/** The bytes of an open file from its current position; always closes it at the end. */
export async function* filePieces(file: FileHandle): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceBytes);
      const { bytesRead } = await file.read(piece, 0, piece.length, null);
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
