import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PortolanError } from '../domain/errors.ts';

/** Files contain findings about other people's networks: owner only. */
export const fileMode = 0o600;
export const folderMode = 0o700;

/**
 * Replaces a whole file atomically: readers see the old content or the new one, even after a power failure.
 * @throws PortolanError `insufficient_storage` if the disk is full
 */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeDurably(temporary, content);
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw diskError(error);
  }
}

async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(path, flags, fileMode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** For a database or a lock. An existing file is not opened: closing it would release locks that this process holds on it. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', fileMode));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Makes created, renamed and deleted names of a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Writes all bytes at a position; a single write may be short, e.g. just before the disk is full. */
export async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** Maps a full disk or exceeded quota to the error shown to users; any other error unchanged. */
export function diskError(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new PortolanError('insufficient_storage', 'The disk of the workspace is full.', {}, error);
}

/** Whether an error means that a file or folder does not exist. */
export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ENOENT';
}
