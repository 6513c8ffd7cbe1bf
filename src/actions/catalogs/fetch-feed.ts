import { withoutCredentials } from '../../domain/text/url-credentials.ts';

/** Result of requesting a feed. */
export interface Download {
  status: number;
  headers: Headers;
  body: AsyncIterable<Uint8Array>;
}

export interface DownloadOptions {
  headers?: Record<string, string>;
  /** Maximum number of redirects; never away from https. */
  redirects: number;
  /** Requests one URL without following redirects; `fetch` if not given. Decides which URLs are allowed. */
  open?: OpenUrl;
  /** Idle timeout, milliseconds. */
  idleMs: number;
  /** Total timeout, milliseconds. */
  totalMs: number;
  signal: AbortSignal;
}

/** @param hop 0 for the URL that was asked for, then the number of redirects so far @throws DownloadProblem */
export type OpenUrl = (
  target: URL,
  request: { headers: Headers; signal: AbortSignal },
  hop: number,
) => Promise<Response>;

const openByFetch: OpenUrl = (target, request) => fetch(target, { ...request, redirect: 'manual' });

interface ProblemDetails {
  timedOut: boolean;
  status: number | null;
  retryAfterMs: number | null;
  cause: unknown;
}

/** Why a download failed. */
export class DownloadProblem extends Error {
  /** Whether a retry may succeed. */
  readonly passing: boolean;
  /** The server was silent or slow. */
  readonly timedOut: boolean;
  /** Of the response; null without one. */
  readonly status: number | null;
  /** Retry-After of the server, milliseconds; null = absent. */
  readonly retryAfterMs: number | null;

  constructor(message: string, passing: boolean, more: Partial<ProblemDetails> = {}) {
    super(message, { cause: more.cause });
    this.name = 'DownloadProblem';
    this.passing = passing;
    this.timedOut = more.timedOut ?? false;
    this.status = more.status ?? null;
    this.retryAfterMs = more.retryAfterMs ?? null;
  }
}

/** Statuses worth a retry. NVD throttles with 403. */
const passingStatus = new Set([403, 408, 425, 429, 500, 502, 503, 504]);
/** Maximum length of the reason from NVD's header, characters. */
const reasonLimit = 200;

/**
 * Requests a feed; returns 200, 304 and 206 where a range was asked for, throws for everything else. The body fails if the server is silent or takes
 * too long.
 * @throws DownloadProblem
 */
export async function fetchFeed(url: string, options: DownloadOptions): Promise<Download> {
  const watch = new Watch(options);
  try {
    const response = await follow(url, options, watch);
    const { status, headers } = response;
    const isPart = status === 206 && new Headers(options.headers).has('range');
    if (status !== 200 && status !== 304 && !isPart) {
      void response.body?.cancel().catch(() => undefined);
      throw rejection(status, headers);
    }
    return { status, headers, body: watchedBody(response, watch) };
  } catch (error) {
    watch.stop();
    throw problemOf(error, watch);
  }
}

async function follow(url: string, options: DownloadOptions, watch: Watch): Promise<Response> {
  let { target, authorization } = withoutCredentials(url);
  const open = options.open ?? openByFetch;
  for (let hop = 0; ; hop++) {
    const headers = new Headers(options.headers);
    headers.set('user-agent', 'portolan');
    if (authorization !== null) headers.set('authorization', authorization);
    const response = await open(target, { headers, signal: watch.signal }, hop);
    const location = response.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    void response.body?.cancel().catch(() => undefined);
    if (hop >= options.redirects)
      throw new DownloadProblem('the server redirects to another URL; not followed', false);
    const next = new URL(location, target);
    if (next.protocol !== 'https:' && (target.protocol === 'https:' || next.protocol !== 'http:')) {
      throw new DownloadProblem('the server redirects away from https; not followed', false);
    }
    // Credentials are only for the host they were given for.
    if (next.origin !== target.origin) authorization = null;
    target = next;
  }
}

function rejection(status: number, headers: Headers): DownloadProblem {
  const reason = headers.get('message')?.slice(0, reasonLimit);
  const text = `the server responded ${status}${reason ? ` (${reason})` : ''}`;
  const retryAfterMs = retryAfter(headers.get('retry-after'));
  return new DownloadProblem(text, passingStatus.has(status), { status, retryAfterMs });
}

/** Seconds or a date. */
function retryAfter(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

async function* watchedBody(response: Response, watch: Watch): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) {
      watch.received();
      yield chunk as Uint8Array;
      watch.received();
    }
  } catch (error) {
    throw problemOf(error, watch);
  } finally {
    watch.stop();
  }
}

/** Aborts a download that is idle or takes too long. */
class Watch {
  readonly #abort = new AbortController();
  readonly #total: NodeJS.Timeout;
  readonly #idle: NodeJS.Timeout;
  readonly signal: AbortSignal;
  readonly #outer: AbortSignal;
  reason: string | null = null;

  constructor({ idleMs, totalMs, signal }: DownloadOptions) {
    this.#outer = signal;
    this.signal = AbortSignal.any([signal, this.#abort.signal]);
    this.#idle = setTimeout(() => this.#end(`no data for ${idleMs / 1000} s`), idleMs);
    this.#total = setTimeout(() => this.#end(`the download took longer than ${totalMs / 1000} s`), totalMs);
  }

  get canceled(): boolean {
    return this.#outer.aborted;
  }

  received(): void {
    this.#idle.refresh();
  }

  stop(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
  }

  #end(reason: string): void {
    this.reason = reason;
    this.#abort.abort();
  }
}

function problemOf(error: unknown, watch: Watch): unknown {
  if (error instanceof DownloadProblem) return error;
  if (watch.canceled) return new DownloadProblem('the download was canceled', false, { cause: error });
  if (watch.reason !== null) return new DownloadProblem(watch.reason, true, { timedOut: true, cause: error });
  const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
  const code = cause?.code ?? cause?.message ?? (error as Error).message;
  return new DownloadProblem(`cannot connect (${code})`, true, { cause: error });
}
