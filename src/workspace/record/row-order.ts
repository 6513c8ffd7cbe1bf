import { type ResultRow, rowIdentity } from '../../domain/result.ts';
import { parseAddress } from '../../domain/targets/address.ts';

/** Position of a row in the data file. */
export interface RowPosition {
  /** Bytes. */
  offset: number;
  length: number;
  /** Its number in the growing record. */
  row: number;
}

type Columns = Uint32Array | Float64Array;

/** A growable typed array. */
class Column<A extends Columns> {
  #values: A;
  readonly #make: (length: number) => A;
  #length = 0;

  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#values = make(1024);
  }

  push(value: number): void {
    if (this.#length === this.#values.length) this.#grow();
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  #grow(): void {
    const larger = this.#make(this.#length * 2);
    larger.set(this.#values);
    this.#values = larger;
  }

  at(index: number): number {
    return this.#values[index] as number;
  }

  get length(): number {
    return this.#length;
  }
}

const uint32 = () => new Column((length) => new Uint32Array(length));
const float64 = () => new Column((length) => new Float64Array(length));

/** Texts as small numbers, in order of first appearance. */
class Numbering {
  readonly #numbers = new Map<string, number>();

  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }

  get texts(): string[] {
    return [...this.#numbers.keys()];
  }

  get size(): number {
    return this.#numbers.size;
  }
}

/** Sections before the hosts, in their order. */
const headSections = { error: 0, compliance: 1, extra: 2 } as const;
/** Section of the first host. */
const firstHost = 3;

/** Sort key of findings without a port within a host: after all ports. */
const behindPorts = 0xffff_ffff;

/** Sort key of a port: the port number, then TCP before UDP; 0 is the host's own row. */
function portPlace(port: number, protocol: string | null): number {
  return (port + 1) * 2 + (protocol === 'udp' ? 1 : 0);
}

/**
 * The start of a port line as written by rowLine. Ports are nearly all rows of a large record, and sorting does not
 * require parsing their banners and attributes.
 */
const portHead =
  /^\{"type":"port","timestamp":"[^"\\]*","host":"([ !#-[\]-~]*)","port":(\d{1,5}),"protocol":"(tcp|udp)"[,}]/;

/** Bytes of a line that contain every head. */
const headLength = 256;

/**
 * The sorted order of a record's rows: errors and compliance rows in order of arrival, extra rows by key; then the
 * hosts by address, each with its ports ascending, each port followed by its findings; findings without a port end the host. Stores 28
 * bytes per row and the texts of the hosts, not the rows: a million rows stay below 50 MB.
 */
export class RowOrder {
  readonly #hosts = new Numbering();
  readonly #errors = new Numbering();
  readonly #judgements = new Numbering();
  readonly #extraKeys = new Numbering();
  readonly #extras = new Numbering();
  readonly #findings = new Numbering();
  /** Of `headSections`, else index of the host + firstHost. */
  readonly #section = uint32();
  readonly #place = uint32();
  /** 0 = the host or port itself, else index of the finding or extra row + 1. */
  readonly #finding = uint32();
  readonly #offset = float64();
  readonly #length = uint32();
  readonly #row = uint32();

  /**
   * Adds a line of the record, oldest first. Skips damaged lines and summaries.
   * @param parse parses the whole line; called only if its head is not enough
   */
  add(line: Buffer, place: RowPosition, parse: (line: Buffer) => ResultRow | null, sound: boolean): void {
    const head = sound ? portHead.exec(line.toString('latin1', 0, headLength)) : null;
    if (head) {
      this.#push(
        this.#hosts.numberOf(head[1] as string) + firstHost,
        portPlace(Number(head[2]), head[3] as string),
        0,
        place,
      );
      return;
    }
    const row = parse(line);
    if (row !== null) this.#addRow(row, place);
  }

  #addRow(row: ResultRow, place: RowPosition): void {
    switch (row.type) {
      case 'error':
        return this.#push(headSections.error, this.#errors.numberOf(rowIdentity(row)), 0, place);
      case 'compliance':
        return this.#push(headSections.compliance, this.#judgements.numberOf(rowIdentity(row)), 0, place);
      case 'extra': {
        const [at, extra] = [this.#extraKeys.numberOf(row.key), this.#extras.numberOf(rowIdentity(row))];
        return this.#push(headSections.extra, at, extra + 1, place);
      }
      case 'host':
        return this.#push(this.#hosts.numberOf(row.host) + firstHost, 0, 0, place);
      case 'port':
        return this.#push(
          this.#hosts.numberOf(row.host) + firstHost,
          portPlace(row.port, row.protocol),
          0,
          place,
        );
      case 'vulnerability': {
        const finding = this.#findings.numberOf(`${row.vulnerability.id} ${row.protocol ?? ''}`) + 1;
        const at = row.port === null ? behindPorts : portPlace(row.port, row.protocol);
        return this.#push(this.#hosts.numberOf(row.host) + firstHost, at, finding, place);
      }
    }
  }

  #push(section: number, at: number, finding: number, place: RowPosition): void {
    this.#section.push(section);
    this.#place.push(at);
    this.#finding.push(finding);
    this.#offset.push(place.offset);
    this.#length.push(place.length);
    this.#row.push(place.row);
  }

  /** The positions of all rows of one identity, oldest first; the identities sorted. */
  *identities(): Generator<RowPosition[]> {
    const { rows, starts } = this.#rowsBySection();
    const findingRanks = ranksOf(this.#findings.texts);
    const head = Object.values(headSections);
    for (const section of [...head, ...sortedHosts(this.#hosts.texts).map((host) => host + firstHost)]) {
      const members = rows.subarray(starts[section], starts[section + 1]);
      yield* this.#identitiesOf(members, section === headSections.extra ? null : findingRanks);
    }
  }

  /** Counting sort: linear and stable. */
  #rowsBySection(): { rows: Uint32Array; starts: Uint32Array } {
    const starts = new Uint32Array(this.#hosts.size + firstHost + 1);
    for (let i = 0; i < this.#section.length; i++) bump(starts, this.#section.at(i) + 1);
    for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number);
    const next = starts.slice();
    const rows = new Uint32Array(this.#section.length);
    for (let i = 0; i < rows.length; i++) rows[bump(next, this.#section.at(i))] = i;
    return { rows, starts };
  }

  /** @param findingRanks null = in order of arrival */
  *#identitiesOf(rows: Uint32Array, findingRanks: Uint32Array | null): Generator<RowPosition[]> {
    const rank = (row: number) => {
      const finding = this.#finding.at(row);
      if (findingRanks === null) return finding;
      return finding === 0 ? -1 : (findingRanks[finding - 1] as number);
    };
    rows.sort((a, b) => this.#place.at(a) - this.#place.at(b) || rank(a) - rank(b) || a - b);
    for (let start = 0, end = 0; start < rows.length; start = end) {
      while (end < rows.length && this.#isSame(rows[start] as number, rows[end] as number)) end += 1;
      yield Array.from(rows.subarray(start, end), (row) => this.#placeOf(row));
    }
  }

  #isSame(a: number, b: number): boolean {
    return this.#place.at(a) === this.#place.at(b) && this.#finding.at(a) === this.#finding.at(b);
  }

  #placeOf(row: number): RowPosition {
    return { offset: this.#offset.at(row), length: this.#length.at(row), row: this.#row.at(row) };
  }
}

/** Increments a counter. @returns its previous value */
function bump(counters: Uint32Array, index: number): number {
  const value = counters[index] as number;
  counters[index] = value + 1;
  return value;
}

/** Host indices sorted by address, IPv4 before IPv6; other texts come last. */
function sortedHosts(hosts: string[]): number[] {
  return numbersByText(hosts.map(addressKey));
}

/**
 * Compares rows in record order: those before the hosts, in order of arrival; then by address, the host itself first,
 * then its ports, each followed by its findings. 0 = the same identity.
 */
export function compareRows(a: ResultRow, b: ResultRow): number {
  const [first, second] = [sectionOf(a), sectionOf(b)];
  if (first !== second) return first - second;
  if (first < firstHost) return rowIdentity(a) === rowIdentity(b) ? 0 : -1;
  return (
    hostOrder(a.host ?? '', b.host ?? '') ||
    placeInHost(a) - placeInHost(b) ||
    textOrder(findingText(a), findingText(b))
  );
}

function sectionOf({ type }: ResultRow): number {
  return type === 'error' || type === 'compliance' || type === 'extra' ? headSections[type] : firstHost;
}

function hostOrder(a: string, b: string): number {
  return a === b ? 0 : textOrder(addressKey(a), addressKey(b));
}

function textOrder(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function placeInHost(row: ResultRow): number {
  if (row.type === 'port') return portPlace(row.port, row.protocol);
  if (row.type !== 'vulnerability') return 0;
  return row.port === null ? behindPorts : portPlace(row.port, row.protocol);
}

function findingText(row: ResultRow): string {
  return row.type === 'vulnerability' ? `${row.vulnerability.id} ${row.protocol ?? ''}` : '';
}

function addressKey(text: string): string {
  const address = parseAddress(text);
  if (address === null) return `9 ${text}`;
  return `${address.family}${address.value.toString(16).padStart(32, '0')}${address.zone ?? ''}`;
}

/** For each text its rank in sorted order. */
function ranksOf(texts: string[]): Uint32Array {
  const ranks = new Uint32Array(texts.length);
  for (const [rank, number] of numbersByText(texts).entries()) ranks[number] = rank;
  return ranks;
}

function numbersByText(texts: string[]): number[] {
  const order = (a: number, b: number) => ((texts[a] as string) < (texts[b] as string) ? -1 : 1);
  return texts.map((_, number) => number).sort(order);
}
