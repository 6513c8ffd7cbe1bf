import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { isMissing } from './atomic-file.ts';

/** A link in a folder of the workspace must not lead a reader out of it. O_NONBLOCK: a pipe does not block. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a file of the workspace for reading. @throws ELOOP for a link, EISDIR for anything else that is not a file */
export async function openPlain(path: string): Promise<FileHandle> {
  const file = await open(path, flags);
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  throw Object.assign(new Error('not a regular file'), { code: 'EISDIR' });
}

/** Null if it does not exist. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await openPlain(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The text of a file of the workspace. @throws as openPlain */
export async function readPlainText(path: string): Promise<string> {
  const file = await openPlain(path);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Whether an error means that a link, a folder or a device is in place of a file. */
export function isNoPlainFile(error: unknown): boolean {
  return ['ELOOP', 'EISDIR', 'ENXIO'].includes((error as NodeJS.ErrnoException | null)?.code ?? '');
}

/** Whether a folder exists and is not a link. */
export async function isPlainFolder(path: string): Promise<boolean> {
  const entry = await lstat(path).catch((error: unknown) => {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    throw error;
  });
  return entry?.isDirectory() ?? false;
}
