import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import { stringify } from 'yaml';
import { PortolanError } from '../domain/errors.ts';
import { type ArchiveEntry, ArchiveNames, packageRefused, plainName } from './archive-names.ts';
import { manifestFile, type PluginManifest, parseManifest } from './manifest.ts';
import { unpackZip } from './zip-archive.ts';

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
  const files = await readEntries(bytes);
  const text = files.get(manifestFile);
  if (!text) throw packageRefused(`it has no ${manifestFile} at its root`);
  const manifest = parseManifest(decoded(text));
  compareFiles(manifest, files);
  return { manifest, sha256: sha256Of(bytes), files };
}

/** A package of these files; the manifest gets the hash of each. @throws PortolanError `configuration` */
export async function writePackage(files: ReadonlyMap<string, Buffer>): Promise<Buffer> {
  const text = files.get(manifestFile);
  if (!text) throw packageRefused(`it has no ${manifestFile} at its root`);
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

/** Whether the first bytes are those of zip or gzip; no archive can be both. */
export function isArchive(bytes: Buffer): boolean {
  return isZip(bytes) || bytes.toString('latin1', 0, 2) === '\x1f\x8b';
}

function isZip(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 2) === 'PK';
}

async function readEntries(bytes: Buffer): Promise<Map<string, Buffer>> {
  const names = new ArchiveNames();
  const add = (entry: ArchiveEntry) => names.add(entry);
  const entries = isZip(bytes)
    ? await unpackZip(bytes, maxPackageBytes, add)
    : await readTar(await gunzipped(bytes), add);
  return new Map([...entries].map(([name, content]) => [plainName(name), content]));
}

async function gunzipped(bytes: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: maxPackageBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw packageRefused('it is not a .tar.gz or .zip archive, or damaged', error);
  }
}

async function readTar(tar: Buffer, select: (entry: ArchiveEntry) => boolean): Promise<Map<string, Buffer>> {
  try {
    const entries = await unpackTar(tar, { strict: true, filter: select });
    return new Map(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? [])]));
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw packageRefused('the archive is damaged or incomplete', error);
  }
}

function compareFiles({ files: listed }: PluginManifest, files: ReadonlyMap<string, Buffer>): void {
  for (const path of files.keys()) {
    if (path !== manifestFile && !listed.has(path))
      throw packageRefused(`"${path}" is not listed in ${manifestFile}`);
  }
  for (const [path, hash] of listed) {
    const bytes = files.get(path);
    if (!bytes) throw packageRefused(`"${path}" is listed in ${manifestFile} but missing`);
    if (sha256Of(bytes) !== hash)
      throw packageRefused(`"${path}" does not match its SHA-256 in ${manifestFile}`);
  }
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw packageRefused(`${manifestFile} is not UTF-8 text`);
  }
}

function tooLarge(): PortolanError {
  return packageRefused(`it is larger than ${maxPackageBytes / 1024 / 1024} MiB`);
}
