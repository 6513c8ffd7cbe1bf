import type { Stats } from 'node:fs';
import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { folderMode } from './atomic-file.ts';

const forOthers = 0o077;

/** Files and folders below a folder accessible to other users. Does not follow links. */
export async function* openModes(folder: string): AsyncGenerator<string> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const entry = await lstat(path).catch(() => null);
    if (entry === null || entry.isSymbolicLink()) continue;
    if ((entry.mode & forOthers) !== 0) yield path;
    if (entry.isDirectory()) yield* openModes(path);
  }
}

/** Removes all permissions of other users; those of the owner stay. */
export async function makePrivate(path: string): Promise<void> {
  await chmod(path, ownMode(await lstat(path)));
}

function ownMode(entry: Stats): number {
  return entry.isDirectory() ? folderMode : entry.mode & 0o700;
}
