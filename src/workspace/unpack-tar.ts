import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { ReadableStream } from 'node:stream/web';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { fileMode } from './atomic-file.ts';

/** The entries of a tar archive one after the other; each is read or canceled before the next. @throws Error where it is cut off or damaged */
export function tarEntries(archive: AsyncIterable<Uint8Array>): AsyncIterable<ParsedTarEntry> {
  return ReadableStream.from(archive).pipeThrough(createTarDecoder({ strict: true }));
}

/** Writes an entry to a new file. @returns its SHA-256 */
export async function saveEntry({ body }: Pick<ParsedTarEntry, 'body'>, path: string): Promise<string> {
  const hash = createHash('sha256');
  const hashed = async function* (bytes: AsyncIterable<Uint8Array>) {
    for await (const part of bytes) {
      hash.update(part);
      yield part;
    }
  };
  const out = createWriteStream(path, { flags: 'wx', mode: fileMode, flush: true });
  await pipeline(hashed(body as AsyncIterable<Uint8Array>), out);
  return hash.digest('hex');
}
