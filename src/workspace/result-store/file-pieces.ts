import type { FileHandle } from 'node:fs/promises';

/** Size of the first piece, bytes: most files of a scan are smaller. */
const firstBytes = 16 * 1024;
/** Size of further pieces, bytes. */
const pieceBytes = 256 * 1024;

/** The bytes of an open regular file from its current position; always closes it at the end. */
export async function* filePieces(file: FileHandle): AsyncGenerator<Uint8Array> {
  try {
    for (let size = firstBytes; ; size = pieceBytes) {
      const piece = Buffer.allocUnsafe(size);
      const { bytesRead } = await file.read(piece, 0, size, null);
      if (bytesRead > 0) yield piece.subarray(0, bytesRead);
      // Only the end of a regular file makes a read short, see read(2).
      if (bytesRead < size) return;
    }
  } finally {
    await file.close();
  }
}
