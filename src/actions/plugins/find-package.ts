import { open } from 'node:fs/promises';
import { PortolanError } from '../../domain/errors.ts';
import { isArchive, maxPackageBytes, sha256Of } from '../../plugins/package-archive.ts';
import { isArchiveName, type WrapOptions, wrapFile } from '../../plugins/plugin-bytes.ts';
import type { PluginStore, StoredPackage } from '../../plugins/plugin-store.ts';
import { maxSignatureBytes } from '../../plugins/signature.ts';
import { urlWithoutSecret } from '../catalogs/download-feed.ts';
import { downloadPart, signatureUrl } from './download-part.ts';
import { fetchPluginIndex, type IndexEntry, type IndexRules } from './plugin-index.ts';

/** Maximum number of plugins that one command installs by category; their packages are in memory at once. */
const maxOfCategory = 16;

/** The bytes of a package and its signature, unchecked. */
export interface FoundPackage extends StoredPackage {
  /** Without secrets. */
  source: string;
  /** Names that its plugin may have; empty = any. */
  names: string[];
}

export interface PackageOrder {
  /** Path, URL, or name or category in the index. */
  source: string;
  /** Expected SHA-256 of the file; null = not given. */
  sha256: string | null;
  /** For a bare file; null = nothing given. */
  wrap?: WrapOptions | null;
  /** The source is the name of a plugin and nothing else. */
  byName?: boolean;
  /** The bytes of the file that the source names: nothing is read. */
  given?: StoredPackage;
}

/**
 * Reads the packages that an order means: one from a file or a URL, one or those of a category through the index. Bare
 * files become packages.
 * @throws PortolanError `usage`, `not_found`, `network`, `timeout`, `configuration`, `permission`
 */
export async function findPackages(
  { source, sha256, wrap = null, byName = false, given }: PackageOrder,
  rules: IndexRules,
  store: PluginStore,
): Promise<FoundPackage[]> {
  if (sha256 !== null && !/^[0-9a-f]{64}$/i.test(sha256)) throw usage('--sha256 needs 64 hexadecimal digits');
  const found = given
    ? [{ ...given, source, names: [] }]
    : byName
      ? await throughIndex(source, true, rules, store)
      : await readSource(source, sha256, rules, store);
  if (sha256 !== null && found.length > 1)
    throw usage(`--sha256 is for one plugin; "${source}" is a category`);
  const packages: FoundPackage[] = [];
  for (const each of found) {
    if (sha256 !== null) checkSum(each, sha256);
    packages.push({ ...each, ...(await packageOf(each, wrap)), ...(byName && { names: [source] }) });
  }
  return packages;
}

const notGiven: WrapOptions = { name: null, version: null, permissions: [], stage: null };

/** An archive as it is, a bare file as a package. The end of the path of a URL or file says which. */
async function packageOf({ archive, signature, source }: FoundPackage, wrap: WrapOptions | null) {
  const bare = !isArchive(archive) && !isArchiveName(source);
  if (bare) return wrapFile(source, { archive, signature }, wrap ?? notGiven);
  if (wrap)
    throw usage(
      '--name, --plugin-version, --permission and --stage are for bare files: a package has its own',
    );
  return { archive, signature };
}

async function readSource(
  source: string,
  sha256: string | null,
  rules: IndexRules,
  store: PluginStore,
): Promise<FoundPackage[]> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) {
    if (sha256 === null) throw usage('a URL needs --sha256 with the sum of the package');
    return [await download(source, true)];
  }
  return /[/.]/.test(source) ? [await readPackageFile(source)] : throughIndex(source, false, rules, store);
}

async function throughIndex(
  name: string,
  byName: boolean,
  rules: IndexRules,
  store: PluginStore,
): Promise<FoundPackage[]> {
  const packages: FoundPackage[] = [];
  for (const entry of await findInIndex(name, byName, rules, store)) {
    const found = await download(entry.url, isHostOf(entry.url, rules.manifest_url));
    checkSum(found, entry.sha256);
    packages.push({ ...found, names: [entry.id, entry.name] });
  }
  return packages;
}

/** The plugin of that name, else all of that category. */
async function findInIndex(
  name: string,
  byName: boolean,
  rules: IndexRules,
  store: PluginStore,
): Promise<IndexEntry[]> {
  const plugins = await fetchPluginIndex(rules, store);
  const entry = plugins.find((each) => each.name === name || each.id === name);
  if (entry) return [entry];
  const category = byName ? [] : plugins.filter((each) => each.category === name);
  if (category.length > maxOfCategory)
    throw usage(`the category "${name}" has ${category.length} plugins; install them by name`);
  if (category.length > 0) return category;
  const known = [...new Set(plugins.flatMap((each) => each.category ?? []))].slice(0, maxOfCategory);
  const categories = known.length > 0 ? `; its categories: ${known.join(', ')}` : '';
  throw new PortolanError('not_found', `the plugin index has no plugin or category "${name}"${categories}`);
}

function isHostOf(url: string, other: string | null): boolean {
  return other !== null && URL.parse(url)?.hostname === URL.parse(other)?.hostname;
}

async function download(url: string, mayBePrivate: boolean): Promise<FoundPackage> {
  const rules = { mayBePrivate };
  const archive = await downloadPart(url, maxPackageBytes, rules);
  const signature = await downloadPart(signatureUrl(url), maxSignatureBytes, rules).catch(
    (error: unknown) => {
      // Without a signature it counts as unsigned; whether that is enough is decided later.
      if (error instanceof PortolanError && /the server responded 40[34]/.test(error.message)) return null;
      throw error;
    },
  );
  return { archive, signature: signature?.toString() ?? null, source: urlWithoutSecret(url), names: [] };
}

/** A package of the disk and `<path>.sig`. @throws PortolanError `not_found`, `usage`, `configuration` */
export async function readPackageFile(path: string): Promise<FoundPackage> {
  const archive = await readFile(path, maxPackageBytes);
  if (archive === null) throw new PortolanError('not_found', `cannot read ${path}: no such file`);
  const signature = await readFile(`${path}.sig`, maxSignatureBytes);
  return { archive, signature: signature?.toString() ?? null, source: path, names: [] };
}

/** @returns null if it does not exist */
async function readFile(path: string, maxBytes: number): Promise<Buffer | null> {
  try {
    await using file = await open(path, 'r');
    const facts = await file.stat();
    if (!facts.isFile()) throw usage(`${path} is not a file`);
    if (facts.size > maxBytes)
      throw new PortolanError('configuration', `${path} is larger than ${maxBytes} bytes`);
    return await file.readFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (error instanceof PortolanError) throw error;
    throw new PortolanError('usage', `cannot read ${path}: ${code ?? String(error)}`, {}, error);
  }
}

function checkSum({ archive, source }: FoundPackage, expected: string): void {
  const sum = sha256Of(archive);
  if (sum === expected.toLowerCase()) return;
  throw new PortolanError('configuration', `${source} refused: its SHA-256 is ${sum}, expected ${expected}`);
}

function usage(message: string): PortolanError {
  return new PortolanError('usage', message);
}
