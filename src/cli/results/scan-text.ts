import type { Scan } from '../../domain/scan.ts';
import { stateWithReason } from '../../domain/scan-state.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { drawFacts } from '../terminal/draw/columns.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import { spanText, whenText } from '../terminal/draw/times.ts';

/** The detail of a scan as text. */
export function scanSummaryText(scan: Scan, style: TerminalStyle, now: number): string {
  const { results, progress, name, tags, started_at, completed_at } = scan;
  const counts = [
    countText(results.live_hosts, 'host'),
    countText(results.open_ports, 'open port'),
    countText(results.vulnerabilities, 'finding'),
  ];
  const facts: [string, string | null][] = [
    ['scan', scan.scan_id],
    ['status', stateWithReason(scan)],
    ['targets', scan.targets.join(' ')],
    ['profile', scan.profile],
    ['name', name],
    ['tags', tags.join(' ') || null],
    ['created', whenText(scan.created_at, now)],
    ['started', started_at && whenText(started_at, now)],
    ['completed', completed_at && whenText(completed_at, now)],
    ['took', started_at && completed_at && spanText(Date.parse(completed_at) - Date.parse(started_at))],
    ['found', counts.join(', ')],
    ['progress', `${progress.percent} % (${progress.phase})${pauseText(progress)}`],
    ...remainingFacts(progress),
    ...scan.stages
      .filter(({ status }) => status === 'failed')
      .map((stage): [string, string] => [
        'failed',
        `${stage.instance_id}: ${stage.error ?? 'no reason given'}`,
      ]),
    ...scan.warnings.map((warning): [string, string] => ['warning', warning.message]),
  ];
  const known = facts.flatMap(([fact, value]) => (value === null ? [] : [[fact, value] as const]));
  return drawFacts(known, style);
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
