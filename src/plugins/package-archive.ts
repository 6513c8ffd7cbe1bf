import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import { stringify } from 'yaml';
import { PortolanError } from '../domain/errors.ts';
import { manifestFile, maxPluginFiles, type PluginManifest, parseManifest, pathProblem } from './manifest.ts';

/** Maximum size of a package, packed and unpacked, bytes. */
export const maxPackageBytes = 64 * 1024 * 1024;

export interface PluginPackage {
  manifest: PluginManifest;
  /** Of the archive, hex. */
  sha256: string;
  /** Contents by path, including the manifest. */
  files: Map<string, Buffer>;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Unpacks a package in memory and checks all of it: nothing is written.
 * @throws PortolanError `configuration` with the reason
 */
export async function readPackage(bytes: Buffer): Promise<PluginPackage> {
  if (bytes.length > maxPackageBytes) throw tooLarge();
  const files = await readEntries(await decompressed(bytes));
  const text = files.get(manifestFile);
  if (!text) throw refused(`it has no ${manifestFile} at its root`);
  const manifest = parseManifest(decoded(text));
  compareFiles(manifest, files);
  return { manifest, sha256: sha256Of(bytes), files };
}

/** A package of these files; the manifest gets the hash of each. @throws PortolanError `configuration` */
export async function writePackage(files: ReadonlyMap<string, Buffer>): Promise<Buffer> {
  const text = files.get(manifestFile);
  if (!text) throw refused(`it has no ${manifestFile} at its root`);
  const draft = parseManifest(decoded(text), { draft: true });
  const contents = [...files].filter(([path]) => path !== manifestFile).sort(([a], [b]) => (a < b ? -1 : 1));
  const hashes = Object.fromEntries(contents.map(([path, bytes]) => [path, sha256Of(bytes)]));
  const manifest = Buffer.from(stringify({ ...draft, files: hashes }));
  // The same files give the same package.
  const entries = [[manifestFile, manifest] as const, ...contents].map(([name, data]) => ({
    header: { name, size: data.length, mode: 0o600, mtime: new Date(0) },
    body: new Uint8Array(data),
  }));
  const archive = await promisify(gzip)(await packTar(entries));
  await readPackage(archive);
  return archive;
}

async function decompressed(bytes: Buffer): Promise<Buffer> {
  if (bytes.toString('latin1', 0, 2) === 'PK') throw refused('zip packages are not supported; use .tar.gz');
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: maxPackageBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw refused('it is not a .tar.gz archive, or damaged', error);
  }
}

async function readEntries(tar: Buffer): Promise<Map<string, Buffer>> {
  const names = new EntryNames();
  try {
    const entries = await unpackTar(tar, { strict: true, filter: (header) => names.add(header) });
    return new Map(entries.map(({ header, data }) => [plainName(header.name), Buffer.from(data ?? [])]));
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw refused('the archive is damaged or incomplete', error);
  }
}

/** The name as `tar -C folder .` writes it, without the leading `./`. */
function plainName(name: string): string {
  return name.replace(/^\.\//, '');
}

/** Names of an archive so far; files and folders, compared without case. */
class EntryNames {
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, string>();
  #count = 0;

  /** @returns whether it is a file @throws PortolanError for an entry that no package may have */
  add({ name, type = 'file' }: { name: string; type?: string }): boolean {
    // Folders count, too: as many as files at most, and the manifest.
    if (++this.#count > 2 * maxPluginFiles + 1) throw refused(`more than ${2 * maxPluginFiles + 1} entries`);
    if (type !== 'file' && type !== 'directory')
      throw refused(`"${name}" is neither a file nor a folder (${type})`);
    const path = type === 'file' ? plainName(name) : plainName(name).replace(/\/$/, '');
    if (type === 'directory' && (path === '' || path === '.')) return false;
    const problem = pathProblem(path);
    if (problem) throw refused(`"${name.slice(0, 80)}" ${problem}`);
    this.#addFolders(type === 'file' ? path.split('/').slice(0, -1) : path.split('/'), path);
    if (type === 'directory') return false;
    const key = path.toLowerCase();
    if (this.#files.has(key)) throw refused(`"${path}" is in it twice, or with another case`);
    if (this.#folders.has(key)) throw refused(`"${path}" is both a file and a folder`);
    this.#files.add(key);
    return true;
  }

  #addFolders(segments: readonly string[], of: string): void {
    for (let depth = 1; depth <= segments.length; depth++) {
      const folder = segments.slice(0, depth).join('/');
      const key = folder.toLowerCase();
      if (this.#files.has(key)) throw refused(`"${folder}" is both a file and a folder`);
      const known = this.#folders.get(key) ?? folder;
      if (known !== folder) throw refused(`"${of}" differs from "${known}" in case only`);
      this.#folders.set(key, folder);
    }
  }
}

function compareFiles({ files: listed }: PluginManifest, files: ReadonlyMap<string, Buffer>): void {
  for (const path of files.keys()) {
    if (path !== manifestFile && !listed.has(path))
      throw refused(`"${path}" is not listed in ${manifestFile}`);
  }
  for (const [path, hash] of listed) {
    const bytes = files.get(path);
    if (!bytes) throw refused(`"${path}" is listed in ${manifestFile} but missing`);
    if (sha256Of(bytes) !== hash) throw refused(`"${path}" does not match its SHA-256 in ${manifestFile}`);
  }
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused(`${manifestFile} is not UTF-8 text`);
  }
}

function tooLarge(): PortolanError {
  return refused(`it is larger than ${maxPackageBytes / 1024 / 1024} MiB`);
}

function refused(reason: string, cause?: unknown): PortolanError {
  return new PortolanError('configuration', `plugin package refused: ${reason}`, {}, cause);
}
