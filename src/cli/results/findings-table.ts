import {
  type FindingClass,
  noFindings,
  type Severity,
  type SeverityCounts,
  severities,
} from '../../domain/finding.ts';
import { byWorst, type Urgency, urgencyOf } from '../../domain/finding-order.ts';
import { producersOf } from '../../domain/producer.ts';
import type { VulnerabilityRow } from '../../domain/result.ts';
import { compareAddresses } from '../../domain/targets/address.ts';
import { hostPortText } from '../../workspace/render/port-lists.ts';
import { amountText } from '../terminal/draw/amounts.ts';
import { drawTable, type Narrowing, type TableColumn } from '../terminal/draw/columns.ts';
import { ellipsisOf, paint, type TerminalStyle, type TextColor } from '../terminal/draw/style.ts';

/** Maximum number of findings that a terminal shows at the end of a scan. */
const maxRows = 20;
/** From this width on a finding has one line, columns. */
const oneLineColumns = 60;
const exploitedMark = 'EXPLOITED ';
/** Not shown unless asked for. */
const minor: readonly Severity[] = ['low', 'info'];

export interface FindingChoice {
  /** Least severity that is shown; null = all but low and info. */
  least: Severity | null;
  /** All of them, also in a terminal. */
  isWhole: boolean;
  /** Where the others are, for a terminal. */
  command: string;
}

/** What the table has of a finding: a scan may have very many. */
interface ListedFinding extends Urgency {
  id: string;
  title: string;
  host: string;
  port: number | null;
  /** Ports with the same finding, in their order; more than one only in a row of the table. */
  ports: number[];
  mayBePatched: boolean;
  plugins: string;
}

/** The findings of all hosts in one table, worst first. */
export class FindingsTable {
  readonly counts: SeverityCounts = noFindings();
  readonly #choice: FindingChoice;
  readonly #findings: ListedFinding[] = [];
  /** Hosts share the titles of findings. */
  readonly #titles = new Map<string, string>();

  constructor(choice: FindingChoice) {
    this.#choice = choice;
  }

  add(row: VulnerabilityRow): void {
    const finding = this.#listed(row);
    this.counts[finding.severity] += 1;
    this.#findings.push(finding);
  }

  /** Empty without findings that are to be shown. */
  render(style: TerminalStyle): string {
    const shown = this.#findings.filter(({ severity }) => this.#isShown(severity)).sort(inOrder);
    const joined = joinedByHost(shown);
    const isCut = style.terminal && !this.#choice.isWhole && joined.length > maxRows;
    const rows = isCut ? joined.slice(0, maxRows) : joined;
    const table = rows.length === 0 ? '' : markExploited(drawFindings(rows, style), style);
    return table + this.#more(rows, style) + this.#doubts(shown, style);
  }

  #listed({ vulnerability, host, port, ...row }: VulnerabilityRow): ListedFinding {
    const { id, backport_note } = vulnerability;
    const title = vulnerability.title || id;
    const known = this.#titles.get(title) ?? title;
    this.#titles.set(known, known);
    return {
      id,
      title: known,
      ...urgencyOf(vulnerability),
      host,
      port,
      ports: port === null ? [] : [port],
      mayBePatched: Boolean(backport_note),
      plugins: producersOf(row)
        .map(({ name }) => name)
        .join(', '),
    };
  }

  #isShown(severity: Severity): boolean {
    const { least, isWhole } = this.#choice;
    if (least !== null) return severities.indexOf(severity) <= severities.indexOf(least);
    return isWhole || !minor.includes(severity);
  }

  /** `… 39 more (4 critical, 11 high, 11 medium, 13 low): portolan workspace show latest --findings` */
  #more(rows: readonly ListedFinding[], style: TerminalStyle): string {
    const left = { ...this.counts };
    for (const { severity, ports } of rows) left[severity] -= Math.max(1, ports.length);
    const count = Object.values(left).reduce((sum, one) => sum + one, 0);
    if (count === 0) return '';
    const what = rows.length === 0 ? 'not listed' : 'more';
    const text = `${ellipsisOf(style)} ${amountText(count)} ${what} (${severitiesText(left)}): `;
    return `${paint(style, text + this.#choice.command, 'dim')}\n`;
  }

  #doubts(shown: readonly ListedFinding[], style: TerminalStyle): string {
    const count = shown.filter((one) => one.class === 'possible' && one.mayBePatched).length;
    if (count === 0) return '';
    const text = 'possible: distributions fix without a new version; portolan explain HOST:PORT tells more';
    return `${paint(style, `${amountText(count)} ${text}`, 'dim')}\n`;
  }
}

/** `21 critical, 14 high, 11 medium, 13 low` */
export function severitiesText(
  counts: SeverityCounts,
  style: Pick<TerminalStyle, 'color'> = { color: false },
): string {
  return severities
    .filter((name) => counts[name] > 0)
    .map((name) => paintSeverity(`${amountText(counts[name])} ${name}`, name, style))
    .join(', ');
}

function paintSeverity(text: string, severity: Severity, style: Pick<TerminalStyle, 'color'>): string {
  const painted = paint(style, text, colors[severity] ?? null);
  return severity === 'critical' ? paint(style, painted, 'bold') : painted;
}

const colors: Partial<Record<Severity, TextColor>> = { critical: 'red', high: 'red', medium: 'yellow' };
const marks: Record<FindingClass, string> = { certain: '●', likely: '◐', possible: '○' };

function classText({ class: name }: ListedFinding, { ascii }: TerminalStyle): string {
  return ascii ? name : `${marks[name]} ${name}`;
}

function drawFindings(rows: readonly ListedFinding[], style: TerminalStyle): string {
  if (style.terminal && style.columns < oneLineColumns) return drawShort(rows, style);
  const hasPlugins = rows.some(({ plugins }) => plugins !== '');
  const columns: TableColumn<ListedFinding>[] = [
    severityColumn,
    {
      head: 'CLASS',
      cell: (row) => classText(row, style),
      over: (row) => (style.ascii ? row.class.slice(0, 4) : marks[row.class]),
    },
    { head: 'CVSS', cell: ({ cvss }) => cvss?.toFixed(1) ?? null, right: true },
    { head: 'EPSS', cell: ({ epss }) => epss?.toFixed(2) ?? null, right: true },
    { head: 'WHERE', cell: (row) => placeOf(row, style) },
    { head: 'ID', cell: ({ id }) => id },
    { head: 'TITLE', cell: titleOf, over: 'end' },
    ...(hasPlugins && !style.terminal ? [{ head: 'PLUGIN', cell: (row: ListedFinding) => row.plugins }] : []),
  ];
  return boldCritical(drawTable(columns, rows, style, narrowing), style);
}

const narrowing: Narrowing = [
  ['TITLE', 28],
  ['EPSS', 0],
  ['CVSS', 0],
  ['TITLE', 16],
  ['CLASS', 5],
  ['ID', 0],
];

const severityColumn: TableColumn<ListedFinding> = {
  head: 'SEVERITY',
  cell: ({ severity }) => severity.toUpperCase(),
  paint: ({ severity }) => colors[severity] ?? null,
};

/** Ports of one row that a terminal names; a pipe has all of them. */
const shownPorts = 4;

/** `192.0.2.7:22,2222` */
function placeOf({ host, port, ports }: ListedFinding, { terminal }: TerminalStyle): string {
  if (port === null) return host;
  const named = [...new Set(ports)].slice(1, terminal ? shownPorts : undefined).map((each) => `,${each}`);
  const more = new Set(ports).size - named.length - 1;
  return `${hostPortText({ host, port })}${named.join('')}${more > 0 ? ` +${more}` : ''}`;
}

/** Equal findings of one host are one row with their ports. @param findings in the order of the table */
function joinedByHost(findings: readonly ListedFinding[]): ListedFinding[] {
  const rows = new Map<string, ListedFinding>();
  for (const finding of findings) {
    const { host, port, id, severity, class: name } = finding;
    const key = `${host} ${port === null ? 'host' : ''} ${severity} ${name} ${id}`;
    const known = rows.get(key);
    if (known) known.ports.push(...finding.ports);
    else rows.set(key, { ...finding, ports: [...finding.ports] });
  }
  return [...rows.values()];
}

function titleOf({ title, exploited }: ListedFinding): string {
  return exploited ? exploitedMark + title : title;
}

/** Two lines a finding. */
function drawShort(rows: readonly ListedFinding[], style: TerminalStyle): string {
  const columns: TableColumn<ListedFinding>[] = [
    severityColumn,
    { head: 'CLASS', cell: (row) => (style.ascii ? row.class.slice(0, 4) : marks[row.class]) },
    { head: 'WHERE', cell: (row) => placeOf(row, style) },
    { head: 'TITLE', cell: titleOf, over: 'end' },
  ];
  const width = Math.max(16, style.columns - 2);
  const wide: TableColumn<ListedFinding>[] = columns.with(3, {
    head: 'TITLE',
    // Wide enough to stand in a line of its own.
    cell: (row) => titleOf(row).padEnd(width),
    over: 'end',
  });
  return boldCritical(drawTable(wide, rows, style, [['TITLE', width]]), style);
}

function boldCritical(table: string, style: TerminalStyle): string {
  const word = paint(style, 'CRITICAL', 'red');
  return style.color ? table.replaceAll(`\n${word}`, `\n${paint(style, word, 'bold')}`) : table;
}

function markExploited(table: string, style: TerminalStyle): string {
  if (!style.color) return table;
  const word = exploitedMark.trim();
  return table.replaceAll(`  ${word} `, `  ${paint(style, word, 'inverse')} `);
}

/** Worst first, equal ones by address and port. */
function inOrder(one: ListedFinding, other: ListedFinding): number {
  return (
    byWorst(one, other) ||
    compareAddresses(one.host, other.host) ||
    (one.port ?? -1) - (other.port ?? -1) ||
    (one.id < other.id ? -1 : 1)
  );
}
