import type { SeverityCounts } from '../../domain/finding.ts';
import type { SummaryRow } from '../../domain/result.ts';
import type { Scan } from '../../domain/scan.ts';
import type { UnidentifiedReason } from '../../domain/text/banner.ts';
import { amountText, countText } from '../terminal/draw/amounts.ts';
import { paint, type TerminalStyle } from '../terminal/draw/style.ts';
import { spanText } from '../terminal/draw/times.ts';
import { severitiesText } from './findings-table.ts';

/** What the counts need of a scan; a record alone does not say it. */
export type CountedScan = Pick<Scan, 'targets' | 'progress' | 'error' | 'stages'> &
  Partial<Pick<Scan, 'warnings'>>;

/** The last lines of a result: what is missing of it, then what was found. */
export function countsText(
  summary: SummaryRow,
  severities: SeverityCounts,
  scan: CountedScan | null,
  style: TerminalStyle,
): string {
  const missing = [
    ...(scan?.error ? missedText(scan) : partialText(summary)),
    ...unidentifiedText(summary),
    ...(summary.live_hosts === 0 ? silenceText(summary, scan) : []),
  ];
  return [...missing.map((line) => `${line}\n`), `${totalsText(summary, severities, style)}\n`].join('');
}

/** `3 hosts up, 10 open ports, 59 findings (21 critical, 38 other) in 0.4 s` */
function totalsText(summary: SummaryRow, severities: SeverityCounts, style: TerminalStyle): string {
  const { live_hosts, open_ports, vulnerabilities, addresses_scanned, duration_seconds } = summary;
  const time = spanText(duration_seconds * 1000);
  if (live_hosts === 0)
    return `${paint(style, `0 of ${countText(addresses_scanned, 'address', 'addresses')} up`, 'bold')} in ${time}`;
  const parts = [countText(live_hosts, 'host') + ' up', countText(open_ports, 'open port')];
  if (vulnerabilities > 0) parts.push(countText(vulnerabilities, 'finding'));
  const worst = severitiesText(severities, style);
  return `${paint(style, parts.join(', '), 'bold')}${worst === '' ? '' : ` (${worst})`} in ${time}`;
}

/** `canceled: 8,704 of 65,534 addresses and 42 of 51 ports tried` */
export function missedText({ error, progress }: Pick<CountedScan, 'error' | 'progress'>): string[] {
  if (!error) return [];
  const { hosts_done, hosts_total, tried, not_tried, unit } = progress;
  const hosts = `${amountText(hosts_done)} of ${countText(hosts_total, 'address', 'addresses')}`;
  const ports = `${amountText(tried)} of ${countText(tried + not_tried, 'port')}`;
  const done = unit === 'ports' && tried + not_tried > 0 ? `${hosts} and ${ports} tried` : `${hosts} tried`;
  return hosts_total === 0 ? [] : [`${error.code === 'canceled' ? 'canceled' : 'not finished'}: ${done}`];
}

/** The warnings of a completed scan say what is missing. */
function partialText({ partial, status, coverage }: SummaryRow): string[] {
  if (!partial) return [];
  if (status !== 'completed') return ['partial: the scan did not finish'];
  const { not_tried = 0, planned = 0 } = coverage ?? {};
  const ports =
    not_tried === 0 ? '' : `${amountText(not_tried)} of ${countText(planned, 'port')} not tried; `;
  return [`partial: ${ports}its warnings say what is missing`];
}

/** `2 of 8 services not fully probed for lack of time: timeout 2`, and what else is in doubt */
function unidentifiedText({ unidentified, open_ports }: SummaryRow): string[] {
  const of = (reason: UnidentifiedReason) => unidentified?.[reason] ?? 0;
  const late = lackOfTime.filter((reason) => of(reason) > 0);
  const count = late.reduce((sum, reason) => sum + of(reason), 0);
  const causes = late.map((reason) => `${reason} ${amountText(of(reason))}`).join(', ');
  const ports = (reason: UnidentifiedReason) =>
    `${amountText(of(reason))} of ${countText(open_ports, 'open port')}`;
  return [
    ...(count > 0
      ? [
          `${amountText(count)} of ${countText(open_ports, 'service')} not fully probed for lack of time: ${causes}`,
        ]
      : []),
    ...Object.entries(otherDoubts).flatMap(([reason, text]) =>
      of(reason as UnidentifiedReason) > 0 ? [`${ports(reason as UnidentifiedReason)} ${text}`] : [],
    ),
  ];
}

const lackOfTime = ['timeout', 'rate', 'cut'] as const;
const otherDoubts = {
  unproven: 'unproven: connections are accepted, but nothing comes back',
  tarpit: 'not probed: too many others of the same host showed no sign of life',
  fragile: 'not fully probed: control systems and printers are fragile',
} as const;

/** What was sent and had no response, in the words of results. */
const pings: Readonly<Record<string, string>> = {
  icmp_discovery: 'icmp-echo',
  arp_discovery: 'arp',
  tcp_probe_discovery: 'tcp ping',
};

/** `10.77.9.9  no response: icmp-echo, tcp ping`, or without discovery `10.77.9.9  unknown; 2 ports filtered: no response` */
function silenceText(summary: SummaryRow, scan: CountedScan | null): string[] {
  if (scan === null || summary.addresses_scanned === 0 || scan.error) return [];
  const { addresses_scanned: count } = summary;
  const who = count === 1 && scan.targets.length === 1 ? `${scan.targets[0]}  ` : '';
  const sent = scan.stages.flatMap(({ module_type, status }) =>
    status === 'completed' && pings[module_type] ? [pings[module_type]] : [],
  );
  const error = scan.warnings?.find(({ code }) => code === 'host_unreachable')?.message;
  const came = error === undefined ? '' : `; ${error}`;
  if (sent.length > 0) return [`${who}no response: ${sent.join(', ')}${came}`];
  const { filtered = 0, closed = 0 } = summary.coverage ?? {};
  if (filtered === 0) return [];
  const ports = `${countText(filtered, 'port')} filtered: ${error ?? 'no response'}`;
  return [closed === 0 && who !== '' ? `${who}unknown; ${ports}` : ports];
}
