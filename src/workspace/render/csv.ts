import { classOf, type Severity, severities } from '../../domain/finding.ts';
import { countsAs } from '../../domain/finding-order.ts';
import { type Produced, producersOf, producerText } from '../../domain/producer.ts';
import { doubtOf, type PortRow, type ResultRow, type VulnerabilityRow } from '../../domain/result.ts';
import { readableBanner } from '../../domain/text/readable-banner.ts';
import { visibleText } from '../../domain/text/visible.ts';
import { inPieces } from './pieces.ts';

/**
 * RFC 4180 with CRLF, one record per port, always with a header. No cell is a formula to a spreadsheet: a leading
 * apostrophe prevents that. Unprintable characters appear as `\xNN` or `\u{...}`, line breaks as `\n`. `rows` are in the order of
 * `RecordView.rows`.
 */
export async function* renderCsv(rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield* inPieces(csvRecords(rows));
}

const csvColumns = [
  'host',
  'port',
  'protocol',
  'state',
  'service',
  'version',
  'product',
  'cpe',
  'vulnerability_ids',
  'max_severity',
  'banner',
  'unidentified_reason',
  'class',
  'producers',
];

async function* csvRecords(rows: AsyncIterable<ResultRow>): AsyncGenerator<string> {
  yield csvHead();
  for await (const { port, findings, isTarpit } of portsWithFindings(rows))
    yield portRecord(port, findings, isTarpit);
}

/** The header record. */
export function csvHead(): string {
  return csvRecord(csvColumns);
}

/** The ports of rows in the order of `RecordView.rows`. */
export async function* portsWithFindings(
  rows: AsyncIterable<ResultRow>,
): AsyncGenerator<{ port: PortRow; findings: VulnerabilityRow[]; isTarpit: boolean }> {
  let port: PortRow | null = null;
  /** The last host that accepts (nearly) every port. */
  let tarpit: string | null = null;
  const isTarpit = ({ host }: PortRow) => host === tarpit;
  let findings: VulnerabilityRow[] = [];
  for await (const row of rows) {
    if (row.type === 'vulnerability' && port !== null && isOfPort(row, port)) {
      findings.push(row);
      continue;
    }
    if (port !== null) yield { port, findings, isTarpit: isTarpit(port) };
    if (row.type === 'host' && row.all_ports_open) tarpit = row.host;
    port = row.type === 'port' ? row : null;
    findings = [];
  }
  if (port !== null) yield { port, findings, isTarpit: isTarpit(port) };
}

function isOfPort(finding: VulnerabilityRow, port: PortRow): boolean {
  return finding.host === port.host && finding.port === port.port && finding.protocol === port.protocol;
}

export function portRecord(row: PortRow, findings: VulnerabilityRow[], isTarpit = false): string {
  const { service } = row;
  return csvRecord([
    row.host,
    String(row.port),
    row.protocol,
    row.state,
    service?.name ?? '',
    service?.version ?? '',
    service?.product ?? '',
    service?.cpe ?? '',
    findings.map((finding) => finding.vulnerability.id).join(';'),
    worstSeverity(findings),
    readableBanner(row),
    doubtOf(row, isTarpit) ?? '',
    findings.map((finding) => classOf(finding.vulnerability)).join(';'),
    producersText([row, ...findings]),
  ]);
}

/** `name@version` of each plugin, once. */
function producersText(rows: readonly Produced[]): string {
  return [...new Set(rows.flatMap((row) => producersOf(row).map(producerText)))].join(';');
}

function worstSeverity(findings: VulnerabilityRow[]): Severity | '' {
  const found = new Set(findings.map((finding) => countsAs(finding.vulnerability)));
  return severities.find((severity) => found.has(severity)) ?? '';
}

function csvRecord(cells: string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Most cells: nothing to quote or escape. */
const plainCell = /^(?:\w[\w .:;/()-]*)?$/;

function csvCell(text: string): string {
  if (plainCell.test(text)) return text;
  const guarded = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  const visible = guarded
    .replace(/\r\n|[\r\n\u2028\u2029]/g, '\\n')
    // TAB is harmless inside a cell.
    .split('\t')
    .map(visibleText)
    .join('\t');
  return /[",]/.test(visible) ? `"${visible.replaceAll('"', '""')}"` : visible;
}
