import type { CveRecord } from '../cve-record.ts';
import { RecordProblem } from './checked-fields.ts';
import { FeedProblem, feedBytes, maxFeedBytes } from './feed-bytes.ts';
import { readCve5Record } from './import-cve5.ts';
import {
  readAlpinePackage,
  readDebianPackage,
  readRedHatCve,
  UbuntuNotices,
} from './import-distributions.ts';
import { type EpssScore, readEpss } from './import-epss.ts';
import { type PackageFixes, readPackageFixes } from './import-fixes.ts';
import { type KevEntry, readKevEntry } from './import-kev.ts';
import { readNvdRecord } from './import-nvd.ts';
import { type FeedItem, jsonItems } from './json-feed.ts';
import { jsonMembers } from './json-members.ts';

export type FeedFormat =
  | 'nvd'
  | 'overrides'
  | 'cve5'
  | 'kev'
  | 'epss'
  | 'fixes'
  | 'debian'
  | 'ubuntu'
  | 'redhat'
  | 'alpine';

/** Receives the contents of a feed. */
export interface FeedSink {
  addRecord(record: CveRecord): void;
  addFixes(fixes: PackageFixes): void;
  /** Replaces all known entries. */
  setKev(entries: readonly KevEntry[]): void;
  setEpss(scores: readonly EpssScore[]): void;
}

export interface FeedReport {
  format: FeedFormat;
  /** Number of imported records, entries, rows or packages. */
  accepted: number;
  refused: number;
  /** The first few rejections, each with its record. */
  reasons: string[];
  /** Publication time, if the feed states it: ISO 8601, or a date. */
  date: string | null;
  /** Of a page of the NVD API: total records of the query, and the offset of this page. */
  page: { total: number; start: number; count: number } | null;
}

/** Packages of a file of Alpine. */
const maxAlpinePackages = 50_000;
/** Entries of CISA's list. */
const maxKevEntries = 200_000;
/** Maximum number of reported reasons. */
const maxReasons = 5;
/** Lists that are read element by element, whatever their length. */
const lists = new Set(['vulnerabilities', 'cve_items', 'packages', 'CVE_Items']);

/**
 * Reads one feed of any known form, plain or packed with gzip. Counts and skips invalid records.
 *
 * @param most bytes, unpacked
 * @throws FeedProblem when the feed is broken, cut off, of unknown form, or has no valid record; the caller must
 * discard what the sink received until then
 */
export async function importFeed(
  source: AsyncIterable<Uint8Array>,
  sink: FeedSink,
  most: number = maxFeedBytes,
): Promise<FeedReport> {
  const [head, bytes] = await peek(feedBytes(source, most));
  if (/^\s*(?:#|cve,)/i.test(head)) return await importEpss(bytes, sink);
  if (ubuntuHead.test(head)) return await importUbuntu(bytes, sink);
  if (debianHead.test(head)) return await importDebian(bytes, sink);
  if (/^(?:\uFEFF|\u00ef\u00bb\u00bf)?\s*[{[]/.test(head)) return await new JsonImport(sink).run(bytes);
  if (head.trim() === '') throw new FeedProblem('is empty');
  throw new FeedProblem('is neither JSON nor the CSV file of EPSS', 'unknown');
}

/** `{"1234-1": {` */
const ubuntuHead = /^\s*\{\s*"\d{1,5}-\d{1,2}"\s*:/;
/** `{"openssh": {"CVE-2024-6387": {` */
const debianHead = /^\s*\{\s*"[a-z0-9][a-z0-9.+-]{1,100}"\s*:\s*\{\s*"(?:CVE|TEMP)-/;

async function importDebian(bytes: AsyncIterable<Buffer>, sink: FeedSink): Promise<FeedReport> {
  const tally = new Tally();
  for await (const [name, value] of jsonMembers(bytes))
    tally.count(name, () => {
      for (const fixes of readDebianPackage(name, value)) sink.addFixes(fixes);
    });
  return tally.report('debian');
}

async function importUbuntu(bytes: AsyncIterable<Buffer>, sink: FeedSink): Promise<FeedReport> {
  const tally = new Tally();
  const notices = new UbuntuNotices();
  for await (const [id, value] of jsonMembers(bytes)) tally.count(id, () => notices.add(id, value));
  for (const fixes of notices.list()) sink.addFixes(fixes);
  return tally.report('ubuntu');
}

/** Counts records, and those that are invalid. */
class Tally {
  accepted = 0;
  refused = 0;
  readonly reasons: string[] = [];

  count(name: string, read: () => void): void {
    try {
      read();
      this.accepted++;
    } catch (error) {
      if (!(error instanceof RecordProblem)) throw error;
      this.refused++;
      if (this.reasons.length < maxReasons)
        this.reasons.push(`${/^[\w.+-]{1,64}$/.test(name) ? name : 'a record'}: ${error.message}`);
    }
  }

  /** @throws FeedProblem without a valid record */
  report(format: FeedFormat): FeedReport {
    const { accepted, refused, reasons } = this;
    if (accepted === 0) throw new FeedProblem(`has no valid record${because(reasons)}`, 'refused');
    return { format, accepted, refused, reasons, date: null, page: null };
  }
}

/** Bytes by which a form is recognized. */
const headBytes = 256;

/** The first characters, and all bytes. */
async function peek(bytes: AsyncIterable<Buffer>): Promise<[string, AsyncIterable<Buffer>]> {
  const iterator = bytes[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let size = 0;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    first.push(next.value);
    size += next.value.length;
    if (size >= headBytes) break;
  }
  async function* everything() {
    try {
      yield* first;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return [Buffer.concat(first).subarray(0, headBytes).toString('latin1'), everything()];
}

async function importEpss(bytes: AsyncIterable<Buffer>, sink: FeedSink): Promise<FeedReport> {
  const { scores, date, refused, reasons } = await readEpss(bytes);
  if (scores.length === 0) throw new FeedProblem(`has no EPSS row${because(reasons)}`, 'refused');
  sink.setEpss(scores);
  return { format: 'epss', accepted: scores.length, refused, reasons, date, page: null };
}

/** The kind of an element of a JSON feed, and its record. */
interface Classed {
  format: FeedFormat;
  value: unknown;
}

class JsonImport {
  readonly #sink: FeedSink;
  #format: FeedFormat | null = null;
  #accepted = 0;
  #refused = 0;
  readonly #reasons: string[] = [];
  #date: string | null = null;
  #page: FeedReport['page'] = null;
  readonly #kev: KevEntry[] = [];
  /** Packages of Alpine: the branch stands in the document around them. */
  readonly #alpine: unknown[] = [];

  constructor(sink: FeedSink) {
    this.#sink = sink;
  }

  /** @throws FeedProblem */
  async run(bytes: AsyncIterable<Buffer>): Promise<FeedReport> {
    for await (const item of jsonItems(bytes, lists)) this.#take(item);
    const format = this.#format ?? (this.#page ? 'nvd' : null);
    if (this.#alpine.length > 0 && format !== 'alpine') throw new FeedProblem('does not name its branch');
    if (format === null) {
      throw new FeedProblem('has no known format', 'unknown');
    }
    // A response without anything new is valid; a list without a valid entry is not.
    if (this.#accepted === 0 && this.#refused > 0) {
      throw new FeedProblem(`has no valid record${because(this.#reasons)}`, 'refused');
    }
    if (format === 'kev') this.#sink.setKev(this.#kev);
    const [accepted, refused, reasons] = [this.#accepted, this.#refused, this.#reasons];
    return { format, accepted, refused, reasons, date: this.#date, page: this.#page };
  }

  #take(item: FeedItem): void {
    if (item.member === 'CVE_Items') {
      throw new FeedProblem('is NVD JSON 1.1, which NVD has retired; use the feed of version 2.0');
    }
    if (item.member === 'packages' && 'pkg' in (item.value as object)) {
      if (this.#alpine.push(item.value) > maxAlpinePackages)
        throw new FeedProblem(`has more than ${maxAlpinePackages} packages`);
      return;
    }
    const classed = classify(item);
    if (classed === null) this.#readFrame(item);
    else this.#read(classed);
  }

  #read({ format, value }: Classed): void {
    // Overrides and records of NVD have the same shape; a file may contain both.
    this.#format ??= format;
    try {
      this.#store(format, value);
      this.#accepted++;
    } catch (error) {
      if (!(error instanceof RecordProblem)) throw error;
      this.#refused++;
      if (this.#reasons.length < maxReasons) this.#reasons.push(`${nameOf(value)}: ${error.message}`);
    }
  }

  #store(format: FeedFormat, value: unknown): void {
    if (format === 'kev') {
      this.#kev.push(readKevEntry(value));
      if (this.#kev.length > maxKevEntries) throw new FeedProblem(`holds more than ${maxKevEntries} entries`);
    } else if (format === 'redhat') for (const fixes of readRedHatCve(value)) this.#sink.addFixes(fixes);
    else if (format === 'fixes') this.#sink.addFixes(readPackageFixes(value));
    else this.#sink.addRecord(format === 'cve5' ? readCve5Record(value) : readNvdRecord(value));
  }

  #readAlpine(branch: string): void {
    this.#format = 'alpine';
    const tally = new Tally();
    for (const value of this.#alpine.splice(0))
      tally.count('package', () => {
        for (const fixes of readAlpinePackage(value, branch)) this.#sink.addFixes(fixes);
      });
    this.#accepted += tally.accepted;
    this.#refused += tally.refused;
    this.#reasons.push(...tally.reasons);
  }

  /** The document around the records. */
  #readFrame({ value }: FeedItem): void {
    const frame = value as Record<string, unknown>;
    const date = frame['timestamp'] ?? frame['dateReleased'];
    if (typeof date === 'string' && !Number.isNaN(Date.parse(date))) {
      this.#date = new Date(Date.parse(/Z$|[+-]\d\d:\d\d$/.test(date) ? date : `${date}Z`)).toISOString();
    }
    const { totalResults: total, startIndex: start, resultsPerPage: count } = frame;
    if (isCount(total) && isCount(start) && isCount(count)) this.#page = { total, start, count };
    const branch = frame['distroversion'];
    if (typeof branch === 'string' && Array.isArray(frame['packages'])) this.#readAlpine(branch);
    if (Array.isArray(frame['vulnerabilities']) && 'catalogVersion' in frame) this.#format ??= 'kev';
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** @returns null for anything but a record, such as the document around a list */
function classify({ member, value }: FeedItem): Classed | null {
  const fields = value as Record<string, unknown>;
  if (member === 'packages') return { format: 'fixes', value };
  if ('cve' in fields) return { format: formatOfNvd(fields['cve']), value: fields['cve'] };
  if ('cveID' in fields) return { format: 'kev', value };
  if (fields['dataType'] === 'CVE_RECORD' || 'cveMetadata' in fields) return { format: 'cve5', value };
  if (typeof fields['CVE'] === 'string' && 'affected_packages' in fields) return { format: 'redhat', value };
  if ('fixedIn' in fields) return { format: 'fixes', value };
  if (typeof fields['id'] === 'string' && 'descriptions' in fields) {
    return { format: formatOfNvd(value), value };
  }
  return member === '' ? null : { format: 'nvd', value };
}

function formatOfNvd(value: unknown): FeedFormat {
  const fields = (value ?? {}) as Record<string, unknown>;
  return fields['published'] === undefined && fields['annotation'] !== undefined ? 'overrides' : 'nvd';
}

/** Name of a rejected record: its id, when that is valid. */
function nameOf(value: unknown): string {
  const { id, cveID, cveMetadata, source } = (value ?? {}) as Record<string, unknown>;
  const { cveId } = (cveMetadata ?? {}) as Record<string, unknown>;
  const name = [id, cveID, cveId, source].find(
    (text) => typeof text === 'string' && /^[\w.+-]{1,64}$/.test(text),
  );
  return typeof name === 'string' ? name : 'a record';
}

function because([first]: readonly string[]): string {
  return first === undefined ? '' : `: ${first}`;
}
