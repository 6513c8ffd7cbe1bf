import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

/** Maximum size of the rows of a block, bytes: 1 MiB plus one row. */
const maxBlockBytes = 8 * 1024 * 1024;

/**
 * Memory for the rows of a block, bytes. With chunks of the usual 16 KiB, each a task of a thread, the rows of a full block take
 * ten times as long as in one.
 */
const rowMemory = { small: 64 * 1024, full: 1024 * 1024 + 64 * 1024 };
/** Compressed rows that fill no more than the small memory, mostly, bytes. */
const smallBlockBytes = 4 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Rows repeat each other so much that higher levels take half as long again and save nothing. */
const compressionLevel = 1;

/** The form in which rows of a shard are stored. @param lines JSON Lines */
export async function blockBytes(lines: Buffer): Promise<Buffer> {
  const params = { [constants.ZSTD_c_compressionLevel]: compressionLevel };
  return await compress(lines, { chunkSize: rowMemory.small, params });
}

/** The JSON Lines of a block. @throws an error for bytes that are no block, or too large a one */
export async function blockLines(bytes: Buffer): Promise<Buffer> {
  const chunkSize = bytes.length > smallBlockBytes ? rowMemory.full : rowMemory.small;
  return await decompress(bytes, { maxOutputLength: maxBlockBytes, chunkSize });
}
