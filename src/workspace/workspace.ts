import { constants, type Stats } from 'node:fs';
import { access, chmod, mkdir, readdir, readFile, realpath, rm, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import { scanIdPattern } from '../domain/scan.ts';
import { folderMode, isMissing, writeFileAtomic } from './atomic-file.ts';
import { deletedPrefix, ScanFolder } from './scan-folder.ts';
import { findLockHolder, type LockHolder, WorkspaceLock } from './workspace-lock.ts';

/** Version of the layout on the disk that this code reads and writes. */
const layoutVersion = 1;

const folders = ['scans', 'cache', 'reports', 'logs', 'audit', 'config'];

/** The folder that holds everything the service keeps. */
export class Workspace {
  /** Absolute, links resolved. */
  readonly dir: string;
  /** The SQLite store. */
  readonly storeFile: string;

  constructor(dir: string) {
    this.dir = dir;
    this.storeFile = join(dir, 'service.db');
  }

  /** @throws PortolanError `not_found` for a text that is no scan id; no path is built from it */
  scan(scanId: string): ScanFolder {
    if (!scanIdPattern.test(scanId)) throw new PortolanError('not_found', 'There is no such scan.');
    return new ScanFolder(join(this.dir, 'scans', scanId));
  }

  /**
   * Makes this process the one server of the workspace; the lock of a server that died is taken over.
   *
   * @throws PortolanError `configuration` naming pid and host when another server owns it
   */
  async lock(info: { url: string }): Promise<WorkspaceLock> {
    const lock = await WorkspaceLock.acquire(this.dir, info.url);
    await this.#sweepDeletedScans();
    return lock;
  }

  async #sweepDeletedScans(): Promise<void> {
    const scans = join(this.dir, 'scans');
    for (const name of await readdir(scans)) {
      if (name.startsWith(deletedPrefix)) await rm(join(scans, name), { recursive: true, force: true });
    }
  }

  /** The running server that owns the workspace, or null. */
  async lockHolder(): Promise<LockHolder | null> {
    return await findLockHolder(this.dir);
  }

  /** Bytes that an unprivileged user can still write to the disk. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.dir);
    return bavail * bsize;
  }
}

/**
 * Opens a workspace; a missing one is created with mode 0700.
 *
 * @throws PortolanError `configuration` when the path is a file, is read-only, belongs to another user, or was
 *   written by a newer version
 */
export async function openWorkspace(dir: string): Promise<Workspace> {
  const root = await findRoot(resolve(dir));
  await checkRoot(root);
  try {
    await checkVersion(root);
    await makeLayout(root);
  } catch (error) {
    throw asRefusal(root, error);
  }
  return new Workspace(root);
}

async function findRoot(dir: string): Promise<string> {
  try {
    await mkdir(dir, { recursive: true, mode: folderMode });
    return await realpath(dir);
  } catch (error) {
    // A file in the place of the folder, or of one above it.
    if (['EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw refusal(dir, 'a file is in its place', error);
    }
    throw asRefusal(dir, error);
  }
}

async function checkRoot(root: string): Promise<void> {
  const entry = await stat(root);
  if (!entry.isDirectory()) throw refusal(root, 'it is not a directory');
  const owner = process.geteuid?.();
  if (owner !== undefined && entry.uid !== owner) {
    throw refusal(root, `it belongs to another user (uid ${entry.uid}, this process runs as ${owner})`);
  }
  if (!(await isWritable(root, entry))) throw refusal(root, 'it is read-only');
}

/** The owner's write bit counts for root too, whom the kernel would let through. */
async function isWritable(root: string, entry: Stats): Promise<boolean> {
  if ((entry.mode & 0o200) === 0) return false;
  return await access(root, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function checkVersion(root: string): Promise<void> {
  const file = join(root, 'workspace.version');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (text === null) return await adopt(root, file);
  if (!/^\d{1,9}\n?$/.test(text)) throw refusal(root, 'its file workspace.version is damaged');
  const version = Number(text);
  if (version > layoutVersion) {
    throw refusal(
      root,
      `its layout has version ${version}, this portolan knows ${layoutVersion} at most; install a newer portolan`,
    );
  }
}

/** A folder that was not ours before keeps its mode, unless it is empty: it may be somebody's home. */
async function adopt(root: string, versionFile: string): Promise<void> {
  if ((await readdir(root)).length === 0) await chmod(root, folderMode);
  await writeFileAtomic(versionFile, `${layoutVersion}\n`);
}

async function makeLayout(root: string): Promise<void> {
  for (const name of folders) {
    await mkdir(join(root, name), { recursive: true, mode: folderMode });
  }
}

function asRefusal(dir: string, error: unknown): unknown {
  if (error instanceof PortolanError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const barred = code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
  const reason = barred
    ? `this user may not write there (${code}); choose another with --workspace-dir`
    : message;
  return refusal(dir, reason, error);
}

function refusal(dir: string, reason: string, cause?: unknown): PortolanError {
  return new PortolanError(
    'configuration',
    `The workspace ${dir} cannot be used: ${reason}.`,
    { dir },
    cause,
  );
}
