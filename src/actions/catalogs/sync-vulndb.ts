import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import { FeedProblem } from '../../knowledge/vulndb/feed-bytes.ts';
import { GenerationWriter } from '../../knowledge/vulndb/generation-writer.ts';
import { type FeedFormat, type FeedReport, importFeed } from '../../knowledge/vulndb/import-feed.ts';
import type { GenerationManifest, SourceState } from '../../knowledge/vulndb/manifest.ts';
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
  /** Of NVD, what was changed since this time (ISO 8601), in place of what the last sync left off at. */
  since: string | null;
  /** Everything anew: no marks, no question whether anything is new, and no data that is damaged. */
  force: boolean;
  signal: AbortSignal;
  pace?: Partial<SyncIntervals>;
  /** What is being done, for people. */
  onProgress?: (text: string) => void;
}

/** How politely and how patiently the sources are asked, milliseconds. */
export interface SyncIntervals {
  /** Between two pages of NVD: 5 questions in 30 s are allowed, with a key 50. */
  pauseMs: number;
  /** Before the second try; doubled with each further one. */
  retryMs: number;
  tries: number;
  /** The longest wait that a source may ask for. */
  longestWaitMs: number;
  /** Silence, and all of one answer. */
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
/** NVD refuses windows that are longer. */
const longestWindowMs = 120 * day;
/** Clocks differ, and what is changed right now may appear a little later. */
const overlapMs = 5 * 60_000;
/** Records of one page, the most that NVD gives. */
const pageSize = 2000;
/** Pages of one window. */
const maxPages = 2500;
/** Bytes of one answer, unpacked. */
const maxAnswerBytes: Record<SyncSource, number> = {
  nvd: 512 * 1024 * 1024,
  kev: 64 * 1024 * 1024,
  epss: 256 * 1024 * 1024,
};
/** First reasons that are told of one source. */
const maxReasons = 5;

/**
 * Asks the sources for what is new and puts the next generation of the data in force. A source that fails keeps its old
 * data and does not keep the others from theirs.
 *
 * @returns a manifest of null when every source failed, and then nothing has changed
 * @throws PortolanError `conflict` while another import runs or what is there is damaged, `insufficient_storage`,
 *   `unavailable` when it was broken off
 */
export async function syncVulndb(request: VulndbSyncRequest): Promise<VulndbSyncReport> {
  const writer = openWriter(request);
  try {
    const run = new Sync(request, writer);
    // The small ones first: a long load of NVD that fails costs nothing of them.
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
  /** When NVD was asked last, monotonic milliseconds. */
  #askedAt = Number.NEGATIVE_INFINITY;

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

  /** A list that comes as a whole, when it is another one than the last time. */
  async #takeFile(source: 'kev' | 'epss', outcome: SyncedSource): Promise<void> {
    const known = this.#known(source);
    this.#tell(`requesting ${source.toUpperCase()} from ${hostOf(this.#request.urls[source])}`);
    await this.#patiently(source, async () => {
      const answer = await fetchFeed(this.#request.urls[source], {
        ...this.#limits(),
        redirects: 5,
        headers: conditions(known),
      });
      if (answer.status === 304) {
        await drain(answer.body);
        outcome.status = 'unchanged';
        if (known) this.states[source] = { ...known, updated_at: now() };
        return;
      }
      const report = await importFeed(answer.body, this.#writer, maxAnswerBytes[source]);
      expectFormat(report, source);
      add(outcome, report);
      this.states[source] = {
        updated_at: now(),
        data_date: report.date,
        mark: null,
        etag: headerOf(answer.headers, 'etag'),
        last_modified: headerOf(answer.headers, 'last-modified'),
      };
    });
  }

  /** All pages of all windows; only then the mark moves. */
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
    // A start behind the mark would leave a gap between them.
    const gap = this.#request.since !== null && mark !== null && this.#request.since > mark;
    this.states['nvd'] = {
      updated_at: now(),
      data_date: newest ?? old?.data_date ?? null,
      mark: gap ? mark : new Date(began).toISOString(),
      etag: null,
      last_modified: null,
    };
  }

  /** @returns the date of the answer */
  async #takeWindow(window: Window | null, outcome: SyncedSource): Promise<string | null> {
    let start = 0;
    let date: string | null = null;
    for (let page = 0; page < maxPages; page++) {
      const report = await this.#patiently('nvd', () => this.#page(window, start));
      add(outcome, report);
      date = report.date ?? date;
      const { total, count } = report.page ?? { total: 0, count: 0 };
      start += count;
      this.#tell(`NVD: ${start} of ${total} records${window ? ` changed from ${window.from} on` : ''}`);
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
    const answer = await fetchFeed(url.href, {
      ...this.#limits(),
      // The key is for this host only.
      redirects: 0,
      headers: { accept: 'application/json', ...(nvdApiKey !== null && { apiKey: nvdApiKey }) },
    });
    const report = await importFeed(answer.body, this.#writer, maxAnswerBytes.nvd);
    checkPage(report, start);
    return report;
  }

  async #keepPace(): Promise<void> {
    const wait = this.#askedAt + this.#pace.pauseMs - performance.now();
    if (wait > 0) await this.#wait(wait);
    this.#askedAt = performance.now();
  }

  /** Tries again what may pass: throttling, a lost connection, an answer that came broken. */
  async #patiently<T>(source: SyncSource, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const before = this.#writer.checkpoint();
      try {
        return await work();
      } catch (error) {
        this.#writer.rollBack(before);
        const wait = this.#waitAfter(error, attempt);
        if (wait === null) throw error;
        this.#tell(`${this.#messageOf(source, error)}; retrying in ${Math.ceil(wait / 1000)} s`);
        await this.#wait(wait);
      }
    }
  }

  /** @returns null when there is no use in another try */
  #waitAfter(error: unknown, attempt: number): number | null {
    const passing = error instanceof FeedProblem || (error instanceof DownloadProblem && error.passing);
    if (!passing || attempt >= this.#pace.tries || this.#request.signal.aborted) return null;
    const asked = error instanceof DownloadProblem ? error.retryAfterMs : null;
    if (asked !== null) return asked <= this.#pace.longestWaitMs ? asked : null;
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

  #tell(text: string): void {
    this.#request.onProgress?.(text);
  }
}

interface Window {
  from: string;
  to: string;
}

/** Windows that NVD accepts, up to now; a single null asks for everything. */
function windows(start: string | null, end: number): (Window | null)[] {
  if (start === null) return [null];
  const found: Window[] = [];
  for (let from = Date.parse(start); from < end; from += longestWindowMs) {
    const to = Math.min(end, from + longestWindowMs);
    found.push({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  }
  return found;
}

/** @throws FeedProblem when this is not the whole page that was asked for */
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

/** A header that is kept; one that is too long to be sane is not. */
function headerOf(headers: Headers, name: string): string | null {
  const text = headers.get(name);
  return text !== null && text.length <= 256 ? text : null;
}

async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

/** Neither path nor credentials of a URL are anybody else's business. */
function hostOf(url: string): string {
  return new URL(url).host;
}

function now(): string {
  return new Date().toISOString();
}
