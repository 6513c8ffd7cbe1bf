import { open } from 'node:fs/promises';
import { PortolanError } from '../../domain/errors.ts';
import { maxPackageBytes, sha256Of } from '../../plugins/package-archive.ts';
import type { PluginStore, StoredPackage } from '../../plugins/plugin-store.ts';
import { maxSignatureBytes } from '../../plugins/signature.ts';
import { urlWithoutSecret } from '../catalogs/download-feed.ts';
import { downloadPart, signatureUrl } from './download-part.ts';
import { fetchPluginIndex, type IndexRules } from './plugin-index.ts';

/** The bytes of a package and its signature, unchecked. */
export interface FoundPackage extends StoredPackage {
  /** Without secrets. */
  source: string;
}

export interface PackageOrder {
  /** Path, URL, or name in the index. */
  source: string;
  /** Expected SHA-256 of the package; null = not given. */
  sha256: string | null;
}

/**
 * Reads a package from a file, a URL or through the index.
 * @throws PortolanError `usage`, `not_found`, `network`, `timeout`, `configuration`, `permission`
 */
export async function findPackage(
  { source, sha256 }: PackageOrder,
  rules: IndexRules,
  store: PluginStore,
): Promise<FoundPackage> {
  if (sha256 !== null && !/^[0-9a-f]{64}$/i.test(sha256)) throw usage('--sha256 needs 64 hexadecimal digits');
  const found = await readSource(source, sha256, rules, store);
  if (sha256 !== null) checkSum(found, sha256);
  return found;
}

function readSource(source: string, sha256: string | null, rules: IndexRules, store: PluginStore) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) {
    if (sha256 === null) throw usage('a URL needs --sha256 with the sum of the package');
    return download(source, true);
  }
  return /[/.]/.test(source) ? readPackageFile(source) : throughIndex(source, rules, store);
}

async function throughIndex(name: string, rules: IndexRules, store: PluginStore): Promise<FoundPackage> {
  const entry = await findInIndex(name, rules, store);
  const found = await download(entry.url, isHostOf(entry.url, rules.manifest_url));
  checkSum(found, entry.sha256);
  return found;
}

async function findInIndex(name: string, rules: IndexRules, store: PluginStore) {
  const plugins = await fetchPluginIndex(rules, store);
  const entry = plugins.find((each) => each.name === name);
  if (entry) return entry;
  throw new PortolanError('not_found', `the plugin index has no "${name}"`);
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
  return { archive, signature: signature?.toString() ?? null, source: urlWithoutSecret(url) };
}

/** A package of the disk and `<path>.sig`. @throws PortolanError `not_found`, `usage`, `configuration` */
export async function readPackageFile(path: string): Promise<FoundPackage> {
  const archive = await readFile(path, maxPackageBytes);
  if (archive === null) throw new PortolanError('not_found', `cannot read ${path}: no such file`);
  const signature = await readFile(`${path}.sig`, maxSignatureBytes);
  return { archive, signature: signature?.toString() ?? null, source: path };
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
