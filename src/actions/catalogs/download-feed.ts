import { PortolanError } from '../../domain/errors.ts';
import { DownloadProblem, fetchFeed, type OpenUrl } from './fetch-feed.ts';

/** Maximum number of redirects. */
const redirects = 5;
/** Idle timeout and total timeout of one download, milliseconds. */
const idleMs = 30_000;
const totalMs = 120_000;

export interface FeedDownload {
  bytes: Buffer;
  etag: string | null;
  /** `Last-Modified`, never in the future; null if absent. */
  published: Date | null;
}

interface DownloadLimits {
  maxBytes: number;
  etag: string | null;
  signal?: AbortSignal;
  open?: OpenUrl;
}

/**
 * Downloads a complete feed.
 * @returns null if it has not changed since `etag`
 * @throws PortolanError `network`, `timeout`; `configuration` above `maxBytes`
 */
export async function downloadFeed(
  url: string,
  { maxBytes, etag, signal, open }: DownloadLimits,
): Promise<FeedDownload | null> {
  try {
    const response = await fetchFeed(url, {
      redirects,
      ...(open && { open }),
      idleMs,
      totalMs,
      signal: signal ?? new AbortController().signal,
      headers: etag === null ? {} : { 'if-none-match': etag },
    });
    const claimed = Number(response.headers.get('content-length') ?? 0);
    const bytes = await readAll(response.body, { maxBytes, claimed }, url);
    if (response.status === 304) return null;
    const { headers } = response;
    return { bytes, etag: headers.get('etag'), published: dateOf(headers.get('last-modified')) };
  } catch (error) {
    if (!(error instanceof DownloadProblem)) throw error;
    const code = error.timedOut ? 'timeout' : 'network';
    throw new PortolanError(code, `${urlWithoutSecret(url)}: ${error.message}`, {}, error);
  }
}

function dateOf(text: string | null): Date | null {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? null : new Date(Math.min(at, Date.now()));
}

async function readAll(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, claimed }: { maxBytes: number; claimed: number },
  url: string,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (Math.max(size, claimed) > maxBytes) {
      throw new PortolanError('configuration', `${urlWithoutSecret(url)} is larger than ${maxBytes} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** A URL without secrets: name, password and query are removed. */
export function urlWithoutSecret(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
