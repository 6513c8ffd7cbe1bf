import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic, writeFully } from '../../workspace/atomic-file.ts';
import { type Download, type DownloadOptions, DownloadProblem, fetchFeed } from './fetch-feed.ts';

/** Complete downloads of a sync that ended before its commit are used again for this long, milliseconds. */
const reusedMs = 86_400_000;
/** Longest validator that is stored, characters. */
const validatorLimit = 256;

/** A file on the disk, or null if the server says that it has not changed. */
export interface DownloadedFeed {
  path: string;
  etag: string | null;
  lastModified: string | null;
}

interface Progress {
  url: string;
  etag: string | null;
  lastModified: string | null;
  /** When it was complete, milliseconds; null = it is not. */
  completeAt: number | null;
}

interface FeedToDownload extends DownloadOptions {
  url: string;
  /** Folder for downloads, and a name that is unique in it. */
  folder: string;
  name: string;
  /** Maximum size as it is sent, bytes. */
  most: number;
}

/**
 * Downloads a feed into a file. One that was cut off goes on where it stopped, if the server still has the same file.
 * @throws DownloadProblem
 */
export async function resumeDownload(feed: FeedToDownload): Promise<DownloadedFeed | null> {
  const { url, folder, name, most, headers, ...options } = feed;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const known = await readProgress(path, url);
  if (known?.completeAt && Date.now() - known.completeAt < reusedMs) return { path, ...known };
  const validator = known && (strong(known.etag) ?? known.lastModified);
  const from = validator ? await sizeOf(path) : 0;
  const range = from > 0 && validator ? { range: `bytes=${from}-`, 'if-range': validator } : null;
  const response = await fetchFeed(url, { ...options, headers: { ...(range ?? headers) } });
  if (response.status === 304) {
    for await (const _ of response.body);
    return null;
  }
  const resumes =
    response.status === 206 &&
    Number(/^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1]) === from;
  if (response.status === 206 && !resumes)
    throw new DownloadProblem('the server sent another part of the file', true);
  const progress: Progress = {
    url,
    etag: headerOf(response.headers, 'etag'),
    lastModified: headerOf(response.headers, 'last-modified'),
    completeAt: null,
  };
  await writeFileAtomic(`${path}.json`, JSON.stringify(progress));
  await saveBody(response.body, path, resumes ? from : 0, most);
  await writeFileAtomic(`${path}.json`, JSON.stringify({ ...progress, completeAt: Date.now() }));
  return { path, etag: progress.etag, lastModified: progress.lastModified };
}

/** Removes a download that turned out to be broken. */
export async function discardDownload(path: string): Promise<void> {
  await Promise.all([rm(path, { force: true }), rm(`${path}.json`, { force: true })]);
}

/** What has arrived is on the disk, also if the rest does not come. */
async function saveBody(body: Download['body'], path: string, from: number, most: number): Promise<void> {
  const file = await open(path, from === 0 ? 'w' : 'r+', 0o600);
  let size = from;
  try {
    for await (const chunk of body) {
      if (size + chunk.length > most) throw new DownloadProblem('the file is larger than its cap', false);
      await writeFully(file, chunk, size);
      size += chunk.length;
    }
    await file.truncate(size);
  } finally {
    await file.close();
  }
}

async function readProgress(path: string, url: string): Promise<Progress | null> {
  try {
    const {
      url: from,
      etag,
      lastModified,
      completeAt,
    } = JSON.parse(await readFile(`${path}.json`, 'utf8')) as Progress;
    const text = (value: unknown) => (typeof value === 'string' ? value : null);
    return from === url
      ? { url, etag: text(etag), lastModified: text(lastModified), completeAt: Number(completeAt) || null }
      : null;
  } catch {
    return null;
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

/** Only strong validators tell that two parts are of one file. */
function strong(etag: string | null): string | null {
  return etag?.startsWith('W/') ? null : etag;
}

/** A header value to store; implausibly long ones are dropped. */
function headerOf(headers: Headers, name: string): string | null {
  const text = headers.get(name);
  return text !== null && text.length <= validatorLimit ? text : null;
}
