import type { Finding } from '../../domain/finding.ts';
import { worstFirst } from '../../domain/finding-order.ts';
import { type Produced, producerMark } from '../../domain/producer.ts';
import type {
  ComplianceRow,
  ErrorRow,
  ExtraRow,
  HostRow,
  PortRow,
  ResultRow,
  VulnerabilityRow,
} from '../../domain/result.ts';
import { completeRow, jsonText } from '../record/row-line.ts';
import { inPieces } from './pieces.ts';
import type { ResultHead } from './result-head.ts';

/**
 * The `data` object of the JSON response: hosts with nested ports, findings in their port, findings without a
 * reported port at their host. `rows` are in the order of `RecordView.rows`; one row is in memory at a time.
 * @param pretty indented by two blanks
 */
export async function* renderJson(
  head: ResultHead,
  rows: AsyncIterable<ResultRow>,
  pretty = false,
): AsyncGenerator<string> {
  yield* inPieces(jsonDocument(head, rows, pretty ? prettyLayout : compactLayout));
}

/** Placement of line breaks and blanks. */
interface JsonLayout {
  /** A value at a nesting depth. */
  value(value: unknown, depth: number): string;
  /** Break before something at a depth. */
  line(depth: number): string;
  colon: string;
}

const compactLayout: JsonLayout = { value: (value) => jsonText(value), line: () => '', colon: ':' };

const prettyLayout: JsonLayout = {
  value: (value, depth) => jsonText(value, 2).replaceAll('\n', prettyLayout.line(depth)),
  line: (depth) => `\n${'  '.repeat(depth)}`,
  colon: ': ',
};

/** Errors, compliance and extra values come before `results`, as in the rows: so nothing is buffered until the end. */
async function* jsonDocument(
  head: ResultHead,
  rows: AsyncIterable<ResultRow>,
  layout: JsonLayout,
): AsyncGenerator<string> {
  const { line, colon } = layout;
  const { scan_id, timestamp, status, partial, targets, summary, warnings } = head;
  const fields = { scan_id, timestamp, status, partial, targets, summary, warnings };
  const members = Object.entries(fields).map(
    ([name, value]) => `${field(layout, 1, name)}${layout.value(value, 1)},`,
  );
  yield `{${members.join('')}${field(layout, 1, 'errors')}[`;
  const body = new JsonBody(layout);
  for await (const row of rows) yield body.add(row);
  yield `${body.end()}${line(0)}}${colon === ': ' ? '\n' : ''}`;
}

function field(layout: JsonLayout, depth: number, name: string): string {
  return `${layout.line(depth)}${JSON.stringify(name)}${layout.colon}`;
}

/** The lists in the order of their rows. */
const lists = ['errors', 'compliance', 'extra', 'results'] as const;
type List = (typeof lists)[number];

/** The lists of a document, row by row. */
class JsonBody {
  readonly #layout: JsonLayout;
  #list: List = 'errors';
  /** Elements so far of the current list. */
  #elements = 0;
  /** Key of the current list of extra values. */
  #extraKey: string | null = null;
  #host: OpenHost | null = null;

  constructor(layout: JsonLayout) {
    this.#layout = layout;
  }

  add(row: ResultRow): string {
    switch (row.type) {
      case 'error':
        return this.#goTo('errors') + this.#element(errorObject(row));
      case 'compliance':
        return this.#goTo('compliance') + this.#element(complianceObject(row));
      case 'extra':
        return this.#goTo('extra') + this.#extra(row);
      case 'summary':
        return '';
      default:
        return this.#goTo('results') + this.#addToHost(row);
    }
  }

  end(): string {
    return `${this.#goTo('results')}${this.#endHost()}${this.#endList()}`;
  }

  #element(value: object): string {
    return `${this.#separator()}${this.#layout.value(value, 2)}`;
  }

  #separator(): string {
    const comma = this.#elements === 0 ? '' : ',';
    this.#elements += 1;
    return `${comma}${this.#layout.line(2)}`;
  }

  /** Closes earlier lists, and opens this one. */
  #goTo(list: List): string {
    const [from, to] = [lists.indexOf(this.#list), lists.indexOf(list)];
    if (from > to) throw new Error('Errors, compliance and extra values come before hosts, as in a record.');
    let text = '';
    for (const next of lists.slice(from + 1, to + 1)) {
      // Without plugins there are none.
      if (next === 'extra' && list !== 'extra') continue;
      text += `${this.#endList()},${field(this.#layout, 1, next)}${next === 'extra' ? '{' : '['}`;
      this.#list = next;
      this.#elements = 0;
    }
    return text;
  }

  /** A list for each key; the rows of a key follow each other. */
  #extra(row: ExtraRow): string {
    const { value, line } = this.#layout;
    let start = ',';
    if (this.#extraKey !== row.key) {
      start = `${this.#extraKey === null ? '' : `${line(2)}],`}${field(this.#layout, 2, row.key)}[`;
      this.#extraKey = row.key;
    }
    return `${start}${line(3)}${value(extraObject(row), 3)}`;
  }

  #endList(): string {
    if (this.#list === 'extra') return `${this.#layout.line(2)}]${this.#layout.line(1)}}`;
    return `${this.#elements === 0 ? '' : this.#layout.line(1)}]`;
  }

  #addToHost(row: HostRow | PortRow | VulnerabilityRow): string {
    if (this.#host?.address === row.host && row.type !== 'host') return this.#host.add(row);
    const end = this.#endHost();
    this.#host = new OpenHost(row.type === 'host' ? row : unseenHost(row), this.#layout);
    const start = `${end}${this.#separator()}${this.#host.start()}`;
    return row.type === 'host' ? start : start + this.#host.add(row);
  }

  #endHost(): string {
    const end = this.#host?.end() ?? '';
    this.#host = null;
    return end;
  }
}

/** A host with only ports or findings on record. */
function unseenHost(row: PortRow | VulnerabilityRow): HostRow {
  return { type: 'host', timestamp: row.timestamp, host: row.host, state: 'up' };
}

type ProducedFinding = Finding & Produced;

/** The object of one host, written as its rows arrive. */
class OpenHost {
  readonly address: string;
  readonly #row: HostRow;
  readonly #layout: JsonLayout;
  #ports = 0;
  #port: PortRow | null = null;
  #portFindings: ProducedFinding[] = [];
  #hostFindings: ProducedFinding[] = [];

  constructor(row: HostRow, layout: JsonLayout) {
    this.address = row.host;
    this.#row = row;
    this.#layout = layout;
  }

  start(): string {
    const { type: _type, timestamp: _timestamp, ...fields } = completeRow(this.#row);
    const written = Object.entries(fields).map(
      ([name, value]) => `${field(this.#layout, 3, name)}${this.#layout.value(value, 3)},`,
    );
    return `{${written.join('')}${field(this.#layout, 3, 'ports')}[`;
  }

  add(row: PortRow | VulnerabilityRow): string {
    if (row.type === 'port') {
      const end = this.#endPort();
      this.#port = row;
      return end;
    }
    const atPort = this.#port?.port === row.port && this.#port?.protocol === row.protocol;
    const finding = { ...completeRow(row).vulnerability, ...producerMark(row) };
    (atPort ? this.#portFindings : this.#hostFindings).push(finding);
    return '';
  }

  end(): string {
    const lastPort = this.#endPort();
    const { value, line } = this.#layout;
    const endPorts = `${this.#ports === 0 ? '' : line(3)}]`;
    const findings = `${field(this.#layout, 3, 'vulnerabilities')}${value(worstFindings(this.#hostFindings), 3)}`;
    return `${lastPort}${endPorts},${findings}${line(2)}}`;
  }

  #endPort(): string {
    if (this.#port === null) return '';
    const { type: _type, timestamp: _timestamp, host: _host, ...fields } = completeRow(this.#port);
    const text = this.#layout.value({ ...fields, vulnerabilities: worstFindings(this.#portFindings) }, 4);
    const comma = this.#ports === 0 ? '' : ',';
    this.#ports += 1;
    this.#port = null;
    this.#portFindings = [];
    return `${comma}${this.#layout.line(4)}${text}`;
  }
}

function complianceObject(row: ComplianceRow): object {
  const { type: _type, timestamp: _timestamp, ...fields } = completeRow(row);
  return fields;
}

function extraObject(row: ExtraRow): object {
  const { type: _type, timestamp: _timestamp, key: _key, ...fields } = row;
  return fields;
}

function errorObject(row: ErrorRow): object {
  const { target, code, message, node } = completeRow(row);
  return { target, code, message, node };
}

function worstFindings(findings: readonly ProducedFinding[]): ProducedFinding[] {
  return worstFirst(findings, (finding) => finding);
}
