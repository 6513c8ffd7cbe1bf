import { severities } from '../../domain/finding.ts';
import type { Scan } from '../../domain/scan.ts';
import type { TableOptions } from '../results/result-table.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { printable } from '../terminal/draw/printable.ts';
import { paint, styleOf } from '../terminal/draw/style.ts';
import { note } from '../terminal/output.ts';
import { type HintedScan, hintOf } from './result-hint.ts';
import type { ScanCommand } from './submission.ts';

/** What of the findings a scan prints: `-v` and `--min-severity` show low and info too. */
export function tableOptionsOf({ minSeverity, verbose, verbosity }: ScanCommand['flags']): TableOptions {
  const named = severities.find((name) => name === minSeverity);
  return { least: named ?? ((verbosity ?? verbose ?? 0) > 0 ? 'info' : null) };
}

/** On a terminal, last: the output file, the id of the stored scan, and one hint. */
export function noteResult(
  scan: HintedScan & Pick<Scan, 'scan_id'>,
  { output: { file, format }, flags }: ScanCommand,
  isStored: boolean,
  hasHints = true,
): void {
  if (flags.quiet || !process.stderr.isTTY) return;
  const { live_hosts, open_ports } = scan.results;
  const found = `${countText(live_hosts, 'host')} up, ${countText(open_ports, 'open port')}`;
  if (file !== null) note(`wrote ${printable(file)}: ${found}`);
  if (!isStored) return;
  const style = styleOf(process.stderr, flags);
  const hint = process.stdout.isTTY && format === 'text' ? hintOf(scan, flags) : null;
  const kept = `${paint(style, 'kept as', 'dim')} ${printable(scan.scan_id)}`;
  note(hint === null || !hasHints ? kept : kept + paint(style, `; ${hint}`, 'dim'));
}
