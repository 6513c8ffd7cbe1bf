import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspace } from '../../workspace/workspace.ts';

export interface CleanedCache {
  /** Removed cache entries. */
  removed: string[];
  freed_bytes: number;
}

/** Empties `cache/`: everything in it can be downloaded or computed again. @param dryRun only counts */
export async function cleanCache({ dir }: Workspace, dryRun = false): Promise<CleanedCache> {
  const cache = join(dir, 'cache');
  const cleaned: CleanedCache = { removed: [], freed_bytes: 0 };
  for (const name of (await readdir(cache)).sort()) {
    const bytes = await sizeOf(join(cache, name));
    if (!dryRun) await rm(join(cache, name), { recursive: true, force: true });
    cleaned.removed.push(name);
    cleaned.freed_bytes += bytes;
  }
  return cleaned;
}

async function sizeOf(path: string): Promise<number> {
  const entry = await lstat(path).catch(() => null);
  if (!entry?.isDirectory()) return entry?.size ?? 0;
  let bytes = 0;
  for (const name of await readdir(path).catch(() => [])) bytes += await sizeOf(join(path, name));
  return bytes;
}
