import type { Scan } from '../../domain/scan.ts';
import { countText } from '../terminal/amounts.ts';
import { printable } from '../terminal/printable.ts';
import { spanText } from '../terminal/times.ts';

/** The detail of a scan as text. */
export function scanSummaryText(scan: Scan): string {
  const { results, error, progress } = scan;
  return factLines([
    ['scan', scan.scan_id],
    ['status', error ? `${scan.status} (${error.code}: ${error.message})` : scan.status],
    ['targets', scan.targets.join(' ')],
    ['profile', scan.profile],
    ['name', scan.name ?? '-'],
    ['tags', scan.tags.join(' ') || '-'],
    ['created', scan.created_at],
    ['started', scan.started_at ?? '-'],
    ['completed', scan.completed_at ?? '-'],
    [
      'found',
      `${countText(results.live_hosts, 'host')}, ${countText(results.open_ports, 'open port')}, ${countText(results.vulnerabilities, 'finding')}`,
    ],
    ['progress', `${progress.percent} % (${progress.phase})${pauseText(progress)}`],
    ...remainingFacts(progress),
    ...scan.stages
      .filter(({ status }) => status === 'failed')
      .map((stage): [string, string] => [
        'failed',
        `${stage.instance_id}: ${stage.error ?? 'no reason given'}`,
      ]),
    ...scan.warnings.map((warning): [string, string] => ['warning', warning.message]),
  ]);
}

function pauseText({ paused, paused_by, interrupted }: Scan['progress']): string {
  if (paused) return paused_by ? `, paused by ${paused_by}` : ', paused';
  return interrupted ? ', interrupted' : '';
}

/** What remains of a scan that runs, and why. */
function remainingFacts(progress: Scan['progress']): [string, string][] {
  const { eta_seconds, eta_basis, finishing } = progress;
  if (finishing) return [['finishing', finishing]];
  return eta_seconds !== null && eta_basis
    ? [['remaining', `about ${spanText(eta_seconds * 1000)} (${eta_basis})`]]
    : [];
}

/** Names and values in two columns, every value printable and on one line. */
export function factLines(facts: readonly (readonly [string, string])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}
