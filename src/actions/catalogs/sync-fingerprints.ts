import { createHash } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Signature } from '../../knowledge/signatures/signature.ts';
import { syncedSets } from '../../scan-run/catalogs/load-fingerprints.ts';
import { folderMode, isMissing, writeFileAtomic } from '../../workspace/atomic-file.ts';
import type { SetHeader } from '../../workspace/fingerprint-sets.ts';
import { downloadFeed, urlWithoutSecret } from './download-feed.ts';
import { checkRules, maxRuleFeedBytes, readRulePath, unpackFeed } from './read-rule-feed.ts';

export interface FingerprintSyncRequest {
  /** Source of the rules; default `fingerprint.cache.url` without a file. */
  url?: string | undefined;
  file?: string | undefined;
  /** Sync even if the cache is fresh, and accept an unchanged, older or smaller feed. */
  force: boolean;
  signal?: AbortSignal;
}

export interface FingerprintSyncReport {
  /** `fresh`: younger than `fingerprint.cache.ttl`, nothing was downloaded. */
  state: 'updated' | 'unchanged' | 'fresh';
  /** The URL without secrets, or the file name. */
  source: string;
  /** ISO 8601 UTC; null if never synced. */
  checked_at: string | null;
  set: SetHeader | null;
}

/** Name of the set of synced rules. */
const syncedName = 'synced';

/** State of the last sync. */
interface SyncState {
  url: string;
  etag: string | null;
  checked_at: string;
  /** Of the set in force since. */
  sha256: string;
}

type Settings = Pick<Config, 'fingerprint' | 'workspace'>;

/**
 * Replaces the synced rules by those of a feed: a file of the native format as JSON, a Recog database, or a `.tar.gz`
 * of such files. A digest after the URL (`#sha256=<64 hex digits>`) must match the download. Everything is validated
 * before it replaces the rules in force; an older or smaller feed requires force.
 * @throws PortolanError `configuration` if the feed is invalid, `conflict` if it is older or smaller, `network`,
 * `timeout`, `usage`
 */
export async function syncFingerprints(
  config: Settings,
  order: FingerprintSyncRequest,
): Promise<FingerprintSyncReport> {
  const { dir } = config.workspace;
  if (order.file !== undefined) {
    const { signatures } = await checkRules(await readRulePath(order.file));
    const source = basename(order.file);
    const { mtime } = await stat(order.file);
    const installed = await installedHeader(dir);
    const set = await replace(dir, installed, { source, published: mtime, signatures }, order.force);
    return { state: 'updated', source, checked_at: new Date().toISOString(), set };
  }
  const url = order.url ?? config.fingerprint.cache.url;
  if (url === null) {
    throw new PortolanError(
      'usage',
      'no source to sync from: set fingerprint.cache.url, or use --url or --file',
    );
  }
  return syncFrom(url, config, order);
}

/** Whether a sync is due: a feed is configured, and its rules are older than `fingerprint.cache.ttl`. */
export async function isSyncDue(config: Settings, now = Date.now()): Promise<boolean> {
  const { url, ttl } = config.fingerprint.cache;
  if (url === null) return false;
  const state = await readState(config.workspace.dir);
  return state === null || state.url !== url || ageOf(state, now) >= ttl;
}

/** Setting the clock back does not make anything younger. */
function ageOf({ checked_at }: SyncState, now: number): number {
  const age = now - Date.parse(checked_at);
  return age >= 0 ? age : Number.POSITIVE_INFINITY;
}

async function syncFrom(
  url: string,
  config: Settings,
  { force, signal }: FingerprintSyncRequest,
): Promise<FingerprintSyncReport> {
  const { dir } = config.workspace;
  const source = urlWithoutSecret(url);
  const installed = await installedHeader(dir);
  const state = await readState(dir);
  const last = state?.url === url && state.sha256 === installed?.sha256 ? state : null;
  if (!force && last && ageOf(last, Date.now()) < config.fingerprint.cache.ttl) {
    return { state: 'fresh', source, checked_at: last.checked_at, set: installed };
  }
  const etag = force ? null : (last?.etag ?? null);
  const download = await downloadFeed(url, { maxBytes: maxRuleFeedBytes, etag, ...(signal && { signal }) });
  const checked_at = new Date().toISOString();
  if (download === null) {
    if (last) await writeState(dir, { ...last, checked_at });
    return { state: 'unchanged', source, checked_at, set: installed };
  }
  checkDigest(url, download.bytes);
  const texts = await unpackFeed(basename(new URL(url).pathname) || 'feed', download.bytes);
  const { signatures } = await checkRules(texts, 'json');
  const { published } = download;
  const set = await replace(dir, installed, { source, published, signatures }, force);
  await writeState(dir, { url, etag: download.etag, checked_at, sha256: set.sha256 });
  return { state: set.sha256 === installed?.sha256 ? 'unchanged' : 'updated', source, checked_at, set };
}

/** Null if there is none, or it is damaged. */
async function installedHeader(dir: string): Promise<SetHeader | null> {
  return syncedSets(dir)
    .read(syncedName)
    .then(
      ({ header }) => header,
      () => null,
    );
}

interface FetchedRules {
  source: string;
  published: Date | null;
  signatures: readonly Signature[];
}

/** Installs rules. @throws PortolanError `conflict` for an unforced step back */
async function replace(
  dir: string,
  installed: SetHeader | null,
  { source, published, signatures }: FetchedRules,
  force: boolean,
): Promise<SetHeader> {
  const reason = force || installed === null ? null : stepBack(installed, published, signatures.length);
  if (reason !== null) {
    throw new PortolanError(
      'conflict',
      `${source}: ${reason}; override with \`portolan fingerprint sync --force\``,
    );
  }
  const published_at = published?.toISOString();
  const facts = {
    name: syncedName,
    origin: 'synced',
    source,
    ...(published_at && { published_at }),
  } as const;
  return syncedSets(dir).write(facts, signatures);
}

/** Why a feed is older or smaller than the rules in force, or null. */
function stepBack(installed: SetHeader, published: Date | null, rules: number): string | null {
  const { published_at, signatures } = installed;
  if (published && published_at && published.getTime() < Date.parse(published_at))
    return `published ${published.toISOString()}, older than the rules in force (${published_at})`;
  return rules < signatures ? `it has ${rules} rules, fewer than the ${signatures} in force` : null;
}

function checkDigest(url: string, bytes: Buffer): void {
  const { hash } = new URL(url);
  if (hash === '') return;
  const [, wanted] = /^#sha256=([0-9a-fA-F]{64})$/.exec(hash) ?? [];
  if (wanted === undefined) {
    throw new PortolanError(
      'configuration',
      `${urlWithoutSecret(url)}: the part after "#" must be sha256=<64 hex digits>`,
    );
  }
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found === wanted.toLowerCase()) return;
  throw new PortolanError(
    'configuration',
    `${urlWithoutSecret(url)} rejected: its SHA-256 is ${found}, expected ${wanted}`,
  );
}

function stateFile(workspaceDir: string): string {
  return join(syncedSets(workspaceDir).dir, 'sync.json');
}

/** Null if nothing was synced yet, or the state is unreadable: then it is downloaded again. */
async function readState(workspaceDir: string): Promise<SyncState | null> {
  try {
    const state = JSON.parse(await readFile(stateFile(workspaceDir), 'utf8')) as Partial<SyncState> | null;
    const { url, etag = null, checked_at, sha256 } = state ?? {};
    if (typeof url !== 'string' || typeof sha256 !== 'string' || typeof checked_at !== 'string') return null;
    if (Number.isNaN(Date.parse(checked_at))) return null;
    return { url, etag: typeof etag === 'string' ? etag : null, checked_at, sha256 };
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw error;
  }
}

async function writeState(workspaceDir: string, state: SyncState): Promise<void> {
  await mkdir(syncedSets(workspaceDir).dir, { recursive: true, mode: folderMode });
  await writeFileAtomic(stateFile(workspaceDir), `${JSON.stringify(state)}\n`);
}
