import { randomBytes } from 'node:crypto';
import { constants, existsSync, globSync, statSync } from 'node:fs';
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PortolanError } from '../../domain/errors.ts';

/** Folder beside the store for its backups before migrations. */
const backupFolder = 'backups';

/** What to do about a damaged store, for the end of a sentence; names the newest backup that has one. */
export function restoreAdvice(file: string): string {
  const name = basename(file);
  const newest = newestBackup(dirname(file));
  const which =
    newest === null
      ? `${backupFolder}/ has none; without any, move it away, which loses tokens and jobs`
      : `the newest in the workspace is ${newest}`;
  const after = 'then "portolan workspace check --fix" lists the scans that it lacks';
  return `stop the server, delete ${name}-wal and ${name}-shm and restore ${name} from a backup (${which}); ${after}`;
}

/** Relative to the workspace, with its time; null if there is none. */
function newestBackup(workspace: string): string | null {
  const paths = globSync(join(backupFolder, '*', 'service.db'), { cwd: workspace });
  const found = paths.map((path) => ({ path, savedAt: statSync(join(workspace, path)).mtime }));
  const newest = found.sort((a, b) => b.savedAt.getTime() - a.savedAt.getTime())[0];
  return newest === undefined ? null : `${newest.path} of ${newest.savedAt.toISOString()}`;
}

/**
 * Copies the store, with the version of the workspace, to `backups/<name>/` beside it. The copy is a consistent
 * snapshot, even while others write. Replaces an older copy of that name once the new one is complete.
 *
 * @returns folder of the copy
 * @throws PortolanError `insufficient_storage` without enough space, `configuration` if it cannot be created
 */
export async function backUpStore(file: string, name: string): Promise<string> {
  const workspace = dirname(file);
  const backups = join(workspace, backupFolder);
  const place = join(backups, name);
  const draft = join(backups, `.${name}-${randomBytes(4).toString('hex')}`);
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    await copyDatabase(file, join(draft, 'service.db'));
    await copyVersion(workspace, draft);
    await syncPath(draft);
    await rm(place, { recursive: true, force: true });
    await rename(draft, place);
    await syncPath(backups);
    return place;
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw backupFailure(error);
  }
}

async function copyDatabase(file: string, copy: string): Promise<void> {
  // Opening a missing file would create it.
  if (!existsSync(file)) return;
  // SQLite accepts an empty file as its target; it would create a new one with the mode of the umask.
  await (await open(copy, 'wx', 0o600)).close();
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    database.prepare('vacuum into ?').run(copy);
  } finally {
    database.close();
  }
  await syncPath(copy);
}

async function copyVersion(workspace: string, draft: string): Promise<void> {
  const copy = join(draft, 'workspace.version');
  try {
    await copyFile(join(workspace, 'workspace.version'), copy, constants.COPYFILE_EXCL);
  } catch (error) {
    // A store outside a workspace has no version file.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await syncPath(copy);
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function backupFailure(error: unknown): unknown {
  const { code, errcode } = error as { code?: string; errcode?: number };
  const sqliteFull = 13;
  if (code === 'ENOSPC' || code === 'EDQUOT' || (errcode ?? 0) % 256 === sqliteFull) {
    const message = 'The disk of the workspace is too full for a backup of the store; nothing was changed.';
    return new PortolanError('insufficient_storage', message, {}, error);
  }
  const message = `The store cannot be copied to ${backupFolder}/ (${code}); nothing was changed.`;
  return new PortolanError('configuration', message, {}, error);
}
