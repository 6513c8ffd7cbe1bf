import type { DatabaseSync } from 'node:sqlite';
import { type ColumnKind, NumberColumn, type StoredColumn, TextColumn } from './columns.ts';

/** Members of one kind (hosts, ports, findings, other rows) as columns, numbered from 0 in order of arrival. */
export class MemberTable<N extends string, T extends string> {
  readonly numbers: Readonly<Record<N, NumberColumn>>;
  /** Numbers of the pool. */
  readonly texts: Readonly<Record<T, TextColumn>>;
  readonly name: string;
  count = 0;

  constructor(name: string, numbers: Record<N, ColumnKind>, texts: readonly T[]) {
    this.name = name;
    this.numbers = Object.fromEntries(
      Object.entries<ColumnKind>(numbers).map(([column, kind]) => [column, new NumberColumn(kind)]),
    ) as Record<N, NumberColumn>;
    this.texts = Object.fromEntries(texts.map((text) => [text, new TextColumn()])) as Record<T, TextColumn>;
  }

  *#columns(): Generator<[name: string, NumberColumn | TextColumn]> {
    yield* Object.entries<NumberColumn>(this.numbers);
    yield* Object.entries<TextColumn>(this.texts);
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
  tcpOpen: 'u32',
  tcpClosed: 'u32',
  tcpFiltered: 'u32',
  tcpNotTried: 'u32',
  udpOpen: 'u32',
  udpClosed: 'u32',
  udpFiltered: 'u32',
  udpNotTried: 'u32',
} as const;

const place = { offset: 'f64', length: 'u32' } as const;

export function hostTable() {
  return new MemberTable(
    'host',
    // `present`: it has a row of its own. `latency`: NaN = unknown. `seen`: milliseconds since 1970, NaN = unknown.
    // `family`: 4, 6, or 9 for what is no address; its 32 or 128 bits are the words.
    {
      present: 'u8',
      latency: 'f64',
      openPorts: 'u32',
      allOpen: 'u8',
      seen: 'f64',
      family: 'u8',
      word0: 'u32',
      word1: 'u32',
      word2: 'u32',
      word3: 'u32',
      ...portCounts,
      ...place,
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
      host: 'u32',
      port: 'u16',
      protocol: 'u8',
      present: 'u8',
      scheme: 'u8',
      unfinished: 'u8',
      seen: 'f64',
      ...place,
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
      host: 'u32',
      port: 'u32',
      severity: 'u8',
      class: 'u8',
      kev: 'u8',
      cvss: 'f32',
      epss: 'f32',
      seen: 'f64',
      ...place,
    },
    ['id', 'finding', 'action', 'plugin', 'detected', 'variant'],
  );
}

/** Compliance results, values of plugins and errors: tuples of their own, each a JSON text of what queries look at. */
export function otherTable() {
  return new MemberTable('other', { kind: 'u8', ...place }, ['fields']);
}

/** Types of other rows, as their numbers in the column `kind`, in record order. */
export const otherTypes = ['error', 'compliance', 'extra'] as const;
