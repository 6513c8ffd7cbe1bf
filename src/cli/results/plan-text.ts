import type { ScanPreview } from '../../actions/scans/preview-scan.ts';
import { groupedNumber } from '../../domain/text/grouped-number.ts';
import { drawTable } from '../terminal/draw/columns.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import { plainStyle } from '../terminal/draw/style.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';

/**
 * Prints a plan, as JSON for the JSON formats; with -v and its nodes.
 * @param server that would run the scan, by its settings; null = this process
 */
export function printPreview(
  preview: ScanPreview,
  format: string,
  { verbosity, verbose }: Pick<GlobalFlags, 'verbosity' | 'verbose'>,
  server: string | null = null,
): void {
  const isJson = format === 'json' || format === 'jsonl';
  print(isJson ? printableJson(preview) : planText(preview, (verbosity ?? verbose ?? 0) > 0, server));
}

/** The plan of a scan as text; names are not resolved, so each counts as one address. */
export function planText(preview: ScanPreview, withNodes: boolean, server: string | null = null): string {
  const { rate, warnings, packets_estimate, duration_estimate_seconds, duration_estimate_basis } = preview;
  const lines = [
    ['targets', targetsText(preview)],
    ['profile', profileText(preview)],
    ...(server === null ? [] : [['server', server]]),
    ['rate', rate === 'auto' ? 'auto: as responses come' : `${amount(rate)} packets/s`],
    ...probableLine(preview),
    [
      'at most',
      `${amount(packets_estimate)} packets, ${spanText(duration_estimate_seconds)}${basisText(duration_estimate_basis)}`,
    ],
    ...warnings.map(({ message }) => ['warning', message]),
  ];
  const facts = lines.map(([name = '', text = '']) => `${name.padEnd(8)}  ${printable(text)}\n`).join('');
  return `${facts}${withNodes ? `\n${nodesText(preview)}\n` : ''}Nothing was sent.\n`;
}

/** Maximum number of targets to name; the rest are counted. */
const namedTargets = 5;

function targetsText({ targets, addresses, hostnames, excluded }: ScanPreview): string {
  const named = targets.slice(0, namedTargets).join(' ');
  const more = targets.length - namedTargets;
  const counts = [
    countText(addresses, 'address', 'addresses'),
    ...(hostnames > 0 ? [`${countText(hostnames, 'host name', 'host names')} not resolved yet`] : []),
    excluded > 0 ? `${amount(excluded)} excluded` : 'none excluded',
  ];
  return `${named}${more > 0 ? ` and ${amount(more)} more` : ''}: ${counts.join(', ')}`;
}

function profileText({ profile, graph, ports, vuln, nodes }: ScanPreview): string {
  const grabs = nodes.some(
    ({ module_type, skipped }) => module_type === 'banner_grabber' && skipped === null,
  );
  const parts = [
    ...(ports.tcp > 0 ? [countText(ports.tcp, 'tcp port', 'tcp ports')] : []),
    ...(ports.udp > 0 ? [countText(ports.udp, 'udp port', 'udp ports')] : []),
    ...(ports.tcp + ports.udp === 0 ? ['no ports'] : []),
    ...(grabs ? ['services'] : []),
  ];
  return `${graph === profile ? profile : graph}: ${parts.join(', ')}; ${vuln ? 'findings' : 'no findings without --vuln'}`;
}

/** A server of an earlier version says only what an earlier run took, or nothing. */
function probableLine({ duration_probable, packets_probable }: Partial<ScanPreview>): string[][] {
  if (!duration_probable) return [];
  const { seconds, basis } = duration_probable;
  const packets = packets_probable === undefined ? '' : `${amount(rounded(packets_probable))} packets, `;
  return [['probable', `${packets}${spanText(seconds)}${basisText(basis)}`]];
}

function basisText(basis: string | undefined): string {
  return basis ? `: ${basis}` : '';
}

function nodesText({ nodes }: ScanPreview): string {
  return drawTable<ScanPreview['nodes'][number]>(
    [
      { head: 'NODE', cell: (node) => node.instance_id },
      { head: 'MODULE', cell: (node) => node.module_type },
      { head: 'DEPENDS ON', cell: (node) => node.depends_on.join(', ') || null },
      { head: 'STATE', cell: ({ skipped }) => (skipped === null ? 'runs' : `skipped: ${skipped}`) },
    ],
    nodes,
    plainStyle,
  );
}

/** To three digits: an estimate is not exact. */
function rounded(count: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, count))) - 2);
  return Math.round(count / unit) * unit;
}

function countText(count: number, one: string, many: string): string {
  return `${amount(count)} ${count === 1 ? one : many}`;
}

function amount(count: number): string {
  return groupedNumber(count);
}

/** `6 s`, `8 min 33 s`, `4 h 14 min`, `12 d 3 h` */
function spanText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const units: [number, string][] = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const first = Math.max(
    0,
    units.findIndex(([length]) => whole >= length),
  );
  const from = whole === 0 ? units.length - 1 : first;
  let rest = whole;
  const parts = units.slice(from, from + 2).map(([length, unit]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return [count, unit] as const;
  });
  return parts
    .filter(([count], index) => count > 0 || index === 0)
    .map(([count, unit]) => `${amount(count)} ${unit}`)
    .join(' ');
}
