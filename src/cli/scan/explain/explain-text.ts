import type {
  ExplainedClaim,
  ExplainedFinding,
  ExplainedPort,
  Explanation,
} from '../../../actions/results/explain-port.ts';
import { kindText, systemText } from '../../../domain/asset.ts';
import { findingClasses } from '../../../domain/finding.ts';
import { countsAs } from '../../../domain/finding-order.ts';
import type { HostRow } from '../../../domain/result.ts';
import { placeText } from '../../results/place-text.ts';
import { amountText, countText } from '../../terminal/draw/amounts.ts';
import { drawFacts, drawTable, type Facts } from '../../terminal/draw/columns.ts';
import { columnsOf, fit, pad, printable } from '../../terminal/draw/printable.ts';
import { timeOfScan } from '../../terminal/draw/scan-time-text.ts';
import { ellipsisOf, paint, type TerminalStyle, unknownOf } from '../../terminal/draw/style.ts';
import { whenText } from '../../terminal/draw/times.ts';
import { portDetails } from './explain-details.ts';

/** How an explanation is shown. */
export interface ExplainView {
  style: TerminalStyle;
  now: number;
  /** Patterns, CPE, vectors and every finding. */
  details: boolean;
}

/** Findings of a port that are named; more are counted. */
const maxNamedFindings = 3;

/** A host or one port of it, from what it sent to what follows. @param isPort whether a port was asked for */
export function explanationText(
  explanation: Explanation,
  host: HostRow | null,
  isPort: boolean,
  view: ExplainView,
): string {
  const { ports, findings, left_out } = explanation;
  const blocks = isPort
    ? ports.map((port) => portBlock(explanation, port, view))
    : [
        hostBlock(explanation, host, view),
        ...(view.details ? ports.map((port) => portBlock(explanation, port, view)) : []),
      ];
  if (isPort && view.details && findings.length > 0) blocks.push(findingLines(findings, view).join(''));
  if (left_out > 0) blocks.push(`${amountText(left_out)} more ports: portolan explain HOST:PORT\n`);
  return blocks.join('\n');
}

/** `(20261122-221814-138b01, 2 min ago)` */
export function scanSource(id: string, now: number): string {
  const time = timeOfScan(id);
  return `(${id}${time === null ? '' : `, ${whenText(time, now)}`})`;
}

function portBlock(explanation: Explanation, port: ExplainedPort, view: ExplainView): string {
  const { style } = view;
  const place = placeText({ host: explanation.host, port: port.port, protocol: port.protocol });
  const claim = port.claims[0];
  const what = claim ? `; ${claimText(claim)}` : '';
  const title = printable(
    `  ${port.state}: ${port.reason}${what}  ${scanSource(explanation.scan_id, view.now)}`,
  );
  const facts: [string, string][] = [
    ['response', sentText(port, style)],
    ...(port.tls ? [['tls', tlsText(port.tls)] satisfies [string, string]] : []),
    ...port.sites.map((site): [string, string] => ['site', site]),
    ['rule', claim ? ruleText(claim) : 'none matches'],
    ...(explanation.os
      ? [
          ['system', `${systemText(explanation.os)} (${share(explanation.os.confidence)})`] satisfies [
            string,
            string,
          ],
        ]
      : []),
  ];
  const details = view.details ? portDetails(port).map((line) => `  ${printable(line)}\n`) : [];
  return [
    `${paint(style, printable(place), 'bold')}${title}\n`,
    indentedFacts([...facts, ['findings', findingsText(port.findings)]], style),
    ...(view.details ? details : findingLines(port.findings, view)),
  ].join('');
}

/** Facts below a headline. */
export function indentedFacts(facts: Facts, style: TerminalStyle): string {
  const text = drawFacts(facts, { ...style, columns: style.columns - 2 });
  return text.replace(/^(?=.)/gm, '  ');
}

/** `TLSv1.2 TLS_RSA_WITH_AES_128_CBC_SHA, client certificate required: the server rejected ...` */
function tlsText({ version, cipher, client_certificate, error }: NonNullable<ExplainedPort['tls']>): string {
  const facts = [
    [version, cipher].filter(Boolean).join(' '),
    client_certificate ? `client certificate ${client_certificate}` : '',
  ];
  const shown = facts.filter((fact) => fact !== '').join(', ');
  return [shown, error ?? ''].filter((part) => part !== '').join(': ');
}

/** `ssh, OpenSSH 9.2p1 (0.98)` */
function claimText({ match, product, version, confidence }: ExplainedClaim): string {
  const name = [product, version].filter(Boolean).join(' ');
  return `${[match, name].filter(Boolean).join(', ')} (${share(confidence)})`;
}

function share(confidence: number): string {
  return confidence.toFixed(2);
}

/** What the port sent first: its first line. */
function sentText({ banner, truncated }: ExplainedPort, style: TerminalStyle): string {
  const [first = '', ...others] = (banner ?? '').trimEnd().split(/\r?\n/);
  if (first === '' && others.length === 0) return unknownOf(style);
  const more = others.length > 0 || truncated ? ` ${ellipsisOf(style)}` : '';
  const text = printable(first);
  const room = style.terminal ? style.columns - 12 - columnsOf(more) : Number.POSITIVE_INFINITY;
  return `${fit(text, Math.max(20, room), ellipsisOf(style))}${more}`;
}

/** `ssh.openssh: version 9.2p1, revision 2+deb12u2` */
function ruleText({ rule, source, version, revision }: ExplainedClaim): string {
  const read = [version && `version ${version}`, revision && `revision ${revision}`]
    .filter(Boolean)
    .join(', ');
  return `${rule?.id ?? source}${read === '' ? '' : `: ${read}`}`;
}

/** `2 certain, 5 possible: the Debian package may have the fixes` */
function findingsText(findings: readonly ExplainedFinding[]): string {
  if (findings.length === 0) return 'none';
  const counted = findingClasses.flatMap((name) => {
    const count = findings.filter((finding) => finding.class === name).length;
    return count > 0 ? [`${amountText(count)} ${name}`] : [];
  });
  const note = findings.find(({ backport_note }) => backport_note)?.backport_note;
  return `${counted.join(', ')}${note ? `: ${note}` : ''}`;
}

function findingLines(findings: readonly ExplainedFinding[], { style, details }: ExplainView): string[] {
  const shown = details ? findings : findings.slice(0, maxNamedFindings);
  const width = (cells: string[]) => Math.max(0, ...cells.map((cell) => columnsOf(cell)));
  const severities = shown.map((finding) => countsAs(finding).toUpperCase());
  const ids = shown.map(({ id }) => printable(id));
  const lines = shown.map(({ cvss, affected, title }, index) => {
    const score = cvss ? cvss.score.toFixed(1) : unknownOf(style);
    const rest = printable(affected ?? title);
    const head = `    ${pad(severities[index] ?? '', width(severities))}  ${score.padStart(4)}  ${pad(ids[index] ?? '', width(ids))}  `;
    const room = style.terminal ? Math.max(0, style.columns - columnsOf(head)) : Number.POSITIVE_INFINITY;
    const text = `${head}${fit(rest, room, ellipsisOf(style))}`.trimEnd();
    const word = severities[index] ?? '';
    const color = word === 'CRITICAL' || word === 'HIGH' ? 'red' : null;
    return `    ${paint(style, word, color)}${text.slice(4 + word.length)}\n`;
  });
  const more = findings.length - shown.length;
  return more > 0 ? [...lines, `    ${ellipsisOf(style)} ${amountText(more)} more: -v\n`] : lines;
}

function hostBlock(
  { scan_id, host: address, ports, findings }: Explanation,
  host: HostRow | null,
  view: ExplainView,
): string {
  const { style } = view;
  const lines = [`${hostHeadline(address, host, scan_id, view)}\n`];
  const counts = host?.port_counts;
  const tried = counts
    ? `${amountText(counts.open)} open, ${amountText(counts.closed)} closed, ${amountText(counts.filtered)} filtered`
    : countText(ports.length, 'open port');
  lines.push(
    indentedFacts(
      [['ports', tried], ...(findings.length > 0 ? [['findings', findingsText(findings)] as const] : [])],
      style,
    ),
  );
  lines.push(...findingLines(findings, view));
  if (ports.length > 0 && !view.details) {
    lines.push('\n', portTable(ports, style));
    lines.push(
      `\nwhy: portolan explain ${printable(placeText({ host: address, port: ports[0]?.port ?? 1, protocol: ports[0]?.protocol ?? 'tcp' }))}\n`,
    );
  }
  return lines.join('');
}

/** `10.77.4.9  up: icmp-echo after 0.9 ms; server, Debian 12  (20261122-221814-138b01, 2 min ago)` */
export function hostHeadline(
  address: string,
  host: HostRow | null,
  scanId: string,
  { style, now }: Pick<ExplainView, 'style' | 'now'>,
): string {
  const method = host?.method ? `: ${host.method}` : '';
  const after = typeof host?.latency_ms === 'number' ? ` after ${latencyText(host.latency_ms)}` : '';
  const kind = host ? kindText(host) : '';
  const facts = [`${host?.state ?? 'up'}${method}${after}`, kind].filter(Boolean).join('; ');
  return `${paint(style, printable(address), 'bold')}  ${printable(`${facts}  ${scanSource(scanId, now)}`)}`;
}

function latencyText(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
}

function portTable(ports: readonly ExplainedPort[], style: TerminalStyle): string {
  const claimOf = ({ claims }: ExplainedPort) => claims[0];
  return drawTable<ExplainedPort>(
    [
      { head: 'PORT', cell: ({ port, protocol }) => `${port}/${protocol}` },
      { head: 'STATE', cell: ({ state }) => state },
      { head: 'SERVICE', cell: (port) => claimOf(port)?.match ?? null },
      {
        head: 'PRODUCT',
        cell: (port) => [claimOf(port)?.product, claimOf(port)?.version].filter(Boolean).join(' ') || null,
        over: 'end',
      },
      { head: 'RULE', cell: (port) => claimOf(port)?.rule?.id ?? null, over: 'end' },
      { head: 'FINDINGS', cell: ({ findings }) => findings.length },
    ],
    ports,
    style,
    [
      ['RULE', 12],
      ['PRODUCT', 12],
      ['RULE', 0],
      ['STATE', 0],
    ],
  );
}
