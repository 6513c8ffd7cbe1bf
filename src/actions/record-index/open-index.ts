import { randomBytes } from 'node:crypto';
import { mkdir, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Query } from '../../domain/query/query.ts';
import { folderMode } from '../../workspace/atomic-file.ts';
import type { RecordSource } from '../../workspace/record/scan-record.ts';
import { IndexOrder } from '../../workspace/record-index/index-order.ts';
import { type MatchedMembers, matchedMembers } from '../../workspace/record-index/matched-members.ts';
import { RecordIndex } from '../../workspace/record-index/record-index.ts';

/** Results of queries that are remembered: a byte per tuple each. */
const maxMatched = 4;
/** Responses that are remembered. */
const maxResponses = 32;
/** Rows added between two looks at other work. */
const rowsPerSlice = 300;

/** An index in use, with the record that it describes. */
export class OpenIndex {
  /** Members have the same numbers as long as this stays the same. */
  readonly epoch = randomBytes(9).toString('base64url');
  readonly index: RecordIndex;
  #source: RecordSource;
  #order: IndexOrder;
  #orderRevision: number;
  readonly #matched = new Map<string, MatchedMembers>();
  readonly #draft: string | null;
  readonly #responses = new Map<string, unknown>();

  /** @param draft file that is removed with it; null for one that stays */
  constructor(index: RecordIndex, source: RecordSource, draft: string | null = null) {
    this.#draft = draft;
    this.index = index;
    this.#source = source;
    this.#order = new IndexOrder(index);
    this.#orderRevision = index.revision;
  }

  get source(): RecordSource {
    return this.#source;
  }

  /** The same record, perhaps packed meanwhile. */
  async useSource(source: RecordSource): Promise<void> {
    const before = this.#source;
    this.#source = source;
    await before.close();
  }

  get order(): IndexOrder {
    this.#forgetEarlier();
    return this.#order;
  }

  #forgetEarlier(): void {
    if (this.#orderRevision === this.index.revision) return;
    this.#order = new IndexOrder(this.index);
    this.#orderRevision = this.index.revision;
    this.#matched.clear();
    this.#responses.clear();
  }

  /** The members that satisfy a query; of the last queries without computing them again. */
  async matched(query: Query | null, turn: () => Promise<void>): Promise<MatchedMembers> {
    this.#forgetEarlier();
    const key = JSON.stringify(query);
    const known = this.#matched.get(key);
    const matched = known ?? (await matchedMembers(this.index, this.#order, query, turn));
    this.#matched.delete(key);
    this.#matched.set(key, matched);
    for (const oldest of this.#matched.keys()) {
      if (this.#matched.size <= maxMatched) break;
      this.#matched.delete(oldest);
    }
    return matched;
  }

  /** A response to the same request, as long as the index is the same. */
  recall(key: string): unknown {
    this.#forgetEarlier();
    return this.#responses.get(key);
  }

  remember(key: string, response: unknown): void {
    if (this.#responses.size >= maxResponses) this.#responses.clear();
    this.#responses.set(key, response);
  }

  /** Adds what a growing record has got meanwhile. */
  async catchUp(): Promise<void> {
    if (this.index.isGrowing) await addRows(this.index, this.#source, () => undefined);
  }

  async close(): Promise<void> {
    this.index.close();
    await this.#source.close();
    if (this.#draft !== null) await rm(this.#draft, { force: true });
  }
}

/**
 * The index of a record as it is now: from its file if that is current, else built.
 * @param onRows called with the number of rows so far
 */
export async function openIndex(
  file: string,
  source: RecordSource,
  onRows: (rows: number) => void,
): Promise<OpenIndex> {
  const stored = source.isGrowing ? null : await storedIndex(file, source.identity);
  if (stored) return new OpenIndex(stored, source);
  await mkdir(dirname(file), { recursive: true, mode: folderMode });
  return source.isGrowing
    ? await growingIndex(file, source, onRows)
    : await finishedIndex(file, source, onRows);
}

async function storedIndex(file: string, identity: string): Promise<RecordIndex | null> {
  const isThere = await stat(file).then(
    (entry) => entry.isFile(),
    () => false,
  );
  if (!isThere) return null;
  const index = RecordIndex.load(file, identity);
  // The time of the last use decides which index goes first.
  if (index) await utimes(file, new Date(), new Date()).catch(() => undefined);
  return index;
}

/** Never found again: it is removed when it is closed. */
async function growingIndex(
  file: string,
  source: RecordSource,
  onRows: (rows: number) => void,
): Promise<OpenIndex> {
  const draft = draftOf(file);
  try {
    const index = RecordIndex.create(draft, source.identity, true);
    await addAll(index, source, onRows);
    return new OpenIndex(index, source, draft);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function finishedIndex(
  file: string,
  source: RecordSource,
  onRows: (rows: number) => void,
): Promise<OpenIndex> {
  const draft = draftOf(file);
  try {
    const index = RecordIndex.create(draft, source.identity, false);
    const { hosts, ports, findings } = source.expected;
    index.reserve(hosts, ports, findings);
    await addAll(index, source, onRows);
    index.save(draft, file);
    return new OpenIndex(index, source);
  } finally {
    await rm(draft, { force: true });
  }
}

function draftOf(file: string): string {
  return `${file}.${randomBytes(6).toString('hex')}.new`;
}

/** Closes the index if it fails. */
async function addAll(
  index: RecordIndex,
  source: RecordSource,
  onRows: (rows: number) => void,
): Promise<void> {
  try {
    await addRows(index, source, onRows);
  } catch (error) {
    index.close();
    throw error;
  }
}

async function addRows(
  index: RecordIndex,
  source: RecordSource,
  onRows: (rows: number) => void,
): Promise<void> {
  const readRow = source.read.bind(source);
  for await (const rows of source.rows(index.lastRow)) {
    index.database.exec('BEGIN');
    for (const { row, place, number } of rows) {
      index.add(row, place, readRow);
      index.lastRow = number;
      if (number % rowsPerSlice === 0) await setImmediate();
    }
    index.database.exec('COMMIT');
    onRows(index.lastRow);
    await setImmediate();
  }
}
