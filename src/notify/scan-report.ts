import { type Severity, severities } from '../domain/finding.ts';
import { failureCodes, type Scan } from '../domain/scan.ts';
import { shownState, stateWithReason } from '../domain/scan-state.ts';
import { shortened } from './fitting.ts';
import { type FindingChanges, findingText, type ShownFinding } from './shown-finding.ts';

/** Details of a report in addition to the scan itself. */
export interface ReportDetails {
  event: 'scan.completed' | 'scan.failed' | 'scan.changed';
  /** Worst first, truncated. */
  worst_findings: ShownFinding[];
  /** Of `scan.changed`. */
  changes: FindingChanges | null;
}

/** Report of a finished scan: counters, findings, and user-supplied names and targets. */
export type ScanReport = Pick<
  Scan,
  'scan_id' | 'name' | 'targets' | 'started_at' | 'completed_at' | 'results' | 'severity_counts'
> &
  ReportDetails & {
    status: 'completed' | 'failed';
    /** Highest severity of the findings; null without findings. */
    max_severity: Severity | null;
    error: { code: string; message: string } | null;
    /** Page of the scan; null without `server.public_url`. */
    url: string | null;
  };

/** Maximum length of a scan name in a message, characters. */
const shownName = 100;

/** Details of a report without findings. */
export function plainDetails(scan: Scan): ReportDetails {
  return { event: `scan.${reportedStatus(scan)}`, worst_findings: [], changes: null };
}

/** Status of a scan as shown in reports. */
export function reportedStatus({ status }: Pick<Scan, 'status'>): 'completed' | 'failed' {
  return status === 'completed' ? 'completed' : 'failed';
}

export function worstSeverity({ severity_counts }: Pick<Scan, 'severity_counts'>): Severity | null {
  return severities.find((severity) => severity_counts[severity] > 0) ?? null;
}

export function scanReport(scan: Scan, url: string | null, details = plainDetails(scan)): ScanReport {
  const { scan_id, name, targets, started_at, completed_at, results, severity_counts } = scan;
  return {
    ...details,
    scan_id,
    status: reportedStatus(scan),
    name,
    targets,
    started_at,
    completed_at,
    results,
    severity_counts,
    max_severity: worstSeverity(scan),
    // Error texts can name files and hosts of this machine; the meaning of the code does not.
    error: scan.error && { code: scan.error.code, message: failureCodes[scan.error.code] },
    url,
  };
}

/** One-line summary. */
export function reportHeadline({
  scan_id,
  status,
  error,
  results,
  max_severity,
  changes,
}: ScanReport): string {
  if (changes) {
    const { new_count, fixed_count } = changes;
    return `Scan ${scan_id} changed: ${amount(new_count, 'new finding')}, ${fixed_count} fixed, highest severity ${max_severity ?? 'none'}`;
  }
  const { live_hosts, open_ports, vulnerabilities } = results;
  const found = `${amount(live_hosts, 'live host')}, ${amount(open_ports, 'open port')}, ${amount(vulnerabilities, 'finding')}`;
  return `Scan ${scan_id} ${shownState({ status, error })}: ${found}, highest severity ${max_severity ?? 'none'}`;
}

/** The same as pairs of a name and a value, for people. @param shown number of targets and of findings to list */
export function reportFacts(report: ScanReport, shown: number): [name: string, value: string][] {
  const { scan_id, status, name, error, results, severity_counts, max_severity } = report;
  const times: [string, string | null][] = [
    ['Started', report.started_at],
    ['Completed', report.completed_at],
  ];
  return [
    ['Scan', scan_id],
    ...(name === null ? [] : [['Name', shortened(name, shownName)] as [string, string]]),
    ['Status', stateWithReason({ status, error })],
    ['Targets', targetText(report.targets, shown)],
    ['Live hosts', String(results.live_hosts)],
    ['Open ports', String(results.open_ports)],
    ['Findings', String(results.vulnerabilities)],
    ['By severity', severities.map((severity) => `${severity} ${severity_counts[severity]}`).join(', ')],
    ['Highest severity', max_severity ?? 'none'],
    ...findingFacts(report, shown),
    ...times.flatMap(([label, time]) => (time === null ? [] : [[label, time] as [string, string]])),
  ];
}

function findingFacts({ worst_findings, changes }: ScanReport, shown: number): [string, string][] {
  const listed = (name: string, findings: readonly ShownFinding[]): [string, string][] =>
    findings.slice(0, shown).map((finding) => [name, findingText(finding)]);
  if (changes === null) return listed('Finding', worst_findings);
  return [
    ['Compared with', changes.against ?? 'nothing: the first run'],
    ['New findings', String(changes.new_count)],
    ['Fixed findings', String(changes.fixed_count)],
    ['Hosts not comparable', String(changes.not_comparable_hosts)],
    ...listed('New', changes.new_findings),
    ...listed('Fixed', changes.fixed_findings),
  ];
}

/** The documented JSON. With very many targets, the first ones and `targets_total`. */
export function reportPayload({ targets, url, ...report }: ScanReport, shown: number): object {
  const { event, scan_id, status, started_at, completed_at, results, severity_counts, max_severity } = report;
  const cut = targets.length > shown;
  return {
    event,
    scan_id,
    status,
    targets: cut ? targets.slice(0, shown) : targets,
    ...(cut && { targets_total: targets.length }),
    started_at,
    completed_at,
    results,
    severity_counts,
    max_severity,
    ...(report.worst_findings.length > 0 && { worst_findings: report.worst_findings.slice(0, shown) }),
    ...(report.changes && { changes: shownChanges(report.changes, shown) }),
    ...(report.error && { error: report.error }),
    ...(url !== null && { url }),
  };
}

function shownChanges(changes: FindingChanges, shown: number): FindingChanges {
  const { new_findings, fixed_findings } = changes;
  return {
    ...changes,
    new_findings: new_findings.slice(0, shown),
    fixed_findings: fixed_findings.slice(0, shown),
  };
}

function targetText(targets: readonly string[], shown: number): string {
  const named = targets.slice(0, shown).map((target) => shortened(target, 255));
  const left = targets.length - named.length;
  if (named.length === 0) return amount(targets.length, 'target');
  return left > 0 ? `${named.join(', ')} and ${left} more` : named.join(', ');
}

function amount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
