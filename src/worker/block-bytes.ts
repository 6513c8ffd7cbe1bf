import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';

/** Maximum size of the rows of a block, bytes: 1 MiB plus one row. */
const maxBlockBytes = 8 * 1024 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The form in which rows of a shard are stored. @param lines JSON Lines */
export async function blockBytes(lines: Buffer): Promise<Buffer> {
  return await compress(lines);
}

/** The JSON Lines of a block. @throws an error for bytes that are no block, or too large a one */
export async function blockLines(bytes: Buffer): Promise<Buffer> {
  return await decompress(bytes, { maxOutputLength: maxBlockBytes });
}
