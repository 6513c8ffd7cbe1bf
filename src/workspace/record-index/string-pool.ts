import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { IdTable } from './id-table.ts';

/** Short texts that occurred more than once, remembered by their number. */
const maxRemembered = 10_000;
/** Longest text that is remembered so, characters. */
const maxRememberedLength = 200;
/** Texts compared per statement of a search: some 20 ms. */
const textsPerStep = 50_000;
/** Texts added to the trigrams per step. */
const trigramsPerStep = 2000;
/** Trigrams of a needle that are looked up; its whole is compared afterwards. */
const maxTrigrams = 12;

export const poolSchema = `
  CREATE TABLE strings (id INTEGER PRIMARY KEY, text TEXT NOT NULL, folded TEXT);
  CREATE VIRTUAL TABLE trigrams USING fts5(text, content='', detail='none', tokenize='trigram case_sensitive 1');
  CREATE TABLE trigram_state (indexed INTEGER NOT NULL);
  INSERT INTO trigram_state VALUES (0);
`;

/** What UTF-8 or C cannot hold is replaced; no query contains it. */
function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * The texts of a record, each once, with a number from 1. 0 stands for an absent one. Texts can be added to a new pool,
 * not to one that is opened again: what finds a text by its digest is in memory only.
 */
export class StringPool {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #one: StatementSync;
  readonly #matching: StatementSync;
  readonly #remembered = new Map<string, number>();
  /** Numbers of the texts by their digest. */
  readonly #byDigest = new IdTable();
  #size: number;
  #trigrams: number;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare('INSERT INTO strings (id, text, folded) VALUES (?, ?, ?)');
    this.#one = database.prepare('SELECT text FROM strings WHERE id = ?');
    this.#matching = database.prepare(
      `SELECT group_concat(id) AS ids FROM strings
       WHERE id > ? AND id <= ? AND instr(coalesce(folded, text), ?) > 0`,
    );
    this.#size = Number(database.prepare('SELECT coalesce(max(id), 0) AS size FROM strings').get()?.['size']);
    this.#trigrams = Number(database.prepare('SELECT indexed FROM trigram_state').get()?.['indexed']);
  }

  /** The highest number. */
  get size(): number {
    return this.#size;
  }

  /** Whether every text is in the trigrams. */
  get isSearchable(): boolean {
    return this.#trigrams >= this.#size;
  }

  /** The number of a text, new if necessary; 0 for none. */
  intern(value: string | null | undefined): number {
    if (value === null || value === undefined || value === '') return 0;
    const isShort = value.length <= maxRememberedLength;
    const remembered = isShort ? this.#remembered.get(value) : undefined;
    if (remembered !== undefined) return remembered;
    const text = storableText(value);
    const digest = digestOf(text);
    const known = this.#numberOf(text, digest);
    if (known === undefined) return this.#added(text, digest);
    if (isShort) this.#remember(value, known);
    return known;
  }

  #remember(value: string, id: number): void {
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    this.#remembered.set(value, id);
  }

  /** Two texts with the same digest have different keys, the second one that of the digest behind it. */
  #numberOf(text: string, digest: number): number | undefined {
    for (let key = digest; ; key++) {
      const id = this.#byDigest.get(key);
      if (id === undefined || this.text(id) === text) return id;
    }
  }

  #added(text: string, digest: number): number {
    let key = digest;
    while (this.#byDigest.get(key) !== undefined) key += 1;
    const id = ++this.#size;
    this.#byDigest.set(key, id);
    const folded = text.toLowerCase();
    this.#insert.run(id, text, folded === text ? null : folded);
    return id;
  }

  /** The text of a number; empty for 0. */
  text(id: number): string {
    return id === 0 ? '' : ((this.#one.get(id)?.['text'] as string | undefined) ?? '');
  }

  /** The texts of some numbers, in their order; empty for 0. */
  texts(ids: ArrayLike<number>): string[] {
    return Array.from(ids, (id) => this.text(id));
  }

  /**
   * Marks the texts that contain a needle, whatever its case: 1 at their numbers.
   * @param turn called between steps
   */
  async containing(needle: string, turn: () => Promise<void>): Promise<Uint8Array> {
    const marks = new Uint8Array(this.#size + 1);
    const folded = storableText(needle).toLowerCase();
    const trigrams = trigramsOf(folded);
    const from = trigrams.length > 0 ? this.#trigrams : 0;
    if (from > 0) this.#markByTrigrams(marks, folded, trigrams);
    for (let after = from; after < this.#size; after += textsPerStep) {
      await turn();
      mark(marks, this.#matching.get(after, after + textsPerStep, folded)?.['ids']);
    }
    return marks;
  }

  #markByTrigrams(marks: Uint8Array, folded: string, trigrams: readonly string[]): void {
    const phrase = trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ');
    // A needle of one trigram is found as a whole.
    const isWhole = trigrams.length === 1 && trigrams[0] === folded;
    const query = isWhole
      ? this.#database.prepare('SELECT group_concat(rowid) AS ids FROM trigrams WHERE trigrams MATCH ?')
      : this.#database.prepare(
          `SELECT group_concat(strings.id) AS ids FROM trigrams JOIN strings ON strings.id = trigrams.rowid
           WHERE trigrams MATCH ? AND instr(coalesce(folded, strings.text), ?) > 0`,
        );
    mark(marks, (isWhole ? query.get(phrase) : query.get(phrase, folded))?.['ids']);
  }

  /** Adds some texts to the trigrams. @returns whether more remain */
  extendTrigrams(): boolean {
    if (this.isSearchable) return false;
    const to = Math.min(this.#size, this.#trigrams + trigramsPerStep);
    this.#database.exec('BEGIN');
    try {
      this.#database
        .prepare(
          'INSERT INTO trigrams (rowid, text) SELECT id, coalesce(folded, text) FROM strings WHERE id > ? AND id <= ?',
        )
        .run(this.#trigrams, to);
      this.#database.prepare('UPDATE trigram_state SET indexed = ?').run(to);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#trigrams = to;
    return !this.isSearchable;
  }
}

/** 48 bits, which a hostile target cannot make collide for many texts. */
function digestOf(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16);
}

function mark(marks: Uint8Array, ids: unknown): void {
  if (typeof ids !== 'string') return;
  let id = 0;
  for (let at = 0; at < ids.length; at++) {
    const code = ids.charCodeAt(at);
    if (code !== 44) {
      id = id * 10 + code - 48;
      continue;
    }
    marks[id] = 1;
    id = 0;
  }
  marks[id] = 1;
}

/** Some trigrams of a text, spread over it; none if it is shorter. */
function trigramsOf(text: string): string[] {
  const characters = Array.from(text.length > 400 ? text.slice(0, 400) : text);
  const all = characters.length - 2;
  if (all < 1) return [];
  const step = Math.max(1, all / maxTrigrams);
  const places = new Set<number>();
  for (let at = 0; at < all; at += step) places.add(Math.floor(at));
  places.add(all - 1);
  return [...places].map((at) => characters.slice(at, at + 3).join(''));
}
