import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backUpStore } from '../store/sqlite/backup.ts';
import { isMissing, writeFileAtomic } from './atomic-file.ts';
import { WorkspaceLock } from './workspace-lock.ts';

/** One change of the layout. After a crash it runs again from its start. */
export interface LayoutStep {
  /** The resulting version; versions are consecutive. */
  to: number;
  run(root: string): Promise<void>;
}

/** In order; never change a published one. Version 1 is the first layout. */
const layoutSteps: readonly LayoutStep[] = [];

/** Version of the layout that this code reads and writes. */
export const layoutVersion = 1 + layoutSteps.length;

/** `workspace.version` as a number; null if missing, NaN if damaged. */
export async function readLayoutVersion(root: string): Promise<number | null> {
  try {
    const text = await readFile(versionFile(root), 'utf8');
    return /^[1-9]\d{0,8}\n?$/.test(text) ? Number(text) : Number.NaN;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export async function writeLayoutVersion(root: string, version: number): Promise<void> {
  await writeFileAtomic(versionFile(root), `${version}\n`);
}

/**
 * Upgrades an older layout to the newest one, with a backup of the store and the version in
 * `backups/layout-<version>/`. Results are not copied: no step may change them in a way that the previous version
 * cannot read. An upgrade interrupted by a crash continues after its last complete step and keeps its first backup.
 * @throws PortolanError `configuration` while a server uses the workspace, `insufficient_storage`
 */
export async function upgradeLayout(root: string, steps = layoutSteps): Promise<void> {
  const lock = await WorkspaceLock.acquire(root, '');
  try {
    const from = (await readLayoutVersion(root)) ?? 1;
    const marker = join(root, 'workspace.upgrade');
    if (!(await isThere(marker))) {
      await backUpStore(join(root, 'service.db'), `layout-${from}`);
      await writeFileAtomic(marker, `${from}\n`);
    }
    for (const step of steps.filter(({ to }) => to > from)) {
      await step.run(root);
      await writeLayoutVersion(root, step.to);
    }
    await rm(marker, { force: true });
  } finally {
    await lock.release();
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await readFile(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function versionFile(root: string): string {
  return join(root, 'workspace.version');
}
