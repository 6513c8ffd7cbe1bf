import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { formatByteSize } from '../../../domain/text/byte-size.ts';

/**
 * Why a whole feed is rejected: it is broken (or cut off, or too large), of unknown form, or none of its records is
 * valid.
 */
export class FeedProblem extends Error {
  readonly kind: 'broken' | 'unknown' | 'refused';

  constructor(reason: string, kind: FeedProblem['kind'] = 'broken') {
    super(reason);
    this.name = 'FeedProblem';
    this.kind = kind;
  }
}

/** Maximum size of one feed after unpacking, bytes; all of NVD is about 2 GiB. */
export const maxFeedBytes = 4 * 1024 * 1024 * 1024;

const gzipMagic = [0x1f, 0x8b];

/**
 * The plain bytes of a feed; unpacks data that begins as gzip does.
 *
 * @throws FeedProblem at the cap, and where the compressed data is broken or cut off
 */
export async function* feedBytes(
  source: AsyncIterable<Uint8Array>,
  most: number = maxFeedBytes,
): AsyncGenerator<Buffer> {
  const [first, rest] = await takeFirst(source);
  const packed = gzipMagic.every((byte, index) => first[index] === byte);
  let size = 0;
  for await (const chunk of packed ? unpack(rest) : rest) {
    size += chunk.length;
    if (size > most) {
      throw new FeedProblem(`is larger than ${formatByteSize(most)}${packed ? ' when decompressed' : ''}`);
    }
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  }
}

export function fileBytes(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: 256 * 1024 });
}

/** The first bytes available, and a stream that includes them. */
async function takeFirst(
  source: AsyncIterable<Uint8Array>,
): Promise<[Uint8Array, AsyncIterable<Uint8Array>]> {
  const iterator = source[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < gzipMagic.length) {
    const next = await iterator.next();
    if (next.done) break;
    head.push(next.value);
    length += next.value.length;
  }
  async function* everything() {
    try {
      yield* head;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return [Buffer.concat(head).subarray(0, gzipMagic.length), everything()];
}

async function* unpack(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip: Gunzip = createGunzip({ chunkSize: 256 * 1024 });
  const input = Readable.from(source, { objectMode: false });
  input.on('error', (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw error;
    throw new FeedProblem(code === 'Z_BUF_ERROR' ? 'is truncated' : 'is damaged gzip data');
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}
