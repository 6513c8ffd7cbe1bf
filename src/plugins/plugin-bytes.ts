import { basename } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import type { PluginKind } from './manifest.ts';
import { maxPackageBytes, readPackage, sha256Of } from './package-archive.ts';
import type { PluginFile } from './plugin.ts';
import type { StoredPackage } from './plugin-store.ts';

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

/** @throws PortolanError `configuration` if the bytes are no valid package */
export async function pluginOfArchive(
  { archive, signature }: StoredPackage,
  source: string,
): Promise<PluginBytes> {
  const { manifest, sha256, files } = await readPackage(archive);
  const { name, version, kind, entry, requires } = manifest;
  const permissions = manifest.permissions.filter((permission) => permission === 'network');
  return {
    file: { name, version, kind, sha256, archive: true, entry, permissions, source },
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
  if (/\.(tar\.gz|tgz|zip)$/i.test(path)) return pluginOfArchive({ archive: bytes, signature }, source);
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
  return {
    file: { name, version: bareVersion, kind, sha256, archive: false, entry, permissions: [], source },
    requires: [],
    bytes,
    signature,
    contents: new Map([[entry, bytes]]),
  };
}

/** As names of packages are, at most 63 characters. */
function bareName(stem: string): string {
  const plain = stem.toLowerCase().replace(/[^a-z0-9_-]+/g, '-');
  return (/^[a-z]/.test(plain) ? plain : `plugin-${plain}`).slice(0, 63);
}
