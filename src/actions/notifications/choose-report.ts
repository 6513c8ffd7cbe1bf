import type { Scan } from '../../domain/scan.ts';
import type { NotificationSettings } from '../../notify/deliver.ts';
import { isAtLeast, type ReportForm, reportForms } from '../../notify/rules.ts';
import { type ReportDetails, reportedStatus, worstSeverity } from '../../notify/scan-report.ts';
import type { FindingChanges } from '../../notify/shown-finding.ts';
import type { ScanHighlights } from './scan-highlights.ts';

/** The report that a channel gets about an ended scan, or why it gets none. */
export async function chooseReport(
  settings: Pick<NotificationSettings, 'rules' | 'webhooks'>,
  highlights: ScanHighlights,
  scan: Scan,
  channel: string,
): Promise<ReportDetails | { unusable: string }> {
  const status = reportedStatus(scan);
  let unusable = `no entry of notifications.rules sends scan.${status} to this channel`;
  for (const form of reportForms(settings, channel, status)) {
    const { event, min_severity: least } = form;
    if (event === 'scan.changed') {
      const changes = await highlights.changes(scan, least);
      if (isWorthSending(changes, form)) return { event, worst_findings: [], changes };
      unusable = changes.against === null ? noFinding(least) : `nothing new since ${changes.against}`;
    } else {
      const highest = worstSeverity(scan);
      const isWorth = least === null || (highest !== null && isAtLeast(highest, least));
      if (isWorth) return { event, worst_findings: await highlights.worst(scan), changes: null };
      unusable = noFinding(least);
    }
  }
  return { unusable };
}

/** A first run is always sent, unless a severity is asked for. */
function isWorthSending({ against, new_count, fixed_count }: FindingChanges, form: ReportForm): boolean {
  return new_count + fixed_count > 0 || (against === null && form.min_severity === null);
}

function noFinding(least: string | null): string {
  return `no finding of severity ${least} or worse`;
}
