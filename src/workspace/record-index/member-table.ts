import type { DatabaseSync } from 'node:sqlite';
import type { RowPlace } from '../record/scan-record.ts';
import { type ColumnKind, NumberColumn, type NumberKind, type StoredColumn, TextColumn } from './columns.ts';
import { TimeColumn } from './time-column.ts';

/** Members of one kind (hosts, ports, findings, other rows) as columns, numbered from 0 in order of arrival. */
export class MemberTable<N extends string, T extends string> {
  readonly numbers: Readonly<Record<N, NumberColumn>>;
  /** Numbers of the pool. */
  readonly texts: Readonly<Record<T, TextColumn>>;
  /** When they were seen. */
  readonly seen = new TimeColumn();
  readonly name: string;
  count = 0;
  /** Place of the newest row: the page of the text, and the byte in it. */
  readonly #page = new NumberColumn('whole');
  readonly #offset = new NumberColumn('whole');
  readonly #length = new NumberColumn('whole');

  constructor(name: string, numbers: Record<N, NumberKind>, texts: readonly T[]) {
    this.name = name;
    this.numbers = Object.fromEntries(
      Object.entries<NumberKind>(numbers).map(([column, kind]) => [column, new NumberColumn(kind)]),
    ) as Record<N, NumberColumn>;
    this.texts = Object.fromEntries(texts.map((text) => [text, new TextColumn()])) as Record<T, TextColumn>;
  }

  *#columns(): Generator<[name: string, NumberColumn | TextColumn | TimeColumn]> {
    yield* Object.entries<NumberColumn>(this.numbers);
    yield* Object.entries<TextColumn>(this.texts);
    yield* Object.entries({ seen: this.seen, page: this.#page, offset: this.#offset, length: this.#length });
  }

  placeOf(member: number): RowPlace {
    const offset = this.#page.get(member) * pageBytes + this.#offset.get(member);
    return { offset, length: this.#length.get(member) };
  }

  setPlace(member: number, { offset, length }: RowPlace): void {
    this.#page.set(member, Math.floor(offset / pageBytes));
    this.#offset.set(member, offset % pageBytes);
    this.#length.set(member, length);
  }

  /** No member will be added or changed any more: what only that needs is dropped. */
  seal(): void {
    for (const [, column] of this.#columns()) column.seal(this.count);
  }

  /** Makes room for so many members. */
  reserve(count: number): void {
    for (const [, column] of this.#columns()) column.reserve(count);
  }

  save(database: DatabaseSync): void {
    const insert = database.prepare(
      'INSERT INTO columns (member, name, kind, bytes, dictionary) VALUES (?, ?, ?, ?, ?)',
    );
    for (const [name, column] of this.#columns()) {
      const { kind, bytes, dictionary } = column.store(this.count);
      insert.run(this.name, name, kind, bytes, dictionary);
    }
    database.prepare('INSERT INTO members (member, count) VALUES (?, ?)').run(this.name, this.count);
  }

  /** @throws Error if a column is missing or has another length */
  load(database: DatabaseSync): void {
    const count = database.prepare('SELECT count FROM members WHERE member = ?').get(this.name)?.['count'];
    this.count = count as number;
    const select = database.prepare(
      'SELECT kind, bytes, dictionary FROM columns WHERE member = ? AND name = ?',
    );
    for (const [name, column] of this.#columns()) {
      const stored = select.get(this.name, name) as StoredColumn | undefined;
      if (!stored || stored.bytes.length !== this.count * bytesPer[stored.kind])
        throw new Error(`column ${this.name}.${name} is damaged`);
      column.restore(stored);
    }
  }
}

/** Of the text of a record: an offset within a page has 32 bits. */
const pageBytes = 2 ** 32;

const bytesPer: Record<ColumnKind, number> = { u8: 1, u16: 2, u32: 4, f32: 4, f64: 8 };

export const columnSchema = `
  CREATE TABLE members (member TEXT PRIMARY KEY, count INTEGER NOT NULL);
  CREATE TABLE columns (
    member TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, bytes BLOB NOT NULL, dictionary BLOB,
    PRIMARY KEY (member, name)
  );
`;

/** How the ports of a host were found, by protocol. */
const portCounts = {
  tcpOpen: 'whole',
  tcpClosed: 'whole',
  tcpFiltered: 'whole',
  tcpNotTried: 'whole',
  udpOpen: 'whole',
  udpClosed: 'whole',
  udpFiltered: 'whole',
  udpNotTried: 'whole',
} as const;

export function hostTable() {
  return new MemberTable(
    'host',
    // `present`: it has a row of its own. `latency`: NaN = unknown.
    // `family`: 4, 6, or 9 for what is no address; its 32 or 128 bits are the words.
    {
      present: 'whole',
      latency: 'f64',
      openPorts: 'whole',
      allOpen: 'whole',
      family: 'whole',
      word0: 'whole',
      word1: 'whole',
      word2: 'whole',
      word3: 'whole',
      ...portCounts,
    },
    ['host', 'name', 'os', 'device', 'mac'],
  );
}

export function portTable() {
  return new MemberTable(
    'port',
    // `protocol`: 0 = TCP, 1 = UDP. A port without `present` is known from a finding only. `scheme`: of its version.
    // `unfinished`: it was not read to its end.
    {
      host: 'whole',
      port: 'whole',
      protocol: 'whole',
      present: 'whole',
      scheme: 'whole',
      unfinished: 'whole',
    },
    [
      'state',
      'reason',
      'service',
      'product',
      'vendor',
      'version',
      'cpe',
      'banner',
      'title',
      'tls',
      'certificate',
    ],
  );
}

export function findingTable() {
  return new MemberTable(
    'finding',
    // `port`: number of the port + 1, 0 = none. `severity` and `class`: place in their lists. Scores: NaN = unknown.
    {
      host: 'whole',
      port: 'whole',
      severity: 'whole',
      class: 'whole',
      kev: 'whole',
      cvss: 'f32',
      epss: 'f32',
    },
    ['id', 'finding', 'action', 'plugin', 'detected', 'variant'],
  );
}

/** Compliance results, values of plugins and errors: tuples of their own, each a JSON text of what queries look at. */
export function otherTable() {
  return new MemberTable('other', { kind: 'whole' }, ['fields']);
}

/** Types of other rows, as their numbers in the column `kind`, in record order. */
export const otherTypes = ['error', 'compliance', 'extra'] as const;
