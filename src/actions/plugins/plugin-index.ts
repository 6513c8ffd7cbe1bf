import { PortolanError } from '../../domain/errors.ts';
import type { PluginStore } from '../../plugins/plugin-store.ts';
import { evaluateSignature, maxSignatureBytes, type PublisherRules } from '../../plugins/signature.ts';
import { urlWithoutSecret } from '../catalogs/download-feed.ts';
import { downloadPart, signatureUrl } from './download-part.ts';

/** Maximum size of the index, bytes. */
const maxIndexBytes = 4 * 1024 * 1024;

/** The keys `plugins.*` that decide about the index. */
export type IndexRules = PublisherRules & { manifest_url: string | null };

export interface IndexEntry {
  /** Short name; that of the plugin if the entry has no other. */
  id: string;
  name: string;
  /** Null if it has none. */
  category: string | null;
  url: string;
  /** Hex. */
  sha256: string;
}

interface RawEntry {
  id?: unknown;
  category?: unknown;
  name?: unknown;
  url?: unknown;
  checksum?: unknown;
}

/**
 * Fetches the index of `plugins.manifest_url`, which a trusted publisher must have signed. Against rollback its version
 * may not go down, against freezing it expires.
 * @throws PortolanError `configuration`, `network`, `timeout`, `permission`
 */
export async function fetchPluginIndex(rules: IndexRules, store: PluginStore): Promise<IndexEntry[]> {
  const url = rules.manifest_url;
  if (url === null)
    throw new PortolanError('configuration', 'plugins.manifest_url is not set; give a file or a URL');
  const place = urlWithoutSecret(url);
  const bytes = await downloadPart(url, maxIndexBytes);
  const signature = await downloadPart(signatureUrl(url), maxSignatureBytes);
  const { state, reason, fingerprint } = evaluateSignature(bytes, signature.toString(), rules);
  if (state !== 'trusted') {
    const by = fingerprint === null ? '' : ` (publisher ${fingerprint})`;
    throw new PortolanError('permission', `the plugin index is refused, signature ${state}: ${reason}${by}`, {
      state,
      fingerprint,
    });
  }
  const { version, plugins } = parseIndex(bytes, place);
  await store.noteIndex(place, version);
  return plugins;
}

function parseIndex(bytes: Buffer, place: string): { version: number; plugins: IndexEntry[] } {
  const bad = (reason: string) => new PortolanError('configuration', `${place}: ${reason}`);
  let read: { version?: unknown; expires_at?: unknown; plugins?: unknown } | null;
  try {
    read = JSON.parse(bytes.toString()) as typeof read;
  } catch {
    throw bad('not JSON');
  }
  const { version, expires_at: end, plugins } = read ?? {};
  if (!Number.isSafeInteger(version) || Number(version) < 1)
    throw bad('version is not a whole number from 1');
  const until = typeof end === 'string' ? Date.parse(end) : Number.NaN;
  if (Number.isNaN(until)) throw bad('expires_at is missing or not a time');
  if (until <= Date.now())
    throw new PortolanError('permission', `the plugin index expired on ${String(end)}`);
  if (!Array.isArray(plugins)) throw bad('plugins is not a list');
  return {
    version: Number(version),
    plugins: plugins.map((each: RawEntry | null) => entryOf(each ?? {}, bad)),
  };
}

function entryOf(
  { id, name, category, url, checksum }: RawEntry,
  bad: (reason: string) => PortolanError,
): IndexEntry {
  const sum = /^sha256:([0-9a-f]{64})$/.exec(String(checksum))?.[1];
  const text = (value: unknown, missing: string | null) => (typeof value === 'string' ? value : missing);
  if (typeof name === 'string' && typeof url === 'string' && sum)
    return { id: text(id, name) ?? name, name, category: text(category, null), url, sha256: sum };
  throw bad('an entry lacks name, url or checksum (sha256:...)');
}
