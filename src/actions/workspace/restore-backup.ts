import { randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { PortolanError } from '../../domain/errors.ts';
import { storeFaults } from '../../store/integrity.ts';
import { openStore, readStoreVersion } from '../../store/open.ts';
import { folderMode, syncFolder } from '../../workspace/atomic-file.ts';
import { saveEntry, tarEntries } from '../../workspace/unpack-tar.ts';
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
  const sums = new Map<string, string>();
  await mkdir(stage, { mode: folderMode });
  try {
    await pipeline(createReadStream(file), createGunzip(), async (archive: AsyncIterable<Buffer>) => {
      for await (const entry of tarEntries(archive)) {
        const { name, type } = entry.header;
        const path = join(stage, name);
        // Nothing but files and folders: a link could lead elsewhere.
        if (!isBelow(path, stage) || (type !== 'file' && type !== 'directory')) await entry.body.cancel();
        else if (type === 'directory') await mkdir(path, { recursive: true, mode: folderMode });
        else {
          await mkdir(dirname(path), { recursive: true, mode: folderMode });
          sums.set(name, await saveEntry(entry, path));
        }
      }
    });
  } catch (error) {
    throw damaged(file, (error as Error).message || 'cut off, or no backup', error);
  }
  const manifest = await manifestOf(file, stage);
  for (const { name, sha256 } of manifest.files)
    if (sums.get(name) !== sha256) throw damaged(file, `${name} does not match its checksum`);
  return manifest;
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}${sep}`);
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
