import type { Severity } from '../../domain/finding.ts';
import type { ComplianceRow, ExtraRow, HostRow, ResultRow, SummaryRow } from '../../domain/result.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { fit, printable } from '../terminal/draw/printable.ts';
import { ellipsisOf, paint, type TerminalStyle } from '../terminal/draw/style.ts';
import { AddressRanges } from './address-ranges.ts';
import { type CountedScan, countsText } from './counts-text.ts';
import { FindingsTable } from './findings-table.ts';
import { HostLines } from './host-lines.ts';

export interface TableOptions {
  /** Says why something is missing; null if only the record is at hand. */
  scan?: CountedScan | null;
  /** Least severity of the findings shown; null = all but low and info. */
  least?: Severity | null;
  /** Whether all findings are shown, also in a terminal. */
  isWhole?: boolean;
  /** Neither hosts nor counts. */
  onlyFindings?: boolean;
  /** What prints all findings. */
  command?: string;
}

/** Maximum number of hosts without an open port that have a line each, unless they were named; others share one. */
const maxPlainHosts = 8;

/**
 * The result of a scan for people: one block per host, the findings of all, then the counts. `rows` come in the order
 * of the record: each host is followed by its ports and findings. One host at a time is in memory, and what the table
 * has of the findings.
 */
export async function* renderTable(
  rows: AsyncIterable<ResultRow>,
  summary: SummaryRow | null,
  style: TerminalStyle,
  options: TableOptions = {},
): AsyncIterable<string> {
  const { scan = null, least = null, isWhole = false, onlyFindings = false } = options;
  const findings = new FindingsTable({ least, isWhole, command: options.command ?? allFindings });
  const named = new Set(scan?.targets);
  const others = new AddressRanges();
  let plain = 0;
  let last = summary;
  let before: HostLines | null = null;
  for await (const item of itemsOf(rows, findings, style)) {
    if (onlyFindings) continue;
    if (typeof item === 'string') {
      yield item;
      continue;
    }
    if (!(item instanceof HostLines)) {
      last = item;
      continue;
    }
    if (item.isPlain && !named.has(item.address) && ++plain > maxPlainHosts) {
      others.add(item.address);
      continue;
    }
    // Single-line hosts stay together; an empty line separates the rest.
    if (before && !(before.isEmpty && item.isEmpty)) yield '\n';
    yield item.render();
    before = item;
  }
  if (others.count > 0) yield `${othersText(others, style)}\n`;
  const table = findings.render(style);
  if (onlyFindings) return yield table || 'no findings\n';
  if (table !== '') yield `${before ? '\n' : ''}${table}`;
  if (last) yield `${before || table !== '' ? '\n' : ''}${countsText(last, findings.counts, scan, style)}`;
}

const allFindings = 'portolan workspace show latest --findings';

/** `12 more up without an open port: 10.0.0.3-9, …` */
function othersText(others: AddressRanges, style: TerminalStyle): string {
  const head = `${countText(others.count, 'more host')} up without an open port: `;
  return style.terminal ? fitted(head + others.text, style) : head + others.text;
}

/** In a terminal cut to its width. */
function fitted(text: string, style: TerminalStyle): string {
  return style.terminal ? fit(printable(text), style.columns - 1, ellipsisOf(style)) : printable(text);
}

async function* itemsOf(
  rows: AsyncIterable<ResultRow>,
  findings: FindingsTable,
  style: TerminalStyle,
): AsyncIterable<HostLines | SummaryRow | string> {
  let block: HostLines | null = null;
  const compliance = new ComplianceSummary(style);
  const extras = new ExtraSummary(style);
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
      yield `${paint(style, `${printable(row.target ?? 'scan')}: ${printable(row.message)}`, 'yellow')}\n`;
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
      block = new HostLines(host, style);
    }
    if (row.type === 'port') block.add(row);
    if (row.type === 'vulnerability') findings.add(row);
  }
  if (block) yield block;
}

/** Maximum number of failed controls to list; the rest are counted. */
const maxNamedControls = 100;

/** Compliance verdicts: a line for each failed control, then the counts. */
class ComplianceSummary {
  readonly #style: TerminalStyle;
  #counts = { fail: 0, pass: 0, not_assessed: 0 };

  constructor(style: TerminalStyle) {
    this.#style = style;
  }

  *add({ framework, control, host, port, title, status }: ComplianceRow): Generator<string> {
    this.#counts[status] += 1;
    if (status !== 'fail' || this.#counts.fail > maxNamedControls) return;
    const place = port === null ? (host ?? '') : `${host}, port ${port}`;
    const text = `${framework} ${control} failed at ${place}: ${title}`;
    yield `${paint(this.#style, fitted(text, this.#style), 'yellow')}\n`;
  }

  *end(): Generator<string> {
    const { fail, pass, not_assessed } = this.#counts;
    this.#counts = { fail: 0, pass: 0, not_assessed: 0 };
    if (fail + pass + not_assessed === 0) return;
    const text = `compliance: ${fail} failed, ${pass} passed, ${not_assessed} not assessed`;
    yield `${paint(this.#style, text, 'bold')}\n\n`;
  }
}

/** Values under keys of plugins: how many of each key. */
class ExtraSummary {
  readonly #style: TerminalStyle;
  readonly #counts = new Map<string, number>();

  constructor(style: TerminalStyle) {
    this.#style = style;
  }

  add({ key }: ExtraRow): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  *end(): Generator<string> {
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts].map(([key, count]) => `${count} ${key}`).join(', ');
    this.#counts.clear();
    yield `${paint(this.#style, fitted(`extra values: ${counts}`, this.#style), 'bold')}\n\n`;
  }
}
