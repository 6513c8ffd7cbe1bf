import { hash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { findingClasses, severities } from '../../domain/finding.ts';
import { mergeRows } from '../../domain/merge-rows.ts';
import { keyedVersionSchemes as versionSchemes } from '../../domain/query/compare-values.ts';
import { indexedRemainder, indexedRow } from '../../domain/query/index-rows.ts';
import { emptyRow, type IndexedRow } from '../../domain/query/indexed-row.ts';
import {
  type ComplianceRow,
  countsByProtocol,
  type ErrorRow,
  type ExtraRow,
  type HostRow,
  type PortRow,
  type ResultRow,
  rowIdentity,
  type VulnerabilityRow,
} from '../../domain/result.ts';
import { parseAddress } from '../../domain/targets/address.ts';
import type { RowPlace } from '../record/scan-record.ts';
import { IdTable } from './id-table.ts';
import {
  columnSchema,
  findingTable,
  hostTable,
  type MemberTable,
  otherTable,
  otherTypes,
  portTable,
} from './member-table.ts';
import { OlderRows } from './older-rows.ts';
import { poolSchema, StringPool } from './string-pool.ts';
import { variantText } from './variant.ts';

export { versionSchemes };

/** Any change of what is stored: an index of another version is built anew. */
export const indexVersion = 2;

/** Memory of SQLite for pages of the file, KiB. */
const cacheKiB = 2048;

const schema = `
  CREATE TABLE meta (version INTEGER NOT NULL, identity TEXT NOT NULL);
  ${columnSchema}
  ${poolSchema}
`;

/** What an index is about: which table, and which member of it. */
export interface Member {
  table: 'host' | 'port' | 'finding' | 'other';
  number: number;
}

/** Reads a row of the record again. */
export type ReadRow = (place: RowPlace) => ResultRow | null;

/**
 * The members of a record (hosts, ports, findings, other rows) as columns in memory, their texts in a SQLite file. An
 * index of a finished record is saved in the file and loaded again; one of a growing record is not.
 */
export class RecordIndex {
  #database: DatabaseSync;
  #pool: StringPool;
  readonly hosts = hostTable();
  readonly ports = portTable();
  readonly findings = findingTable();
  readonly others = otherTable();
  /** Rows that newer ones of the same member complete, by table; empty for a finished record. */
  readonly older = {
    host: new OlderRows(),
    port: new OlderRows(),
    finding: new OlderRows(),
    other: new OlderRows(),
  };
  /** Of the record that it describes. */
  readonly identity: string;
  /** Number of the last row taken from a growing record. */
  lastRow = 0;
  /** Counts changes of its content. */
  revision = 0;
  readonly #known: KnownMembers | null;
  #lastHost = { name: '', number: -1 };
  #lastPort = -1;

  private constructor(database: DatabaseSync, identity: string, growing: boolean) {
    this.#database = database;
    this.identity = identity;
    this.#pool = new StringPool(database);
    this.#known = growing ? new KnownMembers() : null;
  }

  /** A new index in an empty file. */
  static create(file: string, identity: string, growing: boolean): RecordIndex {
    const database = opened(file);
    // A file that was not completed is never used.
    database.exec('PRAGMA journal_mode = OFF');
    database.exec(schema);
    return new RecordIndex(database, identity, growing);
  }

  /** The index in a file; null if it is none, incomplete, of another version or of another record. */
  static load(file: string, identity: string): RecordIndex | null {
    const database = opened(file);
    try {
      const meta = database.prepare('SELECT version, identity FROM meta').get();
      if (meta?.['version'] !== indexVersion || meta['identity'] !== identity) {
        database.close();
        return null;
      }
      const index = new RecordIndex(database, identity, false);
      for (const table of index.#tables) table.load(database);
      return index;
    } catch {
      // Whatever is wrong with the file: the record has everything that was in it.
      database.close();
      return null;
    }
  }

  get database(): DatabaseSync {
    return this.#database;
  }

  get pool(): StringPool {
    return this.#pool;
  }

  /** Makes room for as many members as a record is expected to have. */
  reserve(hosts: number, ports: number, findings: number): void {
    this.hosts.reserve(hosts);
    this.ports.reserve(ports);
    this.findings.reserve(findings);
  }

  get #tables(): MemberTable<string, string>[] {
    return [this.hosts, this.ports, this.findings, this.others];
  }

  get isGrowing(): boolean {
    return this.#known !== null;
  }

  /** Stores the columns and gives the file its name: from now on it can be loaded. */
  save(draft: string, file: string): void {
    this.database.exec('BEGIN');
    for (const table of this.#tables) table.save(this.database);
    this.database
      .prepare('INSERT INTO meta (version, identity) VALUES (?, ?)')
      .run(indexVersion, this.identity);
    this.database.exec('COMMIT');
    for (const table of this.#tables) table.seal();
    this.#database.close();
    renameSync(draft, file);
    // With the usual journal: its texts are still added to the trigrams.
    this.#database = opened(file);
    this.#pool = new StringPool(this.#database);
  }

  close(): void {
    this.database.close();
  }

  /** Adds a row, or completes its member. Rows of a finished record come in their order, each member once. */
  add(row: ResultRow, place: RowPlace, readRow: ReadRow): void {
    switch (row.type) {
      case 'host':
        return this.#addHost(row, place, readRow);
      case 'port':
        return this.#addPort(row, place, readRow);
      case 'vulnerability':
        return this.#addFinding(row, place, readRow);
      case 'summary':
        return;
      default:
        return this.#addOther(row, place, readRow);
    }
  }

  #addHost(row: HostRow, place: RowPlace, readRow: ReadRow): void {
    const number = this.#hostOf(row.host);
    const { numbers, texts } = this.hosts;
    const merged = this.#merged('host', number, numbers.present.get(number) === 1, row, place, readRow);
    const values = indexedRow(merged, null, null);
    const { latency_ms, port_counts, all_ports_open } = merged;
    numbers.present.set(number, 1);
    numbers.latency.set(number, latency_ms ?? Number.NaN);
    numbers.openPorts.set(number, port_counts?.open ?? 0);
    numbers.allOpen.set(number, all_ports_open === true ? 1 : 0);
    this.hosts.seen.set(number, timeOf(values.seen));
    this.#setPortCounts(number, merged);
    texts.name.set(number, this.pool.intern(listText(values.name)));
    texts.os.set(number, this.pool.intern(values.os));
    texts.device.set(number, this.pool.intern(values.device));
    texts.mac.set(number, this.pool.intern(listText(values.mac)));
  }

  /** The host of an address, without a row of its own at first. */
  #hostOf(address: string): number {
    if (this.#lastHost.name === address) return this.#lastHost.number;
    const { hosts } = this;
    const id = this.pool.intern(address.slice(0, maxAddress));
    let number = this.#known?.hosts.get(id);
    if (number === undefined) {
      number = hosts.count++;
      this.#known?.hosts.set(id, number);
      for (const column of Object.values(hosts.numbers)) column.set(number, 0);
      for (const column of Object.values(hosts.texts)) column.set(number, 0);
      hosts.texts.host.set(number, id);
      this.#setAddress(number, address);
      hosts.numbers.latency.set(number, Number.NaN);
      hosts.seen.set(number, Number.NaN);
    }
    this.#lastHost = { name: address, number };
    return number;
  }

  #setAddress(number: number, text: string): void {
    const { family, word0, word1, word2, word3 } = this.hosts.numbers;
    const address = parseAddress(text);
    family.set(number, address?.family ?? 9);
    for (const [at, word] of [word3, word2, word1, word0].entries())
      word.set(number, Number(((address?.value ?? 0n) >> BigInt(32 * at)) & 0xffff_ffffn));
  }

  #setPortCounts(number: number, row: HostRow): void {
    const { numbers } = this.hosts;
    const { tcp, udp } = countsByProtocol(row);
    numbers.tcpOpen.set(number, tcp?.open ?? 0);
    numbers.tcpClosed.set(number, tcp?.closed ?? 0);
    numbers.tcpFiltered.set(number, tcp?.filtered ?? 0);
    numbers.tcpNotTried.set(number, tcp?.not_tried ?? 0);
    numbers.udpOpen.set(number, udp?.open ?? 0);
    numbers.udpClosed.set(number, udp?.closed ?? 0);
    numbers.udpFiltered.set(number, udp?.filtered ?? 0);
    numbers.udpNotTried.set(number, udp?.not_tried ?? 0);
  }

  #addPort(row: PortRow, place: RowPlace, readRow: ReadRow): void {
    const number = this.#portOf(this.#hostOf(row.host), row.port, row.protocol);
    const { numbers, texts } = this.ports;
    const merged = this.#merged('port', number, numbers.present.get(number) === 1, row, place, readRow);
    const values = indexedRow(null, merged, null);
    numbers.present.set(number, 1);
    numbers.unfinished.set(number, isUnfinished(merged) ? 1 : 0);
    numbers.scheme.set(number, versionSchemes.indexOf(values.version_scheme));
    this.ports.seen.set(number, timeOf(values.seen));
    for (const name of portTexts) texts[name].set(number, this.pool.intern(values[name]));
    for (const name of portLists) texts[name].set(number, this.pool.intern(listText(values[name])));
  }

  #portOf(host: number, port: number, protocol: string | null): number {
    const { ports } = this;
    const { numbers } = ports;
    const transport = transports.indexOf(protocol);
    const last = this.#lastPort;
    if (last >= 0 && numbers.host.get(last) === host && numbers.port.get(last) === port)
      if (numbers.protocol.get(last) === transport) return last;
    const key = (host * 65_536 + port) * 4 + transport;
    let number = this.#known?.ports.get(key);
    if (number === undefined) {
      number = ports.count++;
      this.#known?.ports.set(key, number);
      for (const column of Object.values(numbers)) column.set(number, 0);
      for (const column of Object.values(ports.texts)) column.set(number, 0);
      numbers.host.set(number, host);
      numbers.port.set(number, port & 0xffff);
      numbers.protocol.set(number, transport);
      ports.seen.set(number, Number.NaN);
    }
    this.#lastPort = number;
    return number;
  }

  #addFinding(row: VulnerabilityRow, place: RowPlace, readRow: ReadRow): void {
    const { findings, pool } = this;
    const host = this.#hostOf(row.host);
    const port = row.port === null ? 0 : this.#portOf(host, row.port, row.protocol) + 1;
    const known = this.#known?.findings;
    const key = known === undefined ? 0 : findingKey(host, port, pool.intern(indexedRow(null, null, row).id));
    let number = known?.get(key);
    const isKnown = number !== undefined;
    if (number === undefined) {
      number = findings.count++;
      known?.set(key, number);
    }
    const merged = this.#merged('finding', number, isKnown, row, place, readRow);
    const values = indexedRow(null, null, merged);
    const { numbers, texts } = findings;
    numbers.host.set(number, host);
    numbers.port.set(number, port);
    numbers.severity.set(number, placeIn(severities, values.severity));
    numbers.class.set(number, placeIn(findingClasses, values.class));
    numbers.kev.set(number, values.kev ? 1 : 0);
    numbers.cvss.set(number, values.cvss ?? Number.NaN);
    numbers.epss.set(number, values.epss ?? Number.NaN);
    findings.seen.set(number, timeOf(values.seen));
    for (const name of ['id', 'finding', 'detected'] as const)
      texts[name].set(number, pool.intern(values[name]));
    for (const name of ['action', 'plugin'] as const)
      texts[name].set(number, pool.intern(listText(values[name])));
    const product = () => (port === 0 ? null : pool.text(this.ports.texts.product.get(port - 1)) || null);
    texts.variant.set(number, pool.intern(variantText(merged, product)));
  }

  #addOther(row: ComplianceRow | ExtraRow | ErrorRow, place: RowPlace, readRow: ReadRow): void {
    const { others } = this;
    let number = this.#known?.otherOf(row);
    const isKnown = number !== undefined;
    if (number === undefined) {
      number = others.count++;
      this.#known?.addOther(row, number);
    }
    const merged = this.#merged('other', number, isKnown, row, place, readRow);
    others.numbers.kind.set(number, otherTypes.indexOf(merged.type as (typeof otherTypes)[number]));
    others.texts.fields.set(number, this.pool.intern(changedFields(indexedRemainder(merged))));
  }

  /** A row with the earlier ones of its member; its place becomes the newest one. */
  #merged<R extends ResultRow>(
    table: Member['table'],
    number: number,
    isKnown: boolean,
    row: R,
    place: RowPlace,
    readRow: ReadRow,
  ): R {
    this.revision += 1;
    const members = this.tableOf(table);
    if (isKnown) this.older[table].push(number, members.placeOf(number));
    members.setPlace(number, place);
    if (!isKnown) return row;
    const rows = this.older[table].of(number).flatMap((older) => readRow(older) ?? []) as R[];
    return mergeRows([...rows, row]) ?? row;
  }

  /** The table of a kind of members. */
  tableOf(table: Member['table']): MemberTable<string, string> {
    return { host: this.hosts, port: this.ports, finding: this.findings, other: this.others }[table];
  }

  /** Where the rows of a member are, oldest first. */
  placesOf({ table, number }: Member): RowPlace[] {
    return [...this.older[table].of(number), this.tableOf(table).placeOf(number)];
  }
}

/** Whether a service was not read to its end. */
function isUnfinished({ unidentified_reason, tls, partial, truncated }: PortRow): boolean {
  return (
    Boolean(unidentified_reason) || tls?.['survey'] === 'partial' || partial === true || truncated === true
  );
}

/** Protocols as their numbers in the column; a finding may name none. */
const transports: readonly (string | null)[] = ['tcp', 'udp', null];

/** Between the texts of a list: a character that no query contains. */
const listSeparator = '\u001f';

function listText(texts: readonly string[]): string {
  // Not by a blank, which a query may contain.
  return texts.map((text) => text.replaceAll(listSeparator, '\ufffd')).join(listSeparator);
}

/** The texts of a list as it is stored. */
export function listOfText(text: string): string[] {
  return text === '' ? [] : text.split(listSeparator);
}

/** Milliseconds since 1970; NaN for what is no time. */
function timeOf(seen: string | null): number {
  return seen === null ? Number.NaN : Date.parse(seen);
}

/** A value that is none of the words counts as the one behind them. */
function placeIn(words: readonly string[], value: string | null): number {
  const place = words.indexOf(value ?? '');
  return place < 0 ? words.length : place;
}

/** JSON of what differs from a tuple of nothing; its texts are short enough to be stored whole. */
function changedFields(row: IndexedRow): string {
  const changed = Object.entries(row).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(emptyRow[name as keyof IndexedRow]),
  );
  return JSON.stringify(Object.fromEntries(changed));
}

/** Identity of a finding: its host or port (number + 1), and its ID in the pool. */
function findingKey(host: number, port: number, id: number): number {
  return (port === 0 ? host * 2 : port * 2 + 1) * maxTexts + id;
}

/** Longest address or name of a host, characters: that of a text of a tuple. */
const maxAddress = 1024;

/** Texts that the keys of findings distinguish. */
const maxTexts = 2 ** 24;

const portTexts = [
  'state',
  'reason',
  'service',
  'product',
  'vendor',
  'version',
  'cpe',
  'banner',
  'title',
] as const;
const portLists = ['tls', 'certificate'] as const;

function opened(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA synchronous = OFF; PRAGMA cache_size = -${cacheKiB}; PRAGMA temp_store = FILE`);
  return database;
}

/** Members of a growing record by their identity. */
class KnownMembers {
  readonly hosts = new IdTable();
  readonly ports = new IdTable();
  readonly findings = new IdTable();
  readonly #others = new Map<string, number>();

  otherOf(row: ResultRow): number | undefined {
    return this.#others.get(identityDigest(row));
  }

  addOther(row: ResultRow, number: number): void {
    this.#others.set(identityDigest(row), number);
  }
}

function identityDigest(row: ResultRow): string {
  return hash('sha256', rowIdentity(row), 'base64').slice(0, 22);
}
