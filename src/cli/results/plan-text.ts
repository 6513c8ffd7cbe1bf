import type { ScanPreview } from '../../actions/scans/preview-scan.ts';
import { renderColumns } from '../terminal/columns.ts';
import { print } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';

/** Prints a plan, as JSON for the JSON formats. */
export function printPreview(preview: ScanPreview, format: string): void {
  print(format === 'json' || format === 'jsonl' ? printableJson(preview) : planText(preview));
}

/** The plan of a scan as text; names are not resolved, so each counts as one address. */
function planText(preview: ScanPreview): string {
  const { addresses, hostnames, excluded, ports, warnings } = preview;
  const names = hostnames > 0 ? ` and ${hostnames} host names (not resolved yet)` : '';
  const left = excluded > 0 ? ` (${excluded} excluded)` : '';
  const rows = preview.nodes.map((node) => [
    node.instance_id,
    node.module_type,
    node.depends_on.join(', ') || '-',
    node.skipped === null ? 'runs' : `skipped: ${node.skipped}`,
  ]);
  return `graph      ${printable(preview.graph)}
addresses  ${addresses}${names}${left}
ports      ${ports.tcp} tcp, ${ports.udp} udp for each host
rate       ${preview.rate} packets per second
packets    ${preview.packets_estimate} at most for discovery and ports
duration   ${preview.duration_estimate_seconds} s at most for them, when nothing answers
${probableText(preview)}${warnings.map(({ message }) => `warning    ${printable(message)}\n`).join('')}
${renderColumns(['NODE', 'MODULE', 'DEPENDS ON', 'STATE'], rows)}
Nothing was sent.
`;
}

/** A plan of a server before this version has none. */
function probableText({ duration_probable: probable }: Partial<ScanPreview>): string {
  return probable ? `probably   ${Math.ceil(probable.seconds)} s, ${printable(probable.basis)}\n` : '';
}
