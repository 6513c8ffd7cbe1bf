import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PortolanError } from '../domain/errors.ts';
import {
  createPrivateFile,
  diskError,
  fileMode,
  folderMode,
  isMissing,
  syncFolder,
  writeFileAtomic,
} from '../workspace/atomic-file.ts';
import { isPlainFolder, openIfThere } from '../workspace/plain-file.ts';
import { checkPluginName, isPluginVersion } from './manifest.ts';
import { maxPackageBytes, type PluginPackage, readPackage, sha256Of } from './package-archive.ts';
import { maxSignatureBytes } from './signature.ts';

/** The archive (or zip, whatever its name) and its signature as installed; paths in packages never start with a dot. */
const archiveName = '.package.tar.gz';
const signatureName = '.package.sig';
/** Maximum size of registry.json, bytes. */
const maxRegistryBytes = 4 * 1024 * 1024;
/** Wait for another command that changes the folder, milliseconds. */
const lockWaitMs = 10_000;

/** An installed version of a plugin. */
export interface InstalledVersion {
  version: string;
  /** Of the archive, hex. */
  sha256: string;
  /** Where it came from. */
  source: string;
  /** ISO 8601 UTC. */
  installed_at: string;
}

export interface InstalledPlugin {
  name: string;
  current: InstalledVersion;
  /** For `update --rollback`. */
  previous: InstalledVersion | null;
  /** Switched off on this machine. */
  disabled?: boolean;
}

interface RegistryFile {
  plugins: InstalledPlugin[];
  /** Highest version seen of each signed index, by URL: an older one is refused. */
  indexes: Record<string, number>;
  /** When plugins were removed, ISO 8601 UTC, by name. */
  removed: Record<string, string>;
}

/** The bytes of an installed plugin, to judge anew. */
export interface StoredPackage {
  archive: Buffer;
  signature: string | null;
}

/** The folder of installed plugins: `<name>/<version>/`, and `registry.json`. */
export class PluginStore {
  readonly dir: string;
  /** The plugin whose folder this object has written to. */
  #placed: string | null = null;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** @throws PortolanError `configuration` if the registry is damaged */
  async list(): Promise<InstalledPlugin[]> {
    return (await this.#read()).plugins;
  }

  /** When plugins that are not installed now were removed, ISO 8601 UTC. */
  async removals(): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries((await this.#read()).removed));
  }

  /** @throws PortolanError `usage` for no name, `not_found` */
  async get(name: string): Promise<InstalledPlugin> {
    return find(await this.#read(), name);
  }

  folderOf(name: string, version: string): string {
    return join(this.dir, name, version);
  }

  /**
   * Reads an installed version and checks it against the registry, and every unpacked file against the manifest.
   * @throws PortolanError `configuration` if it was altered
   */
  async load(
    name: string,
    { version, sha256 }: InstalledVersion,
  ): Promise<StoredPackage & { package: PluginPackage }> {
    const folder = this.folderOf(name, version);
    const archive = await readCapped(join(folder, archiveName), maxPackageBytes);
    if (archive === null || sha256Of(archive) !== sha256)
      throw altered(name, 'its package is missing or changed');
    const content = await readPackage(archive);
    if (content.manifest.name !== name || content.manifest.version !== version)
      throw altered(name, 'it is another plugin');
    await checkUnpacked(name, folder, content);
    const signature = await readCapped(join(folder, signatureName), maxSignatureBytes);
    return { archive, signature: signature?.toString() ?? null, package: content };
  }

  /**
   * Unpacks a checked package and makes it the current version; the one before stays for a rollback.
   * @throws PortolanError `conflict` if this version is installed with other content and `force` is not set
   */
  async install(
    content: PluginPackage,
    stored: StoredPackage,
    source: string,
    force: boolean,
    at = new Date().toISOString(),
  ): Promise<InstalledPlugin> {
    const { name, version } = content.manifest;
    return this.#change(name, async (registry) => {
      const before = registry.plugins.find((plugin) => plugin.name === name) ?? null;
      const same = [before?.current, before?.previous].find((each) => each?.version === version);
      if (same && same.sha256 !== content.sha256 && !force) {
        throw new PortolanError(
          'conflict',
          `${name} ${version} is installed with other content; --force replaces it`,
        );
      }
      await this.#place(content, stored);
      const current = { version, sha256: content.sha256, source, installed_at: at };
      const kept = before?.current.version === version ? before.previous : (before?.current ?? null);
      const plugin = { name, current, previous: kept, ...(before?.disabled && { disabled: true }) };
      registry.plugins = [...registry.plugins.filter((each) => each !== before), plugin];
      delete registry.removed[name];
      return plugin;
    });
  }

  /** Makes the previous version the current one. @throws PortolanError `not_found`, `conflict` */
  async rollBack(name: string): Promise<InstalledPlugin> {
    return this.#change(checkPluginName(name), async (registry) => {
      const plugin = find(registry, name);
      if (!plugin.previous) throw new PortolanError('conflict', `${name} has no previous version`);
      [plugin.current, plugin.previous] = [plugin.previous, plugin.current];
      plugin.current.installed_at = new Date().toISOString();
      return plugin;
    });
  }

  /** Switches a plugin off or on. @throws PortolanError `usage` for no name, `not_found` */
  async disable(name: string, disabled: boolean): Promise<InstalledPlugin> {
    return this.#change(checkPluginName(name), async (registry) => {
      const plugin = find(registry, name);
      plugin.disabled = disabled;
      return plugin;
    });
  }

  /** @throws PortolanError `usage` for no name, `not_found` */
  async remove(name: string, at = new Date().toISOString()): Promise<InstalledPlugin> {
    return this.#change(checkPluginName(name), async (registry) => {
      const plugin = find(registry, name);
      registry.plugins = registry.plugins.filter((each) => each !== plugin);
      registry.removed[name] = at;
      return plugin;
    });
  }

  /** Notes the version of a signed index. @throws PortolanError `permission` if a higher one was seen */
  noteIndex(url: string, version: number): Promise<void> {
    return this.#change(null, async (registry) => {
      const seen = registry.indexes[url] ?? 0;
      if (version < seen) {
        throw new PortolanError(
          'permission',
          `the plugin index has version ${version}, but ${seen} was seen before`,
        );
      }
      registry.indexes[url] = version;
    });
  }

  async #place(content: PluginPackage, { archive, signature }: StoredPackage): Promise<void> {
    const { name, version } = content.manifest;
    const [temporary, target] = [
      join(this.dir, `.new-${randomBytes(6).toString('hex')}`),
      this.folderOf(name, version),
    ];
    const replaced = `${temporary}.old`;
    try {
      await mkdir(temporary, { mode: folderMode });
      const files = new Map([...content.files, [archiveName, archive]]);
      if (signature !== null) files.set(signatureName, Buffer.from(signature));
      await writeFiles(temporary, files);
      await mkdir(dirname(target), { recursive: true, mode: folderMode });
      // A link in place of the folder would lead out of it.
      if (!(await isPlainFolder(dirname(target)))) throw altered(name, `${dirname(target)} is not a folder`);
      await rename(target, replaced).catch(unlessMissing);
      this.#placed = name;
      await rename(temporary, target);
      await syncFolder(dirname(target));
    } catch (error) {
      throw diskError(error);
    } finally {
      await rm(temporary, { recursive: true, force: true });
      await rm(replaced, { recursive: true, force: true });
    }
  }

  /** Runs alone; then stores the registry and deletes what it no longer names. */
  async #change<T>(name: string | null, work: (registry: RegistryFile) => Promise<T>): Promise<T> {
    await mkdir(this.dir, { recursive: true, mode: folderMode });
    using _lock = lock(join(this.dir, '.lock'));
    const registry = await this.#read();
    const known = registry.plugins.some((plugin) => plugin.name === name);
    try {
      const result = await work(registry);
      registry.plugins.sort((a, b) => (a.name < b.name ? -1 : 1));
      await writeFileAtomic(join(this.dir, 'registry.json'), `${JSON.stringify(registry, null, 2)}\n`);
      return result;
    } finally {
      // A folder of that name that no plugin was installed to belongs to somebody else.
      await this.#sweep(known || this.#placed === name ? name : null);
    }
  }

  /** Deletes unfinished installs, and versions of one plugin that the registry does not name. Nothing else: the folder may be shared. */
  async #sweep(name: string | null): Promise<void> {
    for (const entry of await readdir(this.dir)) {
      const unfinished = /^\.new-[0-9a-f]{12}(?:\.old)?$/.test(entry);
      if (unfinished) await rm(join(this.dir, entry), { recursive: true, force: true });
    }
    if (name === null || !(await isPlainFolder(join(this.dir, name)))) return;
    const plugin = (await this.#read()).plugins.find((each) => each.name === name);
    const kept = [plugin?.current.version, plugin?.previous?.version];
    for (const version of await readdir(join(this.dir, name))) {
      if (!isPluginVersion(version) || kept.includes(version)) continue;
      await rm(join(this.dir, name, version), { recursive: true, force: true });
    }
    if (!plugin) await rmdir(join(this.dir, name)).catch(() => undefined);
  }

  async #read(): Promise<RegistryFile> {
    const bytes = await readCapped(join(this.dir, 'registry.json'), maxRegistryBytes);
    if (bytes === null) return { plugins: [], indexes: {}, removed: {} };
    try {
      const { plugins, indexes, removed = {} } = JSON.parse(bytes.toString()) as RegistryFile;
      const valid = plugins.every(isInstalled) && typeof indexes === 'object';
      if (valid && areRemovals(removed)) return { plugins, indexes, removed };
    } catch {
      // Below.
    }
    throw new PortolanError('configuration', `${join(this.dir, 'registry.json')} is damaged`);
  }
}

function find({ plugins }: RegistryFile, name: string): InstalledPlugin {
  checkPluginName(name);
  const plugin = plugins.find((each) => each.name === name);
  if (plugin) return plugin;
  throw new PortolanError('not_found', `no plugin "${name}" is installed; see: portolan plugin list`);
}

function isPluginName(name: string): boolean {
  try {
    return checkPluginName(name) === name;
  } catch {
    return false;
  }
}

function areRemovals(removed: unknown): boolean {
  if (typeof removed !== 'object' || removed === null) return false;
  return Object.entries(removed).every(([name, at]) => isPluginName(name) && typeof at === 'string');
}

/** Names and versions become paths: they are checked whenever they are read. */
function isInstalled({ name, current, previous }: InstalledPlugin): boolean {
  return isPluginName(name) && isVersion(current) && (previous === null || isVersion(previous));
}

function isVersion({ version, sha256, source, installed_at: at }: InstalledVersion): boolean {
  return isPluginVersion(version) && [sha256, source, at].every((text) => typeof text === 'string');
}

/** Exclusive lock that ends with its process. @throws PortolanError `conflict` */
function lock(path: string): Disposable {
  createPrivateFile(path);
  const guard = new DatabaseSync(path, { timeout: lockWaitMs });
  try {
    guard.exec('begin exclusive');
  } catch (error) {
    guard.close();
    throw new PortolanError(
      'conflict',
      'another command changes the installed plugins; try again',
      {},
      error,
    );
  }
  return { [Symbol.dispose]: () => guard.close() };
}

async function writeFiles(folder: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  const folders = new Set([folder]);
  for (const [path, bytes] of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: folderMode });
    folders.add(dirname(target));
    await using file = await open(target, 'wx', fileMode);
    await file.writeFile(bytes);
    await file.sync();
  }
  for (const each of folders) await syncFolder(each);
}

async function checkUnpacked(name: string, folder: string, { files }: PluginPackage): Promise<void> {
  const found = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const foreign = found.find((path) => !files.has(path) && path !== archiveName && path !== signatureName);
  if (foreign !== undefined) throw altered(name, `the file ${foreign} is not of its package`);
  for (const [path, bytes] of files) {
    const there = await readCapped(join(folder, path), maxPackageBytes);
    if (there === null || !there.equals(bytes)) throw altered(name, `the file ${path} is missing or changed`);
  }
}

/** @returns null if there is no such file, or a link or folder in its place, or it is larger */
async function readCapped(path: string, maxBytes: number): Promise<Buffer | null> {
  const file = await openIfThere(path).catch(() => null);
  if (file === null) return null;
  try {
    return (await file.stat()).size > maxBytes ? null : await file.readFile();
  } finally {
    await file.close();
  }
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

function altered(name: string, reason: string): PortolanError {
  return new PortolanError('configuration', `plugin ${name} was altered on disk: ${reason}`);
}
