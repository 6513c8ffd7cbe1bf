import { lstat, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isMissing } from './atomic-file.ts';
import type { ScanFolder } from './scan-folder.ts';

/** Leftovers of interrupted writes: temporary file names, partial records, drafts of artifacts. */
export const drafts = /\.[0-9a-f]{12}\.tmp$|^results\.[\w.]+\.new$|^banners\.new$/;

/** Unused names below the folder of a scan; valid only for a finished scan. */
export async function leftoversOf(folder: ScanFolder): Promise<string[]> {
  const found = await oldDrafts(folder, await namesIn(folder.path));
  const artifacts = await namesIn(join(folder.path, 'artifacts'));
  found.push(
    ...(await oldDrafts(
      folder,
      artifacts.map((name) => join('artifacts', name)),
    )),
  );
  const plain = await isThere(join(folder.path, 'results.jsonl'));
  // Compression was interrupted before its last step, see resolveBoth.
  if (plain && (await isThere(join(folder.path, 'results.jsonl.gz')))) found.push('results.jsonl.gz');
  return found;
}

/** A younger draft may still be in use. */
const writtenAfterMs = 60_000;

async function oldDrafts(folder: ScanFolder, names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names.filter((path) => drafts.test(basename(path)))) {
    const entry = await lstat(join(folder.path, name)).catch(() => null);
    if (entry && Date.now() - entry.mtimeMs > writtenAfterMs) found.push(name);
  }
  return found;
}

/** Removes drafts; of a record in two forms both stay. */
export async function removeDrafts(folder: ScanFolder, names: readonly string[]): Promise<void> {
  for (const name of names.filter((name) => name !== 'results.jsonl.gz')) {
    await rm(join(folder.path, name), { recursive: true, force: true });
  }
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return [];
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
