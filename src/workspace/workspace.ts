import { constants, type Stats } from 'node:fs';
import { access, chmod, mkdir, opendir, readdir, realpath, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import { scanIdPattern } from '../domain/scan.ts';
import { tenantPattern } from '../domain/tenant.ts';
import { folderMode, isMissing } from './atomic-file.ts';
import { layoutVersion, readLayoutVersion, upgradeLayout, writeLayoutVersion } from './layout.ts';
import { allocateReserve, giveUpReserve } from './reserve.ts';
import { deletedPrefix, ScanFolder } from './scan-folder.ts';
import { findLockHolder, type LockHolder, WorkspaceLock } from './workspace-lock.ts';

const folders = ['scans', 'cache', 'reports', 'logs', 'audit', 'config'];
/** Names read from a folder per call. */
const namesAtOnce = 256;
const tenantFolders = ['scans', 'reports', 'config'];

/** The folder of all data of the service, or of one tenant. */
export class Workspace {
  /** Absolute, links resolved; of a tenant `<root>/tenants/<tenant>`. */
  readonly dir: string;
  /** The SQLite store, one for all tenants. */
  readonly storeFile: string;
  readonly #root: string;

  constructor(root: string, tenant: string | null = null) {
    this.#root = root;
    this.dir = tenant === null ? root : join(root, 'tenants', tenant);
    this.storeFile = join(root, 'service.db');
  }

  /** Templates of reports, one folder each. */
  get templatesDir(): string {
    return join(this.dir, 'config', 'templates');
  }

  /**
   * The workspace of a tenant, `tenants/<tenant>/`, or with null the one without tenants.
   * @throws PortolanError `tenant_forbidden` for an invalid tenant name; no path is built from it
   */
  forTenant(tenant: string | null): Workspace {
    if (tenant !== null && !tenantPattern.test(tenant)) {
      throw new PortolanError('tenant_forbidden', 'There is no such tenant.');
    }
    return new Workspace(this.#root, tenant);
  }

  /** Creates the folders of tenants; existing ones stay. */
  async makeTenants(tenants: readonly string[]): Promise<void> {
    for (const tenant of tenants) {
      const { dir } = this.forTenant(tenant);
      for (const name of tenantFolders) {
        await mkdir(join(dir, name), { recursive: true, mode: folderMode });
      }
    }
  }

  /** @throws PortolanError `not_found` for an invalid scan ID; no path is built from it */
  scan(scanId: string): ScanFolder {
    if (!scanIdPattern.test(scanId)) throw new PortolanError('not_found', 'There is no such scan.');
    return new ScanFolder(join(this.dir, 'scans', scanId));
  }

  /** Indexes of records, for all tenants; each can be built again. */
  get indexDir(): string {
    return join(this.#root, 'cache', 'index');
  }

  /** The file with the index of a scan. @throws PortolanError `not_found` for an invalid scan ID */
  indexFile(scanId: string): string {
    if (!scanIdPattern.test(scanId)) throw new PortolanError('not_found', 'There is no such scan.');
    return join(this.indexDir, `${scanId}.db`);
  }

  /**
   * Makes this process the one server of the workspace; takes over the lock of a dead server.
   * @throws PortolanError `configuration` with PID and host if another server owns it
   */
  async lock(info: { url: string }): Promise<WorkspaceLock> {
    const lock = await WorkspaceLock.acquire(this.#root, info.url);
    await this.keepReserve();
    return lock;
  }

  /** Reserves disk space for garbage collection on a full disk; only a server does. */
  keepReserve(): Promise<void> {
    return allocateReserve(this.#root);
  }

  giveUpReserve(): Promise<void> {
    return giveUpReserve(this.#root);
  }

  /** Names among the scans of the workspace and of all its tenants. */
  async *scanEntries(): AsyncGenerator<{ tenant: string | null; name: string; path: string }> {
    const tenants = (await namesIn(join(this.#root, 'tenants'))).filter((name) => tenantPattern.test(name));
    for (const tenant of [null, ...tenants]) {
      const scans = join(this.forTenant(tenant).dir, 'scans');
      for await (const name of namesOf(scans)) yield { tenant, name, path: join(scans, name) };
    }
  }

  /** Leftovers of interrupted deletions; without a scan ID if the name has none. */
  async *retiredScans(): AsyncGenerator<{ scanId: string | null; folder: ScanFolder | null; path: string }> {
    for await (const { tenant, name, path } of this.scanEntries()) {
      if (!name.startsWith(deletedPrefix)) continue;
      // Earlier versions appended a random text to the ID.
      const id = name.slice(deletedPrefix.length).split('-').slice(0, 3).join('-');
      const scanId = scanIdPattern.test(id) ? id : null;
      yield { scanId, folder: scanId === null ? null : this.forTenant(tenant).scan(scanId), path };
    }
  }

  /** The running server that owns the workspace, or null. */
  async lockHolder(): Promise<LockHolder | null> {
    return await findLockHolder(this.#root);
  }

  /** Bytes that an unprivileged user can still write to the disk. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.dir);
    return bavail * bsize;
  }

  /** Inodes of the disk, one for each file and folder; null if its file system has no fixed number of them. */
  async inodes(): Promise<{ free: number; total: number } | null> {
    const { ffree, files } = await statfs(this.dir);
    return files === 0 ? null : { free: ffree, total: files };
  }
}

/**
 * Opens a workspace; creates a missing one with mode 0700.
 * @throws PortolanError `configuration` if the path is a file, is read-only, belongs to another user, or was written
 * by a newer version
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
    // A file in place of the folder, or of one above it.
    if (['EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw rejection(dir, 'a file of that name exists', error);
    }
    throw asRefusal(dir, error);
  }
}

async function checkRoot(root: string): Promise<void> {
  const entry = await stat(root);
  if (!entry.isDirectory()) throw rejection(root, 'not a directory');
  const owner = process.geteuid?.();
  if (owner !== undefined && entry.uid !== owner) {
    throw rejection(root, `it belongs to another user (uid ${entry.uid}, this process runs as ${owner})`);
  }
  if (!(await isWritable(root, entry))) throw rejection(root, 'it is read-only');
}

/** Checks the owner's write bit for root too, whom the kernel would let through. */
async function isWritable(root: string, entry: Stats): Promise<boolean> {
  if ((entry.mode & 0o200) === 0) return false;
  return await access(root, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function checkVersion(root: string): Promise<void> {
  const version = await readLayoutVersion(root);
  if (version === null) return await adopt(root);
  if (Number.isNaN(version)) throw rejection(root, 'its file workspace.version is damaged');
  if (version > layoutVersion) {
    throw rejection(
      root,
      `its layout has version ${version}, but this portolan supports up to ${layoutVersion}; install a newer portolan`,
    );
  }
  if (version < layoutVersion) await upgradeLayout(root);
}

/** A folder not created by this program keeps its mode, unless it is empty: it may be a home directory. */
async function adopt(root: string): Promise<void> {
  if ((await readdir(root)).length === 0) await chmod(root, folderMode);
  await writeLayoutVersion(root, layoutVersion);
}

async function makeLayout(root: string): Promise<void> {
  for (const name of folders) {
    await mkdir(join(root, name), { recursive: true, mode: folderMode });
  }
}

/** Names in a folder, in batches; none if it does not exist. Concurrent changes may be missed. */
async function* namesOf(folder: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder, { bufferSize: namesAtOnce })) yield name;
  } catch (error) {
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
  }
}

/** Names in a folder; none if it does not exist. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return [];
    throw error;
  }
}

function asRefusal(dir: string, error: unknown): unknown {
  if (error instanceof PortolanError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return rejection(dir, 'its disk is full', error);
  const barred = code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
  const reason = barred
    ? `this user cannot write there (${code}); choose another with --workspace-dir`
    : message;
  return rejection(dir, reason, error);
}

function rejection(dir: string, reason: string, cause?: unknown): PortolanError {
  return new PortolanError('configuration', `Cannot use the workspace ${dir}: ${reason}.`, { dir }, cause);
}
