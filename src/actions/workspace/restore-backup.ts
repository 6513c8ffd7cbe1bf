import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar/fs';
import { PortolanError } from '../../domain/errors.ts';
import { storeFaults } from '../../store/integrity.ts';
import { openStore, readStoreVersion } from '../../store/open.ts';
import { fileMode, folderMode, syncFolder } from '../../workspace/atomic-file.ts';
import { openWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { type BackupManifest, backupFormat, backupManifestFile } from './back-up.ts';
import { type CheckReport, checkWorkspace } from './check-workspace.ts';

export interface RestoreTarget {
  workspace: string;
  /** Folder of installed plugins. */
  plugins: string;
  /** Whether files of the configuration that are missing on this machine are written. */
  withConfiguration: boolean;
}

export interface RestoreReport {
  manifest: BackupManifest;
  /** Where what was there before lies now; null = there was nothing. */
  before: string | null;
  /** Files of the configuration: those that were written, and those that are only in the backup. */
  written: string[];
  left: string[];
  /** What the restored workspace was checked for. */
  check: CheckReport | null;
}

/** Below the workspace, so that everything is moved within one file system. */
const stagePrefix = '.restore-';

/**
 * Unpacks a backup beside what is there, verifies each checksum and the store, and only then replaces workspace and plugins.
 * What was there before stays in `backups/before-restore-<time>/`.
 * @throws PortolanError `configuration` for a damaged backup, and while a server uses the workspace: nothing is replaced
 */
export async function restoreBackup(file: string, target: RestoreTarget): Promise<RestoreReport> {
  const workspace = await openWorkspace(target.workspace);
  const lock = await workspace.lock({ url: '' });
  const stage = join(workspace.dir, `${stagePrefix}${randomBytes(6).toString('hex')}`);
  try {
    const manifest = await unpack(file, stage);
    await checkStore(join(stage, 'workspace', 'service.db'), manifest);
    const before = await replaceAll(workspace, stage, target);
    const files = await restoreConfiguration(join(stage, 'files'), manifest, target);
    await rm(stage, { recursive: true, force: true });
    const check = manifest.store === 'sqlite' ? await checked(workspace) : null;
    return { manifest, before, ...files, check };
  } finally {
    await rm(stage, { recursive: true, force: true });
    await lock.release();
  }
}

/** @returns the manifest, which every file matches */
async function unpack(file: string, stage: string): Promise<BackupManifest> {
  await readThrough(file);
  await mkdir(stage, { mode: folderMode });
  // Nothing but files and folders: a link could lead elsewhere.
  const filter = ({ type, name }: { type?: string; name: string }) =>
    (type === 'file' || type === 'directory') && !name.split('/').includes('..');
  const unpacked = unpackTar(stage, { filter, fmode: fileMode, dmode: folderMode });
  try {
    await pipeline(createReadStream(file), createGunzip(), unpacked);
  } catch (error) {
    throw damaged(file, (error as Error).message || 'cut off, or no backup', error);
  }
  const manifest = await manifestOf(file, stage);
  for (const { name, size, sha256 } of manifest.files) {
    const path = join(stage, ...name.split('/').filter((part) => part !== '..'));
    const found = await stat(path).catch(() => null);
    if (found?.size !== size || (await hashOf(path)) !== sha256)
      throw damaged(file, `${name} does not match its checksum`);
  }
  return manifest;
}

/** Before anything is unpacked: files that are being written when a damage shows would come after their folder was removed. */
async function readThrough(file: string): Promise<void> {
  try {
    await pipeline(createReadStream(file), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const _ of chunks);
    });
  } catch (error) {
    throw damaged(file, (error as Error).message || 'cut off, or no backup', error);
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function manifestOf(file: string, stage: string): Promise<BackupManifest> {
  const text = await readFile(join(stage, backupManifestFile), 'utf8').catch(() => null);
  if (text === null) throw damaged(file, `it has no ${backupManifestFile}: it is incomplete, or no backup`);
  const manifest = parseManifest(file, text);
  if (manifest.format > backupFormat)
    throw new PortolanError('configuration', `${file} was made by a newer version, ${manifest.version}`);
  return manifest;
}

function parseManifest(file: string, text: string): BackupManifest {
  try {
    return JSON.parse(text) as BackupManifest;
  } catch (error) {
    throw damaged(file, `${backupManifestFile} is no JSON`, error);
  }
}

function damaged(file: string, reason: string, cause?: unknown): PortolanError {
  return new PortolanError('configuration', `${file} is damaged: ${reason}; nothing was replaced`, {}, cause);
}

/** @throws PortolanError for a store that is damaged, or of a newer version */
async function checkStore(file: string, { store }: BackupManifest): Promise<void> {
  if (store === 'postgresql') return;
  const [fault] = storeFaults(file);
  if (fault !== undefined) throw damaged(file, fault);
  await readStoreVersion(file);
}

/** @returns where what was there before lies, relative to the workspace */
async function replaceAll(
  workspace: Workspace,
  stage: string,
  target: RestoreTarget,
): Promise<string | null> {
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const before = join(workspace.dir, 'backups', `before-restore-${time}`);
  await mkdir(before, { recursive: true, mode: folderMode });
  const kept = (name: string) => /^(?:backups$|workspace\.lock|\.workspace\.guard|\.restore-)/.test(name);
  const old = (await readdir(workspace.dir)).filter((name) => !kept(name));
  for (const name of old) await rename(join(workspace.dir, name), join(before, name));
  const staged = join(stage, 'workspace');
  for (const name of await readdir(staged)) await rename(join(staged, name), join(workspace.dir, name));
  await syncFolder(workspace.dir);
  await replacePlugins(join(stage, 'plugins'), target.plugins, time);
  return before;
}

/** The plugins may lie on another file system. */
async function replacePlugins(staged: string, place: string, time: string): Promise<void> {
  if (!existsSync(staged)) return;
  const draft = `${place}.restored-${time}`;
  await copyFolder(staged, draft);
  if (existsSync(place)) await rename(place, `${place}.before-restore-${time}`);
  await rename(draft, place);
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: folderMode });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    await (entry.isDirectory() ? copyFolder(source, copy) : copyFile(source, copy));
  }
}

async function restoreConfiguration(
  staged: string,
  { files }: BackupManifest,
  { withConfiguration }: RestoreTarget,
): Promise<Pick<RestoreReport, 'written' | 'left'>> {
  const written: string[] = [];
  const left: string[] = [];
  for (const { name } of files.filter((each) => each.name.startsWith('files/'))) {
    const place = name.slice('files'.length);
    if (!withConfiguration || existsSync(place)) {
      left.push(place);
      continue;
    }
    await mkdir(dirname(place), { recursive: true, mode: folderMode });
    await copyFile(join(staged, place), place);
    written.push(place);
  }
  return { written, left };
}

/** Scans that came while the backup was made are listed, and those that went are not. */
async function checked(workspace: Workspace): Promise<CheckReport> {
  const store = await openStore(workspace.storeFile);
  try {
    return await checkWorkspace({ store, workspace, served: false }, true);
  } finally {
    await store.close();
  }
}
