import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import { GenerationWriter } from '../../knowledge/vulndb/generation/generation-writer.ts';
import type { GenerationManifest, SourceState } from '../../knowledge/vulndb/generation/manifest.ts';
import { FeedProblem, fileBytes } from '../../knowledge/vulndb/import/feed-bytes.ts';
import { type FeedFormat, type FeedReport, importFeed } from '../../knowledge/vulndb/import/import-feed.ts';
import { diskError } from '../../workspace/atomic-file.ts';
import { DownloadProblem, fetchFeed } from './fetch-feed.ts';
import { changeWindows, checkPage, contentHash, readMeta, type Window } from './nvd-files.ts';
import { type DownloadedFeed, discardDownload, resumeDownload } from './resume-download.ts';
import type { SourceUrls, SyncSource } from './vulndb-sources.ts';

export interface VulndbSyncRequest {
  /** Folder of the vulnerability data. */
  dir: string;
  /** Without `nvd-files` the first sync reads all pages of NVD. */
  urls: SourceUrls;
  nvdApiKey: string | null;
  sources: readonly SyncSource[];
  /** Of NVD, changes since this time (ISO 8601), instead of since the last sync. */
  since: string | null;
  /** Full sync: no saved positions, no conditional requests, and no damaged data. */
  force: boolean;
  signal: AbortSignal;
  pace?: Partial<SyncIntervals>;
  /** Progress messages for people. */
  onProgress?: (text: string) => void;
}

/** Request intervals and timeouts, milliseconds. */
export interface SyncIntervals {
  /** Between two pages of NVD: it allows 5 requests in 30 s, with a key 50. */
  pauseMs: number;
  /** Before the first retry; doubled for each further one. */
  retryMs: number;
  tries: number;
  /** Maximum Retry-After that is respected. */
  longestWaitMs: number;
  /** Idle timeout, and total timeout of one response. */
  idleMs: number;
  totalMs: number;
}

export interface SyncedSource {
  source: SyncSource;
  status: 'updated' | 'unchanged' | 'failed';
  accepted: number;
  refused: number;
  /** The first few. */
  reasons: string[];
  error: string | null;
}

export interface VulndbSyncReport {
  manifest: GenerationManifest | null;
  synced: SyncedSource[];
}

/** Clocks differ, and current changes may appear a little later. */
const overlapMs = 5 * 60_000;
/** Records per page, the maximum of NVD. */
const pageSize = 2000;
/** Maximum pages per window. */
const maxPages = 2500;
/** Maximum size of a response, decompressed, bytes. */
const maxResponseBytes: Record<SyncSource, number> = {
  nvd: 512 * 1024 * 1024,
  kev: 64 * 1024 * 1024,
  epss: 256 * 1024 * 1024,
  debian: 512 * 1024 * 1024,
  ubuntu: 1024 * 1024 * 1024,
  redhat: 64 * 1024 * 1024,
  alpine: 64 * 1024 * 1024,
};
/** Maximum size of a checksum file of NVD, bytes. */
const maxMetaBytes = 4096;
/** The first year of NVD's files. */
const firstNvdYear = 2002;
/** Branches of Alpine; those that it does not have are skipped. */
const alpineBranches = Array.from({ length: 10 }, (_, index) => `v3.${17 + index}`);
/** Longest pause between two pages of Red Hat, milliseconds. */
const redHatPauseMs = 1000;
/** CVEs of a page of Red Hat. */
const redHatPage = 1000;
/** Maximum pages of Red Hat. */
const maxRedHatPages = 500;
/** Maximum number of reasons reported per source. */
const maxReasons = 5;

/**
 * Syncs all sources and puts the next generation of the data in force. A source that fails keeps its old data and
 * does not affect the others.
 * @returns a null manifest if every source failed, and then nothing has changed
 * @throws PortolanError `conflict` while another import runs or if the existing data is damaged,
 * `insufficient_storage`, `unavailable` if canceled
 */
export async function syncVulndb(request: VulndbSyncRequest): Promise<VulndbSyncReport> {
  const writer = openWriter(request);
  try {
    const run = new Sync(request, writer);
    // The small ones first: a long download from NVD that fails does not affect them.
    const order = (['kev', 'epss', 'alpine', 'debian', 'ubuntu', 'redhat', 'nvd'] as const).filter((name) =>
      request.sources.includes(name),
    );
    for (const source of order) await run.take(source);
    const { synced, states } = run;
    if (synced.every(({ status }) => status === 'failed')) return { manifest: null, synced };
    request.signal.throwIfAborted();
    request.onProgress?.('building the index');
    const { signal } = request;
    const manifest = await writer.commit({ sources: states, synced: true, signal });
    await rm(downloadsIn(request.dir), { recursive: true, force: true });
    return { manifest, synced };
  } catch (error) {
    if (request.signal.aborted) {
      throw new PortolanError('unavailable', 'The sync was canceled; nothing was changed.', {}, error);
    }
    throw diskError(error);
  } finally {
    writer.close();
  }
}

/** Files of a sync that has not ended: the next one goes on with them. */
function downloadsIn(dir: string): string {
  return join(dir, 'downloads');
}

function openWriter({ dir, force }: VulndbSyncRequest): GenerationWriter {
  try {
    return GenerationWriter.open(dir);
  } catch (error) {
    if (!force || !(error instanceof PortolanError)) throw error;
    return GenerationWriter.open(dir, true);
  }
}

class Sync {
  readonly #request: VulndbSyncRequest;
  readonly #writer: GenerationWriter;
  readonly #pace: SyncIntervals;
  readonly synced: SyncedSource[] = [];
  readonly states: Record<string, SourceState> = {};
  /** Time of the last NVD request, monotonic milliseconds. */
  #requestedAt = Number.NEGATIVE_INFINITY;

  constructor(request: VulndbSyncRequest, writer: GenerationWriter) {
    this.#request = request;
    this.#writer = writer;
    this.#pace = {
      pauseMs: request.nvdApiKey === null ? 6000 : 700,
      retryMs: 6000,
      tries: 6,
      longestWaitMs: 600_000,
      idleMs: 60_000,
      totalMs: 1_800_000,
      ...request.pace,
    };
  }

  async take(source: SyncSource): Promise<void> {
    const outcome: SyncedSource = {
      source,
      status: 'updated',
      accepted: 0,
      refused: 0,
      reasons: [],
      error: null,
    };
    this.synced.push(outcome);
    const before = this.#writer.checkpoint();
    try {
      if (source === 'nvd') await this.#takeNvd(outcome);
      else if (source === 'redhat') await this.#takeRedHat(outcome);
      else if (source === 'alpine') await this.#takeAlpine(outcome);
      else await this.#takeFile(source, source, this.#urlOf(source), outcome);
    } catch (error) {
      const passing = error instanceof DownloadProblem || error instanceof FeedProblem;
      if (!passing) throw error;
      this.#writer.rollBack(before);
      for (const key of Object.keys(this.states))
        if (key === source || key.startsWith(`${source}/`)) delete this.states[key];
      outcome.status = 'failed';
      outcome.error = this.#messageOf(source, error);
    }
  }

  /** A complete list, if it has changed since the last time. @param key of its state */
  async #takeFile(source: SyncSource, key: string, url: string, outcome: SyncedSource): Promise<void> {
    const known = this.#known(key);
    this.#report(`requesting ${key} from ${hostOf(url)}`);
    await this.#patiently(source, async () => {
      const file = await this.#download(source, key, url, conditions(known));
      if (file === null) {
        if (outcome.accepted + outcome.refused === 0) outcome.status = 'unchanged';
        if (known) this.states[key] = { ...known, updated_at: now() };
        return;
      }
      const report = await this.#importFile(source, file);
      add(outcome, report);
      outcome.status = 'updated';
      const { etag, lastModified: last_modified } = file;
      this.states[key] = { updated_at: now(), data_date: report.date, mark: null, etag, last_modified };
    });
  }

  async #download(source: SyncSource, key: string, url: string, headers: Record<string, string>) {
    const folder = downloadsIn(this.#request.dir);
    const name = key.replaceAll('/', '-');
    const most = maxResponseBytes[source];
    return await resumeDownload({ ...this.#limits(), url, folder, name, most, redirects: 5, headers });
  }

  /** A file that is broken is downloaded again. */
  async #importFile(source: SyncSource, { path }: DownloadedFeed, sha256?: string): Promise<FeedReport> {
    try {
      if (sha256 !== undefined && (await contentHash(path, maxResponseBytes[source])) !== sha256)
        throw new FeedProblem('has another checksum than its .meta file names');
      const report = await importFeed(fileBytes(path), this.#writer, maxResponseBytes[source]);
      expectFormat(report, source);
      return report;
    } catch (error) {
      await discardDownload(path);
      throw error;
    }
  }

  /** Each branch has two files. */
  async #takeAlpine(outcome: SyncedSource): Promise<void> {
    outcome.status = 'unchanged';
    let found = 0;
    for (const branch of alpineBranches)
      for (const repository of ['main', 'community']) {
        const url = new URL(`${branch}/${repository}.json`, slashed(this.#urlOf('alpine'))).href;
        try {
          await this.#takeFile('alpine', `alpine/${branch}/${repository}`, url, outcome);
          found++;
        } catch (error) {
          if (!(error instanceof DownloadProblem) || error.status !== 404) throw error;
        }
      }
    if (found === 0) throw new DownloadProblem('has no branch that is known here', false);
  }

  /** All pages: its list has no order by changes. */
  async #takeRedHat(outcome: SyncedSource): Promise<void> {
    for (let page = 1; page <= maxRedHatPages; page++) {
      if (page > 1) await this.#wait(Math.min(this.#pace.pauseMs, redHatPauseMs));
      const count = await this.#patiently('redhat', () => this.#redHatPage(page, outcome));
      this.#report(`Red Hat: ${outcome.accepted} CVEs`);
      if (count < redHatPage) break;
    }
    this.states['redhat'] = {
      updated_at: now(),
      data_date: null,
      mark: null,
      etag: null,
      last_modified: null,
    };
  }

  async #redHatPage(page: number, outcome: SyncedSource): Promise<number> {
    const url = new URL(this.#urlOf('redhat'));
    url.searchParams.set('per_page', String(redHatPage));
    url.searchParams.set('page', String(page));
    const { body } = await fetchFeed(url.href, { ...this.#limits(), redirects: 5 });
    try {
      const report = await importFeed(body, this.#writer, maxResponseBytes.redhat);
      expectFormat(report, 'redhat');
      add(outcome, report);
      return report.accepted + report.refused;
    } catch (error) {
      // The page after the last one is an empty list.
      if (page > 1 && error instanceof FeedProblem && error.kind === 'unknown') return 0;
      throw error;
    }
  }

  /** The yearly files of NVD, with their checksums. @returns the time up to which they have all changes */
  async #takeNvdFiles(base: string, outcome: SyncedSource): Promise<string> {
    let mark = new Date().toISOString();
    for (let year = firstNvdYear; year <= new Date().getUTCFullYear(); year++) {
      const name = `nvdcve-2.0-${year}`;
      this.#report(`NVD: requesting ${name} from ${hostOf(base)}`);
      await this.#patiently('nvd', async () => {
        const { sha256, changed } = await this.#meta(new URL(`${name}.meta`, slashed(base)).href);
        const file = await this.#download('nvd', name, new URL(`${name}.json.gz`, slashed(base)).href, {});
        if (file === null) throw new DownloadProblem('the server has no such file', false);
        add(outcome, await this.#importFile('nvd', file, sha256));
        if (changed < mark) mark = changed;
      });
    }
    return mark;
  }

  async #meta(url: string): Promise<{ sha256: string; changed: string }> {
    const { body } = await fetchFeed(url, { ...this.#limits(), redirects: 5 });
    let text = '';
    for await (const chunk of body) {
      text += Buffer.from(chunk).toString('latin1');
      if (text.length > maxMetaBytes) throw new FeedProblem('has a .meta file that is too large');
    }
    return readMeta(text);
  }

  /** All pages of all windows; the position moves only after that. */
  async #takeNvd(outcome: SyncedSource): Promise<void> {
    const began = Date.now();
    const old = this.#writer.base?.sources['nvd'] ?? null;
    const mark = this.#request.force ? null : (old?.mark ?? null);
    const files = this.#request.urls['nvd-files'];
    const filled =
      mark === null && this.#request.since === null && files !== undefined
        ? await this.#takeNvdFiles(files, outcome)
        : mark;
    const start = this.#request.since ?? (filled && new Date(Date.parse(filled) - overlapMs).toISOString());
    let newest: string | null = null;
    for (const window of changeWindows(start, began)) {
      const date = await this.#takeWindow(window, outcome);
      newest = date ?? newest;
    }
    if (outcome.accepted + outcome.refused === 0) outcome.status = 'unchanged';
    // A start after the saved position would leave a gap.
    const gap = this.#request.since !== null && mark !== null && this.#request.since > mark;
    this.states['nvd'] = {
      updated_at: now(),
      data_date: newest ?? old?.data_date ?? null,
      mark: gap ? mark : new Date(began).toISOString(),
      etag: null,
      last_modified: null,
    };
  }

  /** @returns the date of the response */
  async #takeWindow(window: Window | null, outcome: SyncedSource): Promise<string | null> {
    let start = 0;
    let date: string | null = null;
    for (let page = 0; page < maxPages; page++) {
      const report = await this.#patiently('nvd', () => this.#page(window, start));
      add(outcome, report);
      date = report.date ?? date;
      const { total, count } = report.page ?? { total: 0, count: 0 };
      start += count;
      this.#report(`NVD: ${start} of ${total} records${window ? ` changed from ${window.from} on` : ''}`);
      if (start >= total) return date;
    }
    throw new DownloadProblem(`more than ${maxPages} pages`, false);
  }

  async #page(window: Window | null, start: number): Promise<FeedReport> {
    await this.#keepPace();
    const url = new URL(this.#urlOf('nvd'));
    url.searchParams.set('resultsPerPage', String(pageSize));
    url.searchParams.set('startIndex', String(start));
    if (window) {
      url.searchParams.set('lastModStartDate', window.from);
      url.searchParams.set('lastModEndDate', window.to);
    }
    const { nvdApiKey } = this.#request;
    const response = await fetchFeed(url.href, {
      ...this.#limits(),
      // The key is for this host only.
      redirects: 0,
      headers: { accept: 'application/json', ...(nvdApiKey !== null && { apiKey: nvdApiKey }) },
    });
    const report = await importFeed(response.body, this.#writer, maxResponseBytes.nvd);
    checkPage(report, start);
    return report;
  }

  async #keepPace(): Promise<void> {
    const wait = this.#requestedAt + this.#pace.pauseMs - performance.now();
    if (wait > 0) await this.#wait(wait);
    this.#requestedAt = performance.now();
  }

  /** Retries temporary failures: throttling, a lost connection, a damaged response. */
  async #patiently<T>(source: SyncSource, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const before = this.#writer.checkpoint();
      try {
        return await work();
      } catch (error) {
        this.#writer.rollBack(before);
        const wait = this.#waitAfter(error, attempt);
        if (wait === null) throw error;
        this.#report(`${this.#messageOf(source, error)}; retrying in ${Math.ceil(wait / 1000)} s`);
        await this.#wait(wait);
      }
    }
  }

  /** @returns null if a retry is useless */
  #waitAfter(error: unknown, attempt: number): number | null {
    const passing = error instanceof FeedProblem || (error instanceof DownloadProblem && error.passing);
    if (!passing || attempt >= this.#pace.tries || this.#request.signal.aborted) return null;
    const requested = error instanceof DownloadProblem ? error.retryAfterMs : null;
    if (requested !== null) return requested <= this.#pace.longestWaitMs ? requested : null;
    const jitter = 0.75 + Math.random() / 2;
    return Math.min(this.#pace.longestWaitMs, this.#pace.retryMs * 2 ** (attempt - 1) * jitter);
  }

  async #wait(ms: number): Promise<void> {
    const { signal } = this.#request;
    await sleep(ms, undefined, { signal }).catch(() => {
      throw new DownloadProblem('canceled', false);
    });
  }

  #urlOf(source: SyncSource): string {
    const url = this.#request.urls[source];
    if (url === undefined) throw new DownloadProblem('has no address', false);
    return url;
  }

  #limits() {
    const { idleMs, totalMs } = this.#pace;
    return { idleMs, totalMs, signal: this.#request.signal };
  }

  #known(key: string): SourceState | null {
    return this.#request.force ? null : (this.#writer.base?.sources[key] ?? null);
  }

  #messageOf(source: SyncSource, error: unknown): string {
    const { message } = error as Error;
    const host = hostOf(this.#request.urls[source] ?? '');
    return error instanceof FeedProblem
      ? `${source}: the response of ${host} ${message}`
      : `${source}: ${host}: ${message}`;
  }

  #report(text: string): void {
    this.#request.onProgress?.(text);
  }
}

function expectFormat({ format }: FeedReport, source: FeedFormat): void {
  if (format !== source) throw new FeedProblem(`is a feed of another format (${format})`);
}

function add(outcome: SyncedSource, { accepted, refused, reasons }: FeedReport): void {
  outcome.accepted += accepted;
  outcome.refused += refused;
  outcome.reasons.push(...reasons.slice(0, maxReasons - outcome.reasons.length));
}

function conditions(known: SourceState | null): Record<string, string> {
  return {
    ...(known?.etag && { 'if-none-match': known.etag }),
    ...(known?.last_modified && { 'if-modified-since': known.last_modified }),
  };
}

function slashed(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

/** Neither path nor credentials of a URL are shown. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'no host';
}

function now(): string {
  return new Date().toISOString();
}
