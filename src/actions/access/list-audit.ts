import { basename } from 'node:path';
import type { FieldProblem } from '../../domain/errors.ts';
import type { AuditPosition } from '../../workspace/audit/audit-files.ts';
import {
  type AuditPlace,
  auditLinesBackward,
  type ReadLine,
  type ReadRecord,
} from '../../workspace/audit/audit-reader.ts';
import { type ListPage, type PageQuery, readPage, rejectProblems } from '../paging/list-page.ts';
import { type AuditFilter, type AuditQuery, readFilter } from './audit-filter.ts';

/** A log, and whose records of it are shown. */
export interface AuditView {
  position: AuditPosition;
  /** Undefined = records of every tenant, and of none. */
  tenant: string | null | undefined;
}

export interface AuditList extends ListPage {
  /** JSON texts, newest first. */
  records: string[];
  /** The log is so large that `total` counts a part of it. */
  total_is_minimum: boolean;
  /** Damage of the log. */
  warnings: string[];
}

/** What one response reads of a log at most, bytes. */
const maxReadBytes = 32 * 1024 * 1024;
/** Damages that are named. */
const maxDamages = 10;

/** Continues a list: the place of the next record, and what earlier pages know. */
interface Cursor extends AuditPlace {
  total: number;
  totalIsMinimum: boolean;
  /** Matching records that are still to be skipped. */
  skip: number;
}

/**
 * A page of an audit log, newest first. A page may hold fewer records than asked for and have a `next_cursor` all the
 * same, where filters match little of a large log.
 *
 * @param signal the client has gone
 * @throws PortolanError `invalid_request`
 */
export async function listAudit(
  view: AuditView,
  query: AuditQuery & PageQuery,
  signal?: AbortSignal,
): Promise<AuditList> {
  const problems: FieldProblem[] = [];
  const { limit, offset, cursor: text } = readPage(query, problems);
  const filter = readFilter(query, problems);
  const cursor = text === undefined ? null : decode(text, view, problems);
  rejectProblems(problems);
  const warnings: string[] = [];
  const page = new Page(limit, cursor, offset);
  for await (const found of auditLines(view, filter, warnings, cursor ?? undefined)) {
    signal?.throwIfAborted();
    page.take(found);
    if (page.isOver) break;
  }
  const { records, next, total, totalIsMinimum } = page;
  const next_cursor = next && encode(next);
  return { records, total, limit, offset, next_cursor, total_is_minimum: totalIsMinimum, warnings };
}

/** A line of the log: the record where it matches, else null. */
interface Found extends Omit<ReadLine, 'read'> {
  match: ReadRecord | null;
}

/**
 * The lines of a log, newest first.
 *
 * @param warnings gets what is damaged
 * @param from older records than this place
 */
async function* auditLines(
  { position, tenant }: AuditView,
  filter: AuditFilter,
  warnings: string[],
  from?: AuditPlace,
): AsyncGenerator<Found> {
  const onDamage = (reason: string, { file, before }: AuditPlace) => {
    if (warnings.length < maxDamages) warnings.push(`audit log damaged: ${file}, byte ${before}: ${reason}`);
  };
  const since = filter.since === null ? null : Date.parse(filter.since);
  for await (const { read, ...line } of auditLinesBackward(position, onDamage, { from, since })) {
    const isShown = read !== null && (tenant === undefined || read.record.tenant === tenant);
    yield { ...line, match: isShown && filter.takes(read.record) ? read : null };
  }
}

/** Every matching record of a log, newest first, in constant memory. @throws PortolanError `invalid_request` */
export async function* everyAuditRecord(
  view: AuditView,
  query: AuditQuery,
  warnings: string[],
): AsyncGenerator<ReadRecord> {
  const problems: FieldProblem[] = [];
  const filter = readFilter(query, problems);
  rejectProblems(problems);
  for await (const { match } of auditLines(view, filter, warnings)) if (match) yield match;
}

/** Collects a page; the first one of a list goes on to count. */
class Page {
  readonly records: string[] = [];
  readonly #limit: number;
  readonly #first: boolean;
  #skip: number;
  #bytes = 0;
  #matching = 0;
  #total: number | null;
  #isMinimum: boolean;
  /** The last line that was read for this page. */
  #last: AuditPlace | null = null;
  /** More matching records follow, or may. */
  #more = false;

  constructor(limit: number, cursor: Cursor | null, offset: number) {
    this.#limit = limit;
    this.#first = cursor === null;
    this.#skip = cursor?.skip ?? offset;
    this.#total = cursor?.total ?? null;
    this.#isMinimum = cursor?.totalIsMinimum ?? false;
  }

  take({ match, place, size }: Found): void {
    this.#bytes += size;
    if (match) this.#matching += 1;
    const isFull = this.records.length >= this.#limit;
    if (isFull && match) this.#more = true;
    if (!isFull) this.#takeInto(match, place);
    if (this.#bytes < maxReadBytes) return;
    this.#more = true;
    if (this.#first) this.#isMinimum = true;
  }

  #takeInto(match: ReadRecord | null, place: AuditPlace): void {
    this.#last = place;
    if (match === null) return;
    if (this.#skip > 0) this.#skip -= 1;
    else this.records.push(match.line);
  }

  get isOver(): boolean {
    return this.#bytes >= maxReadBytes || (this.#more && !this.#first);
  }

  get total(): number {
    return this.#total ?? this.#matching;
  }

  get totalIsMinimum(): boolean {
    return this.#isMinimum;
  }

  get next(): Cursor | null {
    if (!this.#more || this.#last === null) return null;
    return { ...this.#last, total: this.total, totalIsMinimum: this.#isMinimum, skip: this.#skip };
  }
}

function encode({ file, before, total, totalIsMinimum, skip }: Cursor): string {
  const text = `${file} ${before} ${total} ${totalIsMinimum ? 1 : 0} ${skip}`;
  return Buffer.from(text).toString('base64url');
}

function decode(cursor: string, { position }: AuditView, problems: FieldProblem[]): Cursor | null {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, file, before, total, flag, skip] =
    /^(.+) (\d{1,15}) (\d{1,15}) ([01]) (\d{1,16})$/.exec(text) ?? [];
  // A path is never built from a cursor: the file is looked for among those of the log.
  const isFile =
    position.file === null ? /^\d{4}-\d\d-\d\d\.jsonl$/.test(file ?? '') : file === basename(position.file);
  const found = {
    file: file ?? '',
    before: Number(before),
    total: Number(total),
    totalIsMinimum: flag === '1',
    skip: Number(skip),
  };
  if (isFile && encode(found) === cursor) return found;
  problems.push({ field: 'cursor', reason: 'not a next_cursor of this list' });
  return null;
}
