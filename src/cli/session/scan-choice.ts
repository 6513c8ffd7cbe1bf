import type { ListQuery, ScanList } from '../../actions/scans/list-scans.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Store } from '../../store/open.ts';
import { latestScan } from '../terminal/scan-argument.ts';
import type { Client } from './client.ts';
import { scanListShape } from './server-responses.ts';

/** Beginnings of ids, `YYYYMMDD-HHMMSS-xxxxxx`. */
const beginning = /^(\d{1,8}|\d{8}-\d{0,6}|\d{8}-\d{6}-[a-z0-9]{0,12})$/;
/** An id of which nothing is missing. */
const wholeId = /^\d{8}-\d{6}-[a-z0-9]{6,12}$/;
/** Candidates that an error names. */
const maxNamed = 5;
const pageSize = 100;

/** A page of scans, newest first. */
export type ListScans = (query: ListQuery) => Promise<ScanList>;

/** The id of a scan on a server, see `chooseScan`. */
export async function scanOn(client: Client, text: string): Promise<string> {
  return await chooseScan(text, listOf(client));
}

/** The list of a server. */
export function listOf(client: Client): ListScans {
  return (query) => {
    const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
    return client.call('GET', `/api/v1/scans?${new URLSearchParams(given)}`, scanListShape);
  };
}

/** The id of a scan in the store, see `chooseScan`. */
export async function scanIn(store: Store, text: string): Promise<string> {
  const { listScans } = await import('../../actions/scans/list-scans.ts');
  return await chooseScan(text, (query) => listScans(store, query));
}

/**
 * The id that was meant by an id, the beginning of one, or `latest`. A whole id is returned as it is, whether there is
 * such a scan or not.
 * @throws PortolanError `not_found`, or `conflict` with the candidates for the beginning of several ids
 */
export async function chooseScan(text: string, list: ListScans): Promise<string> {
  if (wholeId.test(text)) return text;
  if (text === latestScan) return (await list({ limit: 1 })).scans[0]?.scan_id ?? missing(text);
  if (!beginning.test(text)) return missing(text);
  const found = await idsWith(text, list);
  const [id] = found;
  if (id === undefined) return missing(text);
  if (found.length === 1 || id === text) return id;
  const named = found.slice(0, maxNamed);
  const more = found.length > maxNamed ? ', ...' : '';
  throw new PortolanError('conflict', `${text} is the beginning of several ids: ${named.join(', ')}${more}`, {
    candidates: named,
  });
}

function missing(text: string): never {
  throw new PortolanError('not_found', `no scan "${text}"`, { try: 'portolan workspace list' });
}

/** Ids that begin with a text, newest first; one more than are named shows that there are more. */
async function idsWith(text: string, list: ListScans): Promise<string[]> {
  const range = createdWithin(text);
  const found: string[] = [];
  for (let cursor: string | undefined; found.length <= maxNamed; ) {
    const page = await list({ ...range, limit: pageSize, ...(cursor && { cursor }) });
    const ids = page.scans.map(({ scan_id }) => scan_id).filter((id) => id.startsWith(text));
    if (ids.includes(text)) return [text];
    found.push(...ids);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return found.slice(0, maxNamed + 1);
}

/** Lengths of `YYYYMMDDHHMMSS` up to the year, month and so on. */
const fieldEnds = [4, 6, 8, 10, 12, 14];

/** When scans with such ids were created, by the last field that is complete; empty without a year of the API. */
export function createdWithin(text: string): Pick<ListQuery, 'since' | 'until'> {
  const digits = text.slice(0, 15).replace('-', '');
  const fields = fieldEnds
    .filter((end) => end <= digits.length)
    .map((end, index) => Number(digits.slice(fieldEnds[index - 1] ?? 0, end)));
  const [year = 0] = fields;
  if (year < 1970 || year >= 9999) return {};
  const next = fields.with(-1, (fields.at(-1) ?? 0) + 1);
  return { since: timeOf(fields), until: timeOf(next) };
}

function timeOf([year = 0, month = 1, ...others]: number[]): string {
  const [day = 1, hour = 0, minute = 0, second = 0] = others;
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second)).toISOString();
}
