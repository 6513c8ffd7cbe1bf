import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openStore, readStoreVersion } from '../../store/open.ts';
import { backUpStore } from '../../store/sqlite/backup.ts';
import { layoutVersion, readLayoutVersion } from '../../workspace/layout.ts';
import { openWorkspace } from '../../workspace/workspace.ts';

export interface MigrationReport {
  /** Layout version before and after; null before if there was no workspace. */
  layout: { from: number | null; to: number };
  /** Last migration of the store before and after; null before if there was no store. */
  store: { from: string | null; to: string };
  /** Migrations applied now. */
  applied: string[];
  /** Folders of backups, relative to the workspace. */
  backups: string[];
}

/**
 * Upgrades a workspace to the newest layout and store, with a backup of what changes.
 * @param backup make a backup even if nothing changes
 * @throws PortolanError `configuration` while a server uses the workspace, or if it was written by a newer version
 */
export async function migrateWorkspace(dir: string, backup: boolean): Promise<MigrationReport> {
  const from = await readLayoutVersion(dir).catch(() => null);
  const workspace = await openWorkspace(dir);
  const lock = await workspace.lock({ url: '' });
  try {
    const { storeFile } = workspace;
    const before = existsSync(storeFile) ? await readStoreVersion(storeFile) : { applied: [], pending: [] };
    const backups = from !== null && from < layoutVersion ? [join('backups', `layout-${from}`)] : [];
    if (backup && existsSync(storeFile)) {
      const name = `by-hand-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
      await backUpStore(storeFile, name);
      backups.push(join('backups', name));
    }
    await (await openStore(storeFile)).close();
    const last = before.applied.at(-1) ?? null;
    const after = await readStoreVersion(storeFile);
    const applied = after.applied.filter((name) => !before.applied.includes(name));
    if (last !== null && applied.length > 0) backups.push(join('backups', last));
    return {
      layout: { from, to: layoutVersion },
      store: { from: last, to: after.applied.at(-1) ?? '' },
      applied,
      backups,
    };
  } finally {
    await lock.release();
  }
}
