import type { FileHandle } from 'node:fs/promises';

/** Bytes read at once. */
const pieceBytes = 256 * 1024;

/** The bytes of an open file from where it stands; it is closed at the end, however that comes. */
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
