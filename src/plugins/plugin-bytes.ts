import { basename, extname } from 'node:path';
import { stringify } from 'yaml';
import { PortolanError } from '../domain/errors.ts';
import type { ModuleType } from '../engine/module.ts';
import { isPluginVersion, isStage, manifestFile, type PluginKind, pathProblem } from './manifest.ts';
import { maxPackageBytes, readPackage, sha256Of, writePackage } from './package-archive.ts';
import type { PluginFile } from './plugin.ts';
import type { StoredPackage } from './plugin-store.ts';
import { signedHash } from './signature.ts';

/** The bytes of a plugin that were hashed, and what follows from them alone. */
export interface PluginBytes {
  file: Omit<PluginFile, 'folder'>;
  /** Names of other plugins. */
  requires: string[];
  /** The archive, or the bare file. */
  bytes: Buffer;
  signature: string | null;
  /** Contents of the folder, by path. */
  contents: ReadonlyMap<string, Buffer>;
}

/** Kinds of bare files by extension. */
const kinds: Readonly<Record<string, PluginKind>> = {
  so: 'native',
  node: 'script',
  mjs: 'script',
  cjs: 'script',
  js: 'script',
  mts: 'script',
  ts: 'script',
  wasm: 'wasm',
  yaml: 'rules',
  yml: 'rules',
};
/** Version of a bare file until it says its own. */
const bareVersion = '0.0.0';
/** Version of the package of a bare file. */
const wrappedVersion = '0.1.0';

/** @throws PortolanError `configuration` if the bytes are no valid package */
export async function pluginOfArchive(
  { archive, signature }: StoredPackage,
  source: string,
): Promise<PluginBytes> {
  const { manifest, sha256, files } = await readPackage(archive);
  const { name, version, kind, entry, requires, stage = null } = manifest;
  const permissions = manifest.permissions.filter((permission) => permission === 'network');
  return {
    file: { name, version, kind, sha256, archive: true, entry, permissions, stage, source },
    requires,
    bytes: archive,
    signature,
    contents: files,
  };
}

/**
 * A file as it is, or a package.
 * @param path its name decides what it is
 * @throws PortolanError `usage` for an unknown extension, `configuration` for a damaged package
 */
export async function pluginOfFile(
  path: string,
  { archive: bytes, signature }: StoredPackage,
  source = `file ${path}`,
): Promise<PluginBytes> {
  if (isArchiveName(path)) return pluginOfArchive({ archive: bytes, signature }, source);
  const entry = basename(path);
  const [, stem = '', extension = ''] = /^(.*)\.([^.]+)$/.exec(entry) ?? [];
  const kind = Object.hasOwn(kinds, extension.toLowerCase()) ? kinds[extension.toLowerCase()] : undefined;
  if (kind === undefined) {
    const known = Object.keys(kinds).map((each) => `.${each}`);
    throw new PortolanError(
      'usage',
      `${path} is no plugin: its name must end in one of ${known.join(' ')} .tar.gz`,
    );
  }
  if (bytes.length > maxPackageBytes)
    throw new PortolanError('configuration', `${path} is larger than ${maxPackageBytes} bytes`);
  const name = bareName(stem);
  const sha256 = sha256Of(bytes);
  const { version, stage } = declaredIn(kind, bytes);
  const said = { version: version ?? bareVersion, stage };
  return {
    file: { name, kind, sha256, archive: false, entry, permissions: [], source, ...said },
    requires: [],
    bytes,
    signature,
    contents: new Map([[entry, bytes]]),
  };
}

/** Whether a path is that of a package, and not that of a bare file. */
export function isArchiveName(path: string): boolean {
  return /\.(tar\.gz|tgz|zip)$/i.test(path);
}

/** What a package has and a bare file has not; null = not given. */
export interface WrapOptions {
  name: string | null;
  version: string | null;
  permissions: string[];
  stage: ModuleType | null;
}

/**
 * The package of a bare file; its signature stays that of the file.
 * @param path its name decides kind and name
 * @throws PortolanError `usage` for an unknown extension, `configuration` for a name, version or permission that no package has
 */
export async function wrapFile(
  path: string,
  stored: StoredPackage,
  { name, version, permissions, stage }: WrapOptions,
): Promise<StoredPackage> {
  const { file, bytes } = await pluginOfFile(path, stored);
  // Such as one with a space in its name.
  const entry = pathProblem(file.entry) === null ? file.entry : `${file.name}${extname(file.entry)}`;
  const manifest = {
    name: name ?? file.name,
    version: version ?? (file.version === bareVersion ? wrappedVersion : file.version),
    kind: file.kind,
    entry,
    permissions,
    ...((stage ?? file.stage) && { stage: stage ?? file.stage }),
  };
  const archive = await writePackage(
    new Map([
      [entry, bytes],
      [manifestFile, Buffer.from(stringify(manifest))],
    ]),
  );
  return { archive, signature: stored.signature };
}

/**
 * The bytes that the signature of a plugin is about: the archive or the bare file. Of a package with one file, which grants
 * nothing and requires nothing, that file may be signed: it could do the same without the package.
 */
export function signedBytes({ file, requires, bytes, signature, contents }: PluginBytes): Buffer {
  const entry = contents.get(file.entry);
  const wrapped =
    file.archive && contents.size === 2 && requires.length === 0 && file.permissions.length === 0;
  return wrapped && entry && signedHash(signature) === sha256Of(entry) ? entry : bytes;
}

/** Version and stage as the text of a script or a file of rules states them: nothing is run to learn them. */
function declaredIn(kind: PluginKind, bytes: Buffer): { version: string | null; stage: ModuleType | null } {
  const isText = (kind === 'script' || kind === 'rules') && !bytes.includes(0);
  const text = isText ? bytes.toString() : '';
  const [, version = ''] = /[\s{,]version ?[:=] ?['"]?([\w.+-]{1,50})/.exec(text) ?? [];
  const [, stage = ''] = /[\s{,]stage ?[:=] ?['"]([a-z]{1,20})['"]/.exec(text) ?? [];
  return {
    version: isPluginVersion(version) ? version : null,
    stage: kind === 'script' && isStage(stage) ? stage : null,
  };
}

/** As names of packages are, at most 63 characters. */
function bareName(stem: string): string {
  const plain = stem.toLowerCase().replace(/[^a-z0-9_-]+/g, '-');
  return (/^[a-z]/.test(plain) ? plain : `plugin-${plain}`).slice(0, 63);
}
