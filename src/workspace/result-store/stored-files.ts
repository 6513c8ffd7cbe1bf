import { createHash } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { isMissing } from '../atomic-file.ts';
import { drafts } from '../leftovers.ts';
import { filePieces } from './file-pieces.ts';
import { isStoredName, maxStoredFiles, type StoredFile } from './manifest.ts';
import type { ObjectContent } from './object-store.ts';

/** Not part of a finished scan, besides drafts: its resume count, and uploads of its workers. */
const passing = new Set(['checkpoint.resumes.json', 'shards']);
/** Files up to this size are read once, as long as they are no more than 1 MiB together, bytes. */
const smallBytes = 64 * 1024;
const smallTogether = 1024 * 1024;

/** A file to store. */
export interface FoundFile {
  file: StoredFile;
  content: ObjectContent;
}

/**
 * The files in the folder of a finished scan, with their hashes. Skips links and special files.
 * @throws PortolanError `not_found` if the folder is gone
 */
export async function filesOf(folder: string, signal?: AbortSignal): Promise<FoundFile[]> {
  const files: FoundFile[] = [];
  let room = smallTogether;
  for await (const name of namesBelow(folder, '')) {
    signal?.throwIfAborted();
    if (files.length >= maxStoredFiles || !isStoredName(name))
      throw new PortolanError(
        'conflict',
        `The folder of the scan contains more or other files than a scan has.`,
      );
    const path = join(folder, name);
    const { bytes, ...digest } = await digestOf(path, Math.min(room, smallBytes), signal);
    room -= bytes?.length ?? 0;
    const file = { name, ...digest };
    files.push({ file, content: bytes ? { ...digest, bytes: once(bytes) } : contentOf(path, file) });
  }
  return files;
}

async function* namesBelow(folder: string, within: string): AsyncGenerator<string> {
  const entries = await entriesOf(join(folder, within));
  for (const entry of entries) {
    const name = within === '' ? entry.name : `${within}/${entry.name}`;
    if (passing.has(name) || drafts.test(entry.name)) continue;
    if (entry.isDirectory()) yield* namesBelow(folder, name);
    else if (entry.isFile()) yield name;
  }
}

async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isMissing(error)) throw new PortolanError('not_found', 'The scan has no folder here.', {}, error);
    throw error;
  }
}

/** @param kept bytes up to which they come with it, else null */
async function digestOf(
  path: string,
  kept: number,
  signal?: AbortSignal,
): Promise<Pick<StoredFile, 'size' | 'sha256'> & { bytes: Buffer | null }> {
  const hash = createHash('sha256');
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of bytesOf(path)) {
    signal?.throwIfAborted();
    hash.update(piece);
    size += piece.length;
    if (size <= kept) pieces.push(piece);
  }
  return { size, sha256: hash.digest('hex'), bytes: size <= kept ? Buffer.concat(pieces) : null };
}

/** A file as it was when it was hashed; reading fails with `conflict` if it has changed since. */
function contentOf(path: string, { size, sha256 }: StoredFile): ObjectContent {
  return {
    size,
    sha256,
    bytes: () =>
      checked(bytesOf(path), { size, sha256 }, () => {
        return new PortolanError('conflict', 'A file of the scan changed while it was being stored.');
      }),
  };
}

/** A text as an object. */
export function textContent(text: string): ObjectContent {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return {
    size: bytes.length,
    sha256,
    bytes: once(bytes),
  };
}

function once(bytes: Buffer): ObjectContent['bytes'] {
  return async function* whole() {
    yield bytes;
  };
}

/** Passes bytes on as long as they can be the expected ones, and throws at the end at the latest if they are not. */
export async function* checked(
  bytes: AsyncIterable<Uint8Array>,
  expected: Pick<StoredFile, 'size' | 'sha256'>,
  fault: () => Error,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > expected.size) throw fault();
    hash.update(piece);
    yield piece;
  }
  if (hash.digest('hex') !== expected.sha256) throw fault();
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* filePieces(await open(path, constants.O_RDONLY | constants.O_NOFOLLOW));
}
