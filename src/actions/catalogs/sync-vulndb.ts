import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import { GenerationWriter } from '../../knowledge/vulndb/generation/generation-writer.ts';
import type { GenerationManifest, SourceState } from '../../knowledge/vulndb/generation/manifest.ts';
import { FeedProblem } from '../../knowledge/vulndb/import/feed-bytes.ts';
import { type FeedFormat, type FeedReport, importFeed } from '../../knowledge/vulndb/import/import-feed.ts';
import { diskError } from '../../workspace/atomic-file.ts';
import { DownloadProblem, fetchFeed } from './fetch-feed.ts';

export const syncSources = ['nvd', 'kev', 'epss'] as const;
export type SyncSource = (typeof syncSources)[number];

export interface VulndbSyncRequest {
  /** Folder of the vulnerability data. */
  dir: string;
  urls: Record<SyncSource, string>;
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

const day = 86_400_000;
/** NVD rejects longer windows. */
const longestWindowMs = 120 * day;
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
};
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
    const order = (['kev', 'epss', 'nvd'] as const).filter((name) => request.sources.includes(name));
    for (const source of order) await run.take(source);
    const { synced, states } = run;
    if (synced.every(({ status }) => status === 'failed')) return { manifest: null, synced };
    request.onProgress?.('building the index');
    const { signal } = request;
    return { manifest: await writer.commit({ sources: states, synced: true, signal }), synced };
  } catch (error) {
    if (request.signal.aborted) {
      throw new PortolanError('unavailable', 'The sync was canceled; nothing was changed.', {}, error);
    }
    throw diskError(error);
  } finally {
    writer.close();
  }
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
      else await this.#takeFile(source, outcome);
    } catch (error) {
      const passing = error instanceof DownloadProblem || error instanceof FeedProblem;
      if (!passing) throw error;
      this.#writer.rollBack(before);
      delete this.states[source];
      outcome.status = 'failed';
      outcome.error = this.#messageOf(source, error);
    }
  }

  /** A complete list, if it has changed since the last time. */
  async #takeFile(source: 'kev' | 'epss', outcome: SyncedSource): Promise<void> {
    const known = this.#known(source);
    this.#report(`requesting ${source.toUpperCase()} from ${hostOf(this.#request.urls[source])}`);
    await this.#patiently(source, async () => {
      const response = await fetchFeed(this.#request.urls[source], {
        ...this.#limits(),
        redirects: 5,
        headers: conditions(known),
      });
      if (response.status === 304) {
        await drain(response.body);
        outcome.status = 'unchanged';
        if (known) this.states[source] = { ...known, updated_at: now() };
        return;
      }
      const report = await importFeed(response.body, this.#writer, maxResponseBytes[source]);
      expectFormat(report, source);
      add(outcome, report);
      this.states[source] = {
        updated_at: now(),
        data_date: report.date,
        mark: null,
        etag: headerOf(response.headers, 'etag'),
        last_modified: headerOf(response.headers, 'last-modified'),
      };
    });
  }

  /** All pages of all windows; the position moves only after that. */
  async #takeNvd(outcome: SyncedSource): Promise<void> {
    const began = Date.now();
    const old = this.#writer.base?.sources['nvd'] ?? null;
    const mark = this.#request.force ? null : (old?.mark ?? null);
    const start = this.#request.since ?? (mark && new Date(Date.parse(mark) - overlapMs).toISOString());
    let newest: string | null = null;
    for (const window of windows(start, began)) {
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
    const url = new URL(this.#request.urls.nvd);
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

  #limits() {
    const { idleMs, totalMs } = this.#pace;
    return { idleMs, totalMs, signal: this.#request.signal };
  }

  #known(source: SyncSource): SourceState | null {
    return this.#request.force ? null : (this.#writer.base?.sources[source] ?? null);
  }

  #messageOf(source: SyncSource, error: unknown): string {
    const { message } = error as Error;
    const host = hostOf(this.#request.urls[source]);
    return error instanceof FeedProblem
      ? `${source}: the response of ${host} ${message}`
      : `${source}: ${host}: ${message}`;
  }

  #report(text: string): void {
    this.#request.onProgress?.(text);
  }
}

interface Window {
  from: string;
  to: string;
}

/** Windows that NVD accepts, up to now; a single null requests everything. */
function windows(start: string | null, end: number): (Window | null)[] {
  if (start === null) return [null];
  const found: Window[] = [];
  for (let from = Date.parse(start); from < end; from += longestWindowMs) {
    const to = Math.min(end, from + longestWindowMs);
    found.push({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  }
  return found;
}

/** @throws FeedProblem if this is not the complete requested page */
function checkPage({ format, page, accepted, refused }: FeedReport, start: number): void {
  if (format !== 'nvd' && format !== 'overrides') throw new FeedProblem('is not an NVD page');
  if (page === null) throw new FeedProblem('does not state its page');
  if (page.start !== start) throw new FeedProblem(`starts with record ${page.start} instead of ${start}`);
  if (page.count !== accepted + refused) {
    throw new FeedProblem(`has ${accepted + refused} records but states ${page.count}`);
  }
  if (page.count === 0 && start < page.total) throw new FeedProblem('is empty before the last page');
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

/** A header value to store; implausibly long ones are dropped. */
function headerOf(headers: Headers, name: string): string | null {
  const text = headers.get(name);
  return text !== null && text.length <= 256 ? text : null;
}

async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

/** Neither path nor credentials of a URL are shown. */
function hostOf(url: string): string {
  return new URL(url).host;
}

function now(): string {
  return new Date().toISOString();
}
