import { createHash } from 'node:crypto';
import { FeedProblem, feedBytes, fileBytes } from '../../knowledge/vulndb/import/feed-bytes.ts';
import type { FeedReport } from '../../knowledge/vulndb/import/import-feed.ts';

const day = 86_400_000;
/** NVD rejects longer windows. */
const longestWindowMs = 120 * day;

export interface Window {
  from: string;
  to: string;
}

/** Windows that NVD accepts, up to now; a single null requests everything. */
export function changeWindows(start: string | null, end: number): (Window | null)[] {
  if (start === null) return [null];
  const found: Window[] = [];
  for (let from = Date.parse(start); from < end; from += longestWindowMs) {
    const to = Math.min(end, from + longestWindowMs);
    found.push({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  }
  return found;
}

/** @throws FeedProblem if this is not the complete requested page */
export function checkPage({ format, page, accepted, refused }: FeedReport, start: number): void {
  if (format !== 'nvd' && format !== 'overrides') throw new FeedProblem('is not an NVD page');
  if (page === null) throw new FeedProblem('does not state its page');
  if (page.start !== start) throw new FeedProblem(`starts with record ${page.start} instead of ${start}`);
  if (page.count !== accepted + refused) {
    throw new FeedProblem(`has ${accepted + refused} records but states ${page.count}`);
  }
  if (page.count === 0 && start < page.total) throw new FeedProblem('is empty before the last page');
}

/** A `.meta` file of NVD: `lastModifiedDate:...`, `sha256:...` of the file as unpacked. @throws FeedProblem */
export function readMeta(text: string): { sha256: string; changed: string } {
  const sha256 = /^sha256:([0-9a-f]{64})\r?$/im.exec(text)?.[1]?.toLowerCase();
  const changed = Date.parse(/^lastModifiedDate:(\S{1,64})\r?$/im.exec(text)?.[1] ?? '');
  if (sha256 === undefined || Number.isNaN(changed))
    throw new FeedProblem('has a .meta file without a checksum');
  return { sha256, changed: new Date(changed).toISOString() };
}

/** SHA-256 of a file as unpacked. */
export async function contentHash(path: string, most: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of feedBytes(fileBytes(path), most)) hash.update(chunk);
  return hash.digest('hex');
}
