import pc from 'picocolors';
import { kindText } from '../../domain/asset.ts';
import { classOf, type Finding, type FindingClass, findingClasses } from '../../domain/finding.ts';
import { producersOf } from '../../domain/producer.ts';
import type {
  ComplianceRow,
  ExtraRow,
  HostRow,
  PortRow,
  ResultRow,
  SummaryRow,
  VulnerabilityRow,
} from '../../domain/result.ts';
import { unidentifiedReasons } from '../../domain/text/banner.ts';
import { serviceNameOf } from '../../knowledge/ports.ts';
import { mostUrgentFirst } from '../../workspace/render/finding-order.ts';
import { columnsOf, fit, pad, printable } from '../terminal/printable.ts';
import { formatCount } from '../terminal/progress-bar.ts';
import { portEvidence } from './port-evidence.ts';

/** Style of a table. */
export interface TableStyle {
  /** Width of the terminal. */
  columns: number;
  /** Whether the output is a terminal; elsewhere findings are not truncated. */
  terminal?: boolean;
  color: boolean;
}

type Colors = ReturnType<typeof pc.createColors>;
type Cells = [port: string, state: string, service: string, product: string, evidence: string];

const gap = '  ';
const titles: Cells = ['PORT', 'STATE', 'SERVICE', 'PRODUCT', 'EVIDENCE'];
/** Widest service column of a table, characters. */
const maxServiceColumns = 16;
/** Widest product column of a table, characters. */
const maxProductColumns = 30;
/** Minimum width of the banner column. */
const minEvidenceColumns = 12;

/** Style for a stream: width of the terminal or 80 columns, colors if the terminal supports them. */
export function tableStyle(stream: { isTTY?: boolean; columns?: number }, noColor: boolean): TableStyle {
  const color =
    Boolean(stream.isTTY) && !noColor && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
  const terminal = Boolean(stream.isTTY);
  return { columns: Math.max(40, (terminal && stream.columns) || 80), terminal, color };
}

/**
 * The result of a scan for people: one block per host, then a summary. `rows` come in the order of the record: each
 * host is followed by its ports and findings. One host at a time lies in memory.
 */
export async function* renderTable(
  rows: AsyncIterable<ResultRow>,
  summary: SummaryRow | null,
  style: TableStyle,
): AsyncIterable<string> {
  const colors = pc.createColors(style.color);
  const classes = { certain: 0, likely: 0, possible: 0 };
  let last = summary;
  let before: HostBlock | null = null;
  for await (const item of blocksOf(rows, style, colors)) {
    if (typeof item === 'string') {
      yield item;
      continue;
    }
    if (!(item instanceof HostBlock)) {
      last = item;
      continue;
    }
    // Single-line hosts stay together; an empty line separates the rest.
    if (before && !(before.isEmpty && item.isEmpty)) yield '\n';
    yield item.render();
    for (const name of item.classes) classes[name] += 1;
    before = item;
  }
  if (last) yield `${before ? '\n' : ''}${renderSummary(last, classes, colors)}\n`;
}

async function* blocksOf(
  rows: AsyncIterable<ResultRow>,
  style: TableStyle,
  colors: Colors,
): AsyncIterable<HostBlock | SummaryRow | string> {
  let block: HostBlock | null = null;
  const compliance = new ComplianceSummary(style, colors);
  const extras = new ExtraSummary(style, colors);
  for await (const row of rows) {
    if (row.type === 'compliance') {
      yield* compliance.add(row);
      continue;
    }
    if (row.type !== 'error') yield* compliance.end();
    if (row.type === 'extra') {
      extras.add(row);
      continue;
    }
    if (row.type !== 'error') yield* extras.end();
    if (row.type === 'error') {
      yield `${colors.yellow(`${printable(row.target ?? 'scan')}: ${printable(row.message)}`)}\n`;
      continue;
    }
    if (row.type === 'summary') {
      if (block) yield block;
      block = null;
      yield row;
      continue;
    }
    if (row.type === 'host' || block?.address !== row.host) {
      if (block) yield block;
      const host: HostRow =
        row.type === 'host' ? row : { type: 'host', timestamp: row.timestamp, host: row.host, state: 'up' };
      block = new HostBlock(host, style, colors);
    }
    if (row.type !== 'host') block.add(row);
  }
  if (block) yield block;
}

/** Maximum number of failed controls to list; the rest are counted. */
const maxNamedControls = 100;

/** Compliance verdicts: a line for each failed control, then the counts. */
class ComplianceSummary {
  readonly #style: TableStyle;
  readonly #colors: Colors;
  #counts = { fail: 0, pass: 0, not_assessed: 0 };

  constructor(style: TableStyle, colors: Colors) {
    this.#style = style;
    this.#colors = colors;
  }

  *add({ framework, control, host, port, title, status }: ComplianceRow): Generator<string> {
    this.#counts[status] += 1;
    if (status !== 'fail' || this.#counts.fail > maxNamedControls) return;
    const place = port === null ? (host ?? '') : `${host}, port ${port}`;
    const text = `${framework} ${control} failed at ${place}: ${title}`;
    yield `${this.#colors.yellow(fit(printable(text), this.#style.columns))}\n`;
  }

  *end(): Generator<string> {
    const { fail, pass, not_assessed } = this.#counts;
    this.#counts = { fail: 0, pass: 0, not_assessed: 0 };
    if (fail + pass + not_assessed === 0) return;
    yield `${this.#colors.bold(`compliance: ${fail} failed, ${pass} passed, ${not_assessed} not assessed`)}\n\n`;
  }
}

/** Values under keys of plugins: how many of each key. */
class ExtraSummary {
  readonly #style: TableStyle;
  readonly #colors: Colors;
  readonly #counts = new Map<string, number>();

  constructor(style: TableStyle, colors: Colors) {
    this.#style = style;
    this.#colors = colors;
  }

  add({ key }: ExtraRow): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  *end(): Generator<string> {
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts].map(([key, count]) => `${count} ${key}`).join(', ');
    this.#counts.clear();
    yield `${this.#colors.bold(fit(printable(`extra values: ${counts}`), this.#style.columns))}\n\n`;
  }
}

class HostBlock {
  readonly #host: HostRow;
  readonly #style: TableStyle;
  readonly #colors: Colors;
  readonly #ports: PortRow[] = [];
  readonly #findings: VulnerabilityRow[] = [];

  constructor(host: HostRow, style: TableStyle, colors: Colors) {
    this.#host = host;
    this.#style = style;
    this.#colors = colors;
  }

  get address(): string {
    return this.#host.host;
  }

  add(row: PortRow | VulnerabilityRow): void {
    if (row.type === 'port') this.#ports.push(row);
    else this.#findings.push(row);
  }

  /** The class of each finding. */
  get classes(): FindingClass[] {
    return this.#findings.map(({ vulnerability }) => classOf(vulnerability));
  }

  get isEmpty(): boolean {
    return this.#ports.length === 0 && this.#findings.length === 0 && !this.#host.all_ports_open;
  }

  render(): string {
    if (this.isEmpty) return `${this.#header(this.#emptyText())}\n`;
    return `${[this.#header(), ...this.#portLines(), ...this.#notes()].join('\n')}\n`;
  }

  /** Empty if no port was probed. */
  #emptyText(): string {
    if (!this.#host.port_counts) return '';
    const others = this.#otherPorts();
    return others === '' ? 'no open port found' : `no open port found (${others})`;
  }

  #header(remark = ''): string {
    const host = this.#host;
    const names = host.hostnames?.length ? ` (${host.hostnames.join(', ')})` : '';
    const latency = typeof host.latency_ms === 'number' ? `, ${latencyText(host.latency_ms)}` : '';
    const facts = [`${host.state}${latency}`, kindText(host), host.mac, host.vendor, remark].filter(Boolean);
    const address = printable(host.host);
    const rest = fit(printable(`${names}  ${facts.join('  ')}`), this.#style.columns - columnsOf(address));
    return this.#colors.bold(address) + rest;
  }

  #portLines(): string[] {
    if (this.#ports.length === 0) return [];
    const rows = this.#ports.map(cellsOf);
    const widths = this.#widths(rows);
    const title = this.#colors.dim(line(titles, widths));
    return [title, ...this.#ports.map((port, index) => this.#portLine(port, rows[index] as Cells, widths))];
  }

  #portLine(port: PortRow, cells: Cells, widths: number[]): string {
    const text = line(cells, widths);
    const head = (widths[0] as number) + (widths[1] as number) + gap.length;
    // Ports and states are ASCII, so characters are columns here.
    return (
      (port.state === 'open' ? this.#colors.green(text.slice(0, head)) : text.slice(0, head)) +
      text.slice(head)
    );
  }

  #widths(rows: Cells[]): number[] {
    const needed = titles.map((title, column) =>
      Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map(columnsOf)),
    );
    const [port = 0, state = 0, service = 0, product = 0] = needed;
    const widths = [port, state, Math.min(service, maxServiceColumns), Math.min(product, maxProductColumns)];
    const used = widths.reduce((sum, width) => sum + width + gap.length, 0);
    const left = this.#style.columns - used;
    return [...widths, left >= minEvidenceColumns ? left : 0];
  }

  #notes(): string[] {
    const notes: string[] = [];
    const others = this.#otherPorts();
    if (others !== '') notes.push(this.#colors.dim(`not shown: ${others}`));
    if (this.#host.all_ports_open) {
      notes.push(
        this.#colors.yellow('this host accepts nearly every port; open ports are not evidence of services'),
      );
    }
    const ranked = mostUrgentFirst(this.#findings, ({ vulnerability }) => vulnerability);
    const ofClass = (name: FindingClass) =>
      ranked.filter(({ vulnerability }) => classOf(vulnerability) === name);
    return [...notes, ...findingClasses.flatMap(ofClass).map((row) => this.#findingLine(row))];
  }

  /** `997 closed, 1 filtered` */
  #otherPorts(): string {
    const { closed = 0, filtered = 0, not_tried = 0 } = this.#host.port_counts ?? {};
    const counts = { closed, filtered, 'not tried': not_tried };
    return Object.entries(counts)
      .filter(([, amount]) => amount > 0)
      .map(([state, amount]) => `${amount} ${state}`)
      .join(', ');
  }

  /**
   * `  HIGH      ● certain    95 %  80/tcp  CVE-2021-41773  Title`, followed by a note on possible backports. If the
   * note does not fit, a mark replaces it and the title is truncated. The plugin behind it follows where it fits.
   */
  #findingLine(row: VulnerabilityRow): string {
    const { vulnerability: finding, port, protocol } = row;
    const place = port === null ? 'host' : `${port}/${protocol}`;
    const name = classOf(finding);
    const severity = finding.severity.toUpperCase();
    const sure = `${Math.round((finding.confidence ?? 0) * 100)} %`.padStart(5);
    const facts = `${classMarks[name]} ${name.padEnd(longestClass)}  ${sure}  ${place}  ${finding.id}`;
    const whole = (note: string, title: string) =>
      `  ${severity.padEnd(longestSeverity)}  ${facts}  ${note}${title}`;
    const note = finding.backport_note ?? '';
    const text = printable(whole('', finding.title) + (note === '' ? '' : `  (${note})`));
    const { columns, terminal } = this.#style;
    const fits = !terminal || columnsOf(text) <= columns;
    const shown = fits
      ? text
      : fit(printable(whole(note === '' ? '' : 'backport?  ', finding.title)), columns);
    const head = 2 + severity.length;
    const plugins = this.#pluginsText(row, columnsOf(shown));
    return `  ${severityColor(finding, this.#colors)(shown.slice(2, head))}${shown.slice(head)}${plugins}`;
  }

  /** `  [my_plugin]` */
  #pluginsText(row: VulnerabilityRow, used: number): string {
    const names = producersOf(row).map(({ name }) => name);
    if (names.length === 0) return '';
    const text = printable(`  [${names.join(', ')}]`);
    const { columns, terminal } = this.#style;
    return !terminal || used + columnsOf(text) <= columns ? this.#colors.dim(text) : '';
  }
}

const classMarks: Record<FindingClass, string> = { certain: '●', likely: '◐', possible: '○' };
const longestClass = 'possible'.length;
const longestSeverity = 'CRITICAL'.length;

/** Only certain findings have a color. */
function severityColor(finding: Finding, colors: Colors): (text: string) => string {
  const plain = (text: string) => text;
  if (classOf(finding) !== 'certain') return plain;
  if (finding.severity === 'critical') return (text) => colors.bold(colors.red(text));
  if (finding.severity === 'high') return colors.red;
  return finding.severity === 'medium' ? colors.yellow : plain;
}

function cellsOf(port: PortRow): Cells {
  const { service } = port;
  const product = [service?.product, service?.version].filter(Boolean).join(' ');
  const cells: Cells = [
    `${port.port}/${port.protocol}`,
    port.state,
    service?.name ?? usualName(port),
    product,
    portEvidence(port, Date.parse(port.timestamp)),
  ];
  return cells.map(printable) as Cells;
}

/** The name that is usual for the port, if nothing identified its service. */
function usualName({ port, protocol }: PortRow): string {
  const name = serviceNameOf(port, protocol);
  return name === null ? '' : `${name}?`;
}

function line(cells: readonly string[], widths: number[]): string {
  return cells
    .map((cell, column) => pad(fit(cell, widths[column] ?? 0), widths[column] ?? 0))
    .join(gap)
    .trimEnd();
}

function latencyText(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;
}

function renderSummary(summary: SummaryRow, classes: Record<FindingClass, number>, colors: Colors): string {
  const seconds = `${summary.duration_seconds.toFixed(1)} s`;
  const checked = `${formatCount(summary.addresses_scanned, 'address').replace(/addresss$/, 'addresses')} in ${seconds}`;
  if (summary.live_hosts === 0) return nothingFound(summary, checked);
  const parts = [
    `${formatCount(summary.live_hosts, 'host')} up`,
    formatCount(summary.open_ports, 'open port'),
  ];
  if (summary.vulnerabilities > 0) parts.push(formatCount(summary.vulnerabilities, 'finding'));
  const byClass = findingClasses.flatMap((name) => (classes[name] > 0 ? [`${classes[name]} ${name}`] : []));
  const sure = byClass.length > 0 ? ` (${byClass.join(', ')})` : '';
  const partial = partialText(summary);
  return `${colors.bold(parts.join(', '))}${sure}; ${checked}${partial}${unidentifiedText(summary)}`;
}

/** Ports that a later scan may identify. */
function unidentifiedText({ unidentified }: SummaryRow): string {
  const reasons = unidentifiedReasons.filter((reason) => (unidentified?.[reason] ?? 0) > 0);
  if (reasons.length === 0) return '';
  const counts = reasons.map((reason) => `${reason} ${unidentified?.[reason]}`).join(', ');
  return `\nPorts not fully probed for lack of time: ${counts}.`;
}

/** The warnings of a completed scan say what is missing. */
function partialText({ partial, status }: SummaryRow): string {
  if (!partial) return '';
  return status === 'completed' ? ' (partial)' : ' (partial: the scan did not finish)';
}

function nothingFound(summary: SummaryRow, checked: string): string {
  if (summary.partial && summary.status !== 'completed')
    return `No host responded before the scan ended; ${checked}.`;
  return (
    `No host responded; ${checked}.\n` +
    'Hosts that ignore pings and common ports are not discovered: --no-discover scans the ports of every address.'
  );
}
