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

  /**
   * Adds what a growing record has got meanwhile.
   * @param mostMs longest time for it; a started slice is completed
   * @returns whether rows are left
   */
  async catchUp(mostMs: number): Promise<boolean> {
    if (!this.index.isGrowing) return false;
    const giveUpAt = performance.now() + mostMs;
    const isOver = () => performance.now() >= giveUpAt;
    return await addRows(this.index, this.#source, { turn: setImmediate, isOver });
  }

  async close(): Promise<void> {
    this.index.close();
    await this.#source.close();
    if (this.#draft !== null) await rm(this.#draft, { force: true });
  }
}

/** An index that is being built. */
export interface Build {
  /** What stands of it. */
  part: OpenIndex | null;
  /** Of the record that is in it, from 0 to 1. */
  share: number;
  /** Called between slices of the work. @throws to end it */
  turn(): Promise<void>;
}

/** The index of a record as it is now: from its file if that is current, else built. */
export async function openIndex(file: string, source: RecordSource, build: Build): Promise<OpenIndex> {
  const stored = source.isGrowing ? null : await storedIndex(file, source.identity);
  if (stored) return new OpenIndex(stored, source);
  await mkdir(dirname(file), { recursive: true, mode: folderMode });
  return source.isGrowing
    ? await growingIndex(file, source, build)
    : await finishedIndex(file, source, build);
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
async function growingIndex(file: string, source: RecordSource, build: Build): Promise<OpenIndex> {
  const draft = draftOf(file);
  try {
    const open = new OpenIndex(RecordIndex.create(draft, source.identity, true), source, draft);
    await fill(open, build);
    return open;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function finishedIndex(file: string, source: RecordSource, build: Build): Promise<OpenIndex> {
  const draft = draftOf(file);
  try {
    const index = RecordIndex.create(draft, source.identity, false);
    const { hosts, ports, findings } = source.expected;
    index.reserve(hosts, ports, findings);
    const open = new OpenIndex(index, source);
    await fill(open, build);
    index.save(draft, file);
    return open;
  } finally {
    await rm(draft, { force: true });
  }
}

function draftOf(file: string): string {
  return `${file}.${randomBytes(6).toString('hex')}.new`;
}

/** Closes the index if it fails. */
async function fill(open: OpenIndex, build: Build): Promise<void> {
  try {
    const bytes = await open.source.textBytes();
    build.part = open;
    const onEnd = (end: number) => {
      build.share = bytes > 0 ? Math.min(1, end / bytes) : 0;
    };
    await addRows(open.index, open.source, { turn: build.turn, onEnd });
  } catch (error) {
    build.part = null;
    open.index.close();
    throw error;
  }
}

interface AddOptions {
  /** Called between slices of the work. @throws to end it */
  turn: () => Promise<void>;
  /** Whether to stop after a slice. */
  isOver?: () => boolean;
  /** Called with the end of the last row that was added, bytes. */
  onEnd?: (end: number) => void;
}

/** @returns whether rows are left */
async function addRows(
  index: RecordIndex,
  source: RecordSource,
  { turn, isOver, onEnd }: AddOptions,
): Promise<boolean> {
  const readRow = source.read.bind(source);
  for await (const rows of source.rows(index.lastRow)) {
    index.database.exec('BEGIN');
    let end = 0;
    for (const { row, place, number } of rows) {
      index.add(row, place, readRow);
      index.lastRow = number;
      end = place.offset + place.length;
      if (number % rowsPerSlice !== 0) continue;
      if (isOver?.()) {
        index.database.exec('COMMIT');
        return true;
      }
      await turn();
    }
    index.database.exec('COMMIT');
    onEnd?.(end);
    await turn();
  }
  return false;
}
