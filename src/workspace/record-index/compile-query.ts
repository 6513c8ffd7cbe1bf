import { findingClasses, severities } from '../../domain/finding.ts';
import { isInOrder } from '../../domain/query/compare-values.ts';
import { emptyRow, type IndexedRow } from '../../domain/query/indexed-row.ts';
import { matchQuery } from '../../domain/query/match-query.ts';
import type { Query, QueryCondition, QueryText, QueryValue } from '../../domain/query/query.ts';
import { queryFields } from '../../domain/query/query-fields.ts';
import type { TextColumn } from './columns.ts';
import { listOfText, type RecordIndex, versionSchemes } from './record-index.ts';
import type { TimeColumn } from './time-column.ts';
import {
  complement,
  intersect,
  release,
  setOfFindings,
  setOfHosts,
  setOfPorts,
  type TupleSet,
  uniformSet,
  unite,
} from './tuple-set.ts';

/** Texts compared between two turns. */
const textsPerTurn = 5000;
/** Other rows compared between two turns. */
const rowsPerTurn = 2000;

/**
 * Evaluates a query on the columns of an index. Conditions on texts are decided once per different text, by the
 * reference implementation; no part of a query becomes SQL text.
 * @param turn called between steps of some milliseconds; throws to end the evaluation
 */
export async function tuplesOf(
  index: RecordIndex,
  query: Query | null,
  turn: () => Promise<void>,
): Promise<TupleSet> {
  const set = await new Evaluation(index, turn).of(query);
  set.others = await otherMarks(index, query, turn);
  return set;
}

/** Other rows have fields of every kind: each is compared as a whole. */
async function otherMarks(
  { others, pool }: RecordIndex,
  query: Query | null,
  turn: () => Promise<void>,
): Promise<Uint8Array> {
  if (query === null) return new Uint8Array(others.count).fill(1);
  const marks = new Uint8Array(others.count);
  const known = new Map<number, 0 | 1>();
  for (let at = 0; at < marks.length; at++) {
    const id = others.texts.fields.get(at);
    let mark = known.get(id);
    if (mark === undefined) {
      const fields = JSON.parse(pool.text(id) || '{}') as Partial<IndexedRow>;
      mark = matchQuery(query, { ...emptyRow, ...fields }) ? 1 : 0;
      known.set(id, mark);
      if (known.size % rowsPerTurn === 0) await turn();
    }
    marks[at] = mark;
  }
  return marks;
}

class Evaluation {
  readonly #index: RecordIndex;
  readonly #turn: () => Promise<void>;

  constructor(index: RecordIndex, turn: () => Promise<void>) {
    this.#index = index;
    this.#turn = turn;
  }

  async of(query: Query | null): Promise<TupleSet> {
    await this.#turn();
    if (query === null) return uniformSet(this.#index, 1);
    switch (query.kind) {
      case 'and':
        return await this.#joined(query.terms, intersect);
      case 'or':
        return await this.#joined(query.terms, unite);
      case 'not': {
        const set = await this.of(query.term);
        complement(set);
        return set;
      }
      case 'text':
        return await this.#freeText(query);
      case 'condition':
        return await this.#condition(query);
    }
  }

  async #joined(terms: readonly Query[], join: (into: TupleSet, other: TupleSet) => void): Promise<TupleSet> {
    const [first, ...others] = terms;
    const set = await this.of(first as Query);
    for (const term of others) {
      const other = await this.of(term);
      join(set, other);
      release(other);
    }
    return set;
  }

  async #freeText({ text }: QueryText): Promise<TupleSet> {
    const { hosts, ports, findings, pool } = this.#index;
    const found = await pool.containing(text, this.#turn);
    const ofHosts = new Uint8Array(hosts.count);
    for (const name of searchedOfHosts) markFound(ofHosts, hosts.texts[name], found);
    const ofPorts = new Uint8Array(ports.count);
    for (const name of searchedOfPorts) markFound(ofPorts, ports.texts[name], found);
    const ofFindings = new Uint8Array(findings.count);
    for (const name of searchedOfFindings) markFound(ofFindings, findings.texts[name], found);
    const set = setOfHosts(this.#index, ofHosts);
    for (const other of [setOfPorts(this.#index, ofPorts, 0), setOfFindings(this.#index, ofFindings, 0)]) {
      unite(set, other);
      release(other);
    }
    return set;
  }

  async #condition(condition: QueryCondition): Promise<TupleSet> {
    const { field } = condition;
    if (field === 'seen') return this.#seen(condition);
    if (field === 'type') return this.#types(condition);
    const { record } = queryFields[field];
    if (record === 'host') return setOfHosts(this.#index, await this.#hostMarks(condition));
    const absent = matchQuery(condition, emptyRow) ? 1 : 0;
    if (record === 'port') return setOfPorts(this.#index, await this.#portMarks(condition), absent);
    return setOfFindings(this.#index, await this.#findingMarks(condition), absent);
  }

  async #hostMarks(condition: QueryCondition): Promise<Uint8Array> {
    const { hosts } = this.#index;
    const { field, values } = condition;
    if (field !== 'host') {
      const column = hosts.texts[field as keyof typeof hosts.texts];
      return await this.#textMarks(column, hosts.count, condition);
    }
    const marks = new Uint8Array(hosts.count);
    for (const value of values) {
      const own = await this.#addressMarks(condition, value);
      for (let at = 0; at < marks.length; at++) marks[at] = (marks[at] as number) | (own[at] as number);
    }
    return marks;
  }

  /** Hosts by address, or by address or name. */
  async #addressMarks(condition: QueryCondition, value: QueryValue): Promise<Uint8Array> {
    const { hosts } = this.#index;
    const { host, name } = hosts.texts;
    if (value.kind === 'any') return new Uint8Array(hosts.count).fill(1);
    if (value.kind === 'text') {
      const single = { ...condition, values: [value] };
      const marks = await this.#textMarks(host, hosts.count, single);
      const named = await this.#textMarks(name, hosts.count, { ...single, field: 'name' });
      for (let at = 0; at < marks.length; at++) marks[at] = (marks[at] as number) | (named[at] as number);
      return marks;
    }
    const marks = new Uint8Array(hosts.count);
    if (value.kind !== 'addresses') return marks;
    const [first, last] = [wordsOf(value.first), wordsOf(value.last)];
    const { family } = hosts.numbers;
    for (let at = 0; at < marks.length; at++) {
      if (family.get(at) !== first[0]) continue;
      const [low, high] = [this.#compareAddress(at, first), this.#compareAddress(at, last)];
      marks[at] = isWithin(condition.operator, low, high) ? 1 : 0;
    }
    return marks;
  }

  #compareAddress(host: number, [, ...words]: readonly number[]): number {
    const { word0, word1, word2, word3 } = this.#index.hosts.numbers;
    const present = [word0, word1, word2, word3];
    for (let at = 0; at < 4; at++) {
      const order = (present[at] as typeof word0).get(host) - (words[at] as number);
      if (order !== 0) return order;
    }
    return 0;
  }

  async #portMarks(condition: QueryCondition): Promise<Uint8Array> {
    const { ports } = this.#index;
    const { field } = condition;
    if (field === 'port') return numberMarks(condition, ports.numbers.port.values, ports.count);
    if (field === 'protocol') {
      const words = [...protocolWords, null].map((protocol) =>
        matchQuery(condition, { ...emptyRow, protocol }),
      );
      return wordMarks(words, ports.numbers.protocol.values, ports.count);
    }
    if (field === 'version') return await this.#versionMarks(condition);
    return await this.#textMarks(ports.texts[field as keyof typeof ports.texts], ports.count, condition);
  }

  /** Versions compare by the scheme of their product. */
  async #versionMarks(condition: QueryCondition): Promise<Uint8Array> {
    const { ports } = this.#index;
    const marks = new Uint8Array(ports.count);
    for (const [number, version_scheme] of versionSchemes.entries()) {
      const own = await this.#textMarks(ports.texts.version, ports.count, condition, { version_scheme });
      const scheme = ports.numbers.scheme.values;
      for (let at = 0; at < marks.length; at++) if (scheme[at] === number) marks[at] = own[at] as number;
    }
    return marks;
  }

  async #findingMarks(condition: QueryCondition): Promise<Uint8Array> {
    const { count, numbers, texts } = this.#index.findings;
    switch (condition.field) {
      case 'severity': {
        const words = [...severities, null].map((severity) =>
          matchQuery(condition, { ...emptyRow, severity }),
        );
        return wordMarks(words, numbers.severity.values, count);
      }
      case 'class': {
        const words = findingClasses.map((name) => matchQuery(condition, { ...emptyRow, class: name }));
        return wordMarks(words, numbers.class.values, count);
      }
      case 'kev': {
        const words = [false, true].map((kev) => matchQuery(condition, { ...emptyRow, kev }));
        return wordMarks(words, numbers.kev.values, count);
      }
      case 'cvss':
      case 'epss':
        return numberMarks(condition, numbers[condition.field].values, count);
      default:
        return await this.#textMarks(texts[condition.field as keyof typeof texts], count, condition);
    }
  }

  /** Decides each different text of a column once. @param more other fields that the condition looks at */
  async #textMarks(
    column: TextColumn,
    count: number,
    condition: QueryCondition,
    more: Partial<IndexedRow> = {},
  ): Promise<Uint8Array> {
    const { pool } = this.#index;
    const { field } = condition;
    const { list } = queryFields[field];
    const holds = (id: number) => {
      const text = pool.text(id);
      const value = list ? listOfText(text) : text === '' ? null : text;
      return matchQuery(condition, { ...emptyRow, ...more, [field]: value });
    };
    const { dictionary, values } = column;
    const marks = new Uint8Array(count);
    if (dictionary !== null) {
      const byCode = new Uint8Array(dictionary.length);
      for (const [code, id] of dictionary.entries()) {
        byCode[code] = holds(id) ? 1 : 0;
        if (code % textsPerTurn === textsPerTurn - 1) await this.#turn();
      }
      for (let at = 0; at < count; at++) marks[at] = byCode[values[at] as number] as number;
      return marks;
    }
    const candidates = await this.#candidates(condition);
    // 0: not decided, 1: no, 2: yes.
    const decided = new Uint8Array(pool.size + 1);
    let looked = 0;
    for (let at = 0; at < count; at++) {
      const id = values[at] as number;
      if (decided[id] === 0) {
        if (candidates !== null && candidates[id] === 0 && id > 0) decided[id] = 1;
        else {
          decided[id] = holds(id) ? 2 : 1;
          if (++looked % textsPerTurn === 0) await this.#turn();
        }
      }
      marks[at] = decided[id] === 2 ? 1 : 0;
    }
    return marks;
  }

  /** Texts that may satisfy a condition; null for any. */
  async #candidates({ values }: QueryCondition): Promise<Uint8Array | null> {
    const found = new Uint8Array(this.#index.pool.size + 1);
    for (const value of values) {
      if (value.kind === 'none') continue;
      if (value.kind !== 'text') return null;
      const own = await this.#index.pool.containing(value.text, this.#turn);
      for (let at = 0; at < found.length; at++) found[at] = (found[at] as number) | (own[at] as number);
    }
    return found;
  }

  /** The time of the finding, else of the port, else of the host. */
  #seen(condition: QueryCondition): TupleSet {
    const { hosts, ports, findings, others } = this.#index;
    return {
      findings: timeMarks(condition, findings.seen, findings.count),
      ports: timeMarks(condition, ports.seen, ports.count),
      hosts: timeMarks(condition, hosts.seen, hosts.count),
      others: new Uint8Array(others.count),
    };
  }

  #types(condition: QueryCondition): TupleSet {
    const { hosts, ports, findings, others } = this.#index;
    const byRecords = Array.from({ length: 8 }, (_, bits) => {
      const type = (['host', 'port', 'vulnerability'] as const).filter((_type, bit) => bits & (1 << bit));
      return matchQuery(condition, { ...emptyRow, type }) ? 1 : 0;
    });
    const [present, presentPort] = [hosts.numbers.present.values, ports.numbers.present.values];
    const set = uniformSet(this.#index, 0);
    for (let at = 0; at < hosts.count; at++) set.hosts[at] = byRecords[present[at] as number] as number;
    for (let at = 0; at < ports.count; at++) {
      const host = present[ports.numbers.host.get(at)] as number;
      set.ports[at] = byRecords[host | 2] as number;
    }
    for (let at = 0; at < findings.count; at++) {
      const host = present[findings.numbers.host.get(at)] as number;
      const port = findings.numbers.port.get(at);
      const portBit = port > 0 && presentPort[port - 1] === 1 ? 2 : 0;
      set.findings[at] = byRecords[host | portBit | 4] as number;
    }
    set.others = new Uint8Array(others.count);
    return set;
  }
}

/** Protocols as their numbers in the column. */
export const protocolWords = ['tcp', 'udp'] as const;

/** What free text is searched in, as in `search-text.ts`. */
const searchedOfHosts = ['host', 'name', 'os', 'device', 'mac'] as const;
const searchedOfPorts = [
  'service',
  'product',
  'vendor',
  'version',
  'cpe',
  'title',
  'tls',
  'certificate',
  'banner',
] as const;
const searchedOfFindings = ['id', 'finding', 'action', 'detected'] as const;

function markFound(marks: Uint8Array, { dictionary, values }: TextColumn, found: Uint8Array): void {
  const byValue = dictionary === null ? found : Uint8Array.from(dictionary, (id) => found[id] as number);
  for (let at = 0; at < marks.length; at++)
    marks[at] = (marks[at] as number) | (byValue[values[at] as number] as number);
}

function wordMarks(byWord: readonly boolean[], values: ArrayLike<number>, count: number): Uint8Array {
  const marks = new Uint8Array(count);
  const marked = Uint8Array.from(byWord, Number);
  for (let at = 0; at < count; at++) marks[at] = marked[values[at] as number] ?? 0;
  return marks;
}

/** NaN is absent. Scores are stored, and compared, as numbers of 32 bits. */
function numberMarks(
  { operator, values: wanted }: QueryCondition,
  values: ArrayLike<number>,
  count: number,
): Uint8Array {
  const marks = new Uint8Array(count);
  for (const value of wanted) {
    if (value.kind === 'numbers') {
      const [first, last] = [Math.fround(value.first), Math.fround(value.last)];
      for (let at = 0; at < count; at++)
        if (isInOrder(values[at] as number, operator, first, last)) marks[at] = 1;
    } else {
      const absent = value.kind === 'none';
      for (let at = 0; at < count; at++) if (Number.isNaN(values[at]) === absent) marks[at] = 1;
    }
  }
  return marks;
}

function timeMarks(
  { operator, values: wanted }: QueryCondition,
  times: TimeColumn,
  count: number,
): Uint8Array {
  const marks = new Uint8Array(count);
  for (const value of wanted) {
    // The end of a time is exclusive.
    const [first, last] =
      value.kind === 'time'
        ? [Date.parse(value.from), Date.parse(value.to) - 1]
        : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    const absent = value.kind === 'none';
    for (let at = 0; at < count; at++) {
      const seen = times.get(at);
      if (value.kind === 'time' ? isInOrder(seen, operator, first, last) : Number.isNaN(seen) === absent)
        marks[at] = 1;
    }
  }
  return marks;
}

/** Whether an address stands as the operator says to a range: its order to the first and to the last address. */
function isWithin(operator: QueryCondition['operator'], toFirst: number, toLast: number): boolean {
  switch (operator) {
    case '>':
      return toLast > 0;
    case '>=':
      return toFirst >= 0;
    case '<':
      return toFirst < 0;
    case '<=':
      return toLast <= 0;
    default:
      return toFirst >= 0 && toLast <= 0;
  }
}

/** The family and the four words of a key of `addressKey`. */
function wordsOf(key: string): number[] {
  const digits = key.slice(1).padStart(32, '0');
  const words = [0, 8, 16, 24].map((at) => Number.parseInt(digits.slice(at, at + 8), 16));
  return [Number(key[0]), ...words];
}
