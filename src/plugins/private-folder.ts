import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import { fileMode, folderMode, isMissing } from '../workspace/atomic-file.ts';
import { openIfThere } from '../workspace/plain-file.ts';
import {
  isOfThisPlace,
  isRunning,
  type ProcessIdentity,
  processIdentity,
} from '../workspace/process-identity.ts';
import { maxPackageBytes, readPackage, sha256Of } from './package-archive.ts';
import type { PluginFile } from './plugin.ts';
import type { PluginBytes } from './plugin-bytes.ts';

const prefix = 'portolan-plugins-';
const ownerName = 'owner.json';
/** In the folder of a plugin: the archive that was hashed, and what it holds. */
const archiveName = 'package';
const contentsName = 'contents';

/**
 * The verified plugins of one process, which its scans load: nobody else may write there, and what is replaced in the
 * folder of installed plugins does not reach it.
 */
export class PrivateFolder {
  readonly #parent: string;
  #dir: Promise<string> | null = null;
  readonly #placed = new Map<string, Promise<string>>();

  /** Nothing is created before the first plugin. */
  constructor(parent = tmpdir()) {
    this.#parent = parent;
  }

  /** Writes the bytes of a plugin once. @returns the plugin with its folder */
  async place({ file, bytes, contents }: PluginBytes): Promise<PluginFile> {
    const key = `${file.sha256}/${file.entry}`;
    const writing = this.#placed.get(key) ?? this.#write(bytes, contents, file.archive);
    this.#placed.set(key, writing);
    try {
      return { ...file, folder: await writing };
    } catch (error) {
      this.#placed.delete(key);
      throw error;
    }
  }

  /** The plugin that was placed with this hash, or null. */
  async find(file: Omit<PluginFile, 'folder'>): Promise<PluginFile | null> {
    const folder = await this.#placed.get(`${file.sha256}/${file.entry}`);
    return folder === undefined ? null : { ...file, folder };
  }

  /** Scans that begin from now on do not find it here; those that run keep their files. */
  forget({ sha256, entry }: Pick<PluginFile, 'sha256' | 'entry'>): void {
    this.#placed.delete(`${sha256}/${entry}`);
  }

  async remove(): Promise<void> {
    const dir = await this.#dir?.catch(() => null);
    this.#dir = null;
    this.#placed.clear();
    if (dir) await rm(dir, { recursive: true, force: true });
  }

  async #write(bytes: Buffer, contents: ReadonlyMap<string, Buffer>, isArchive: boolean): Promise<string> {
    this.#dir ??= this.#create();
    const home = await mkdtemp(join(await this.#dir, 'plugin-'));
    const folder = join(home, contentsName);
    await mkdir(folder, { mode: folderMode });
    if (isArchive) await writeFile(join(home, archiveName), bytes, { mode: fileMode, flag: 'wx' });
    for (const [path, content] of contents) {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true, mode: folderMode });
      await writeFile(target, content, { mode: fileMode, flag: 'wx' });
    }
    return folder;
  }

  async #create(): Promise<string> {
    await removeStale(this.#parent);
    // Mode 0700: mkdtemp(3).
    const dir = await mkdtemp(join(this.#parent, prefix));
    await writeFile(join(dir, ownerName), JSON.stringify(processIdentity()), { mode: fileMode, flag: 'wx' });
    return dir;
  }
}

/** Folders of processes of this user that ended without removing theirs. */
async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const dir = join(parent, name);
    const facts = await lstat(dir).catch(() => null);
    if (!facts?.isDirectory() || facts.uid !== process.getuid?.()) continue;
    const owner = await ownerOf(dir);
    // Another host or container may share the folder: its processes cannot be seen from here.
    if (owner !== null && isOfThisPlace(owner) && !isRunning(owner))
      await rm(dir, { recursive: true, force: true });
  }
}

async function ownerOf(dir: string): Promise<ProcessIdentity | null> {
  try {
    return JSON.parse(await readFile(join(dir, ownerName), 'utf8')) as ProcessIdentity;
  } catch {
    return null;
  }
}

/**
 * Checks a folder that another process of this user has filled: it holds exactly what the hash stands for.
 * @throws PortolanError `configuration`
 */
export async function verifyPlaced(file: PluginFile): Promise<void> {
  const contents = file.archive ? await contentsOfArchive(file) : null;
  const found = (await readdir(file.folder, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(file.folder.length + sep.length));
  const expected = contents === null ? [file.entry] : [...contents.keys()];
  const foreign = found.find((path) => !expected.includes(path));
  if (foreign !== undefined) throw changed(file, `the file ${foreign} is not of it`);
  for (const path of expected) {
    const bytes = await readCapped(join(file.folder, path));
    const same =
      contents === null
        ? bytes !== null && sha256Of(bytes) === file.sha256
        : (bytes?.equals(contents.get(path) as Buffer) ?? false);
    if (!same) throw changed(file, `the file ${path} is missing or changed`);
  }
}

async function contentsOfArchive(file: PluginFile): Promise<ReadonlyMap<string, Buffer>> {
  const archive = await readCapped(join(file.folder, '..', archiveName));
  if (archive === null || sha256Of(archive) !== file.sha256)
    throw changed(file, 'its package is missing or changed');
  return (await readPackage(archive)).files;
}

async function readCapped(path: string): Promise<Buffer | null> {
  const file = await openIfThere(path).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (file === null) return null;
  try {
    return (await file.stat()).size > maxPackageBytes ? null : await file.readFile();
  } finally {
    await file.close();
  }
}

function changed({ name, version }: PluginFile, reason: string): PortolanError {
  return new PortolanError(
    'configuration',
    `plugin ${name} ${version} was altered after it was loaded: ${reason}`,
  );
}
