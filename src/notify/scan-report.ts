import { type Severity, severities } from '../domain/finding.ts';
import { failureCodes, type Scan } from '../domain/scan.ts';
import { shortened } from './fitting.ts';

/** Report of an ended scan: counters, and the names and targets that people chose. */
export type ScanReport = Pick<
  Scan,
  'scan_id' | 'name' | 'targets' | 'started_at' | 'completed_at' | 'results' | 'severity_counts'
> & {
  event: 'scan.completed' | 'scan.failed';
  status: 'completed' | 'failed';
  /** Highest severity of the findings; null without findings. */
  max_severity: Severity | null;
  error: { code: string; message: string } | null;
  /** Page of the scan; null without `server.public_url`. */
  url: string | null;
};

/** Maximum length of a scan name in a message, characters. */
const shownName = 100;

export function scanReport(scan: Scan, url: string | null): ScanReport {
  const { scan_id, name, targets, started_at, completed_at, results, severity_counts } = scan;
  const status = scan.status === 'completed' ? 'completed' : 'failed';
  return {
    event: `scan.${status}`,
    scan_id,
    status,
    name,
    targets,
    started_at,
    completed_at,
    results,
    severity_counts,
    max_severity: severities.find((severity) => severity_counts[severity] > 0) ?? null,
    // Error texts can name files and hosts of this machine; the meaning of the code does not.
    error: scan.error && { code: scan.error.code, message: failureCodes[scan.error.code] },
    url,
  };
}

/** One-line summary. */
export function reportHeadline({ scan_id, status, results, max_severity }: ScanReport): string {
  const { live_hosts, open_ports, vulnerabilities } = results;
  const found = `${amount(live_hosts, 'live host')}, ${amount(open_ports, 'open port')}, ${amount(vulnerabilities, 'finding')}`;
  return `Scan ${scan_id} ${status}: ${found}, highest severity ${max_severity ?? 'none'}`;
}

/** The same as pairs of a name and a value, for people. @param shown number of targets to list */
export function reportFacts(report: ScanReport, shown: number): [name: string, value: string][] {
  const { scan_id, status, name, error, results, severity_counts, max_severity } = report;
  const times: [string, string | null][] = [
    ['Started', report.started_at],
    ['Completed', report.completed_at],
  ];
  return [
    ['Scan', scan_id],
    ...(name === null ? [] : [['Name', shortened(name, shownName)] as [string, string]]),
    ['Status', error ? `${status} (${error.code}): ${error.message}` : status],
    ['Targets', targetText(report.targets, shown)],
    ['Live hosts', String(results.live_hosts)],
    ['Open ports', String(results.open_ports)],
    ['Findings', String(results.vulnerabilities)],
    ['By severity', severities.map((severity) => `${severity} ${severity_counts[severity]}`).join(', ')],
    ['Highest severity', max_severity ?? 'none'],
    ...times.flatMap(([label, time]) => (time === null ? [] : [[label, time] as [string, string]])),
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
    ...(report.error && { error: report.error }),
    ...(url !== null && { url }),
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
