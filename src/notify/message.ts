import { type Severity, severities } from '../domain/finding.ts';
import { failureCodes, type Scan } from '../domain/scan.ts';
import { visibleText } from '../domain/text/visible.ts';

/** Maximum size of a message, bytes: the JSON of Slack and webhooks, the whole mail with its headers. */
export const maxMessageBytes = 8 * 1024;

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

/** Numbers of targets to list; the first one with which a message fits is used. */
const shownTargets = [20, 10, 5, 2, 1, 0] as const;
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
export function headline({ scan_id, status, results, max_severity }: ScanReport): string {
  const { live_hosts, open_ports, vulnerabilities } = results;
  const found = `${amount(live_hosts, 'live host')}, ${amount(open_ports, 'open port')}, ${amount(vulnerabilities, 'finding')}`;
  return `Scan ${scan_id} ${status}: ${found}, highest severity ${max_severity ?? 'none'}`;
}

/** The same as pairs of a name and a value, for people. @param shown number of targets to list */
export function facts(news: ScanReport, shown: number): [name: string, value: string][] {
  const { scan_id, status, name, error, results, severity_counts, max_severity } = news;
  const times: [string, string | null][] = [
    ['Started', news.started_at],
    ['Completed', news.completed_at],
  ];
  return [
    ['Scan', scan_id],
    ...(name === null ? [] : [['Name', shortened(name, shownName)] as [string, string]]),
    ['Status', error ? `${status} (${error.code}): ${error.message}` : status],
    ['Targets', targetText(news.targets, shown)],
    ['Live hosts', String(results.live_hosts)],
    ['Open ports', String(results.open_ports)],
    ['Findings', String(results.vulnerabilities)],
    ['By severity', severities.map((severity) => `${severity} ${severity_counts[severity]}`).join(', ')],
    ['Highest severity', max_severity ?? 'none'],
    ...times.flatMap(([label, time]) => (time === null ? [] : [[label, time] as [string, string]])),
  ];
}

/** Drops targets until the message fits. */
export async function fitting<Message extends string | Buffer>(
  render: (shown: number) => Message | Promise<Message>,
): Promise<Message> {
  const [most, ...fewer] = shownTargets;
  let message = await render(most);
  for (const shown of fewer) {
    if (Buffer.byteLength(message) <= maxMessageBytes) break;
    message = await render(shown);
  }
  return message;
}

/** One line without control characters, at most so many characters long. */
export function shortened(text: string, length: number): string {
  // Cut before as well, to not process a megabyte for one line.
  const line = visibleText(text.slice(0, length * 2));
  const characters = [...line];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : line;
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
