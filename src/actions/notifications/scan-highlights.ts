import { type Severity, severities } from '../../domain/finding.ts';
import { countsAs } from '../../domain/finding-order.ts';
import type { Scan } from '../../domain/scan.ts';
import { isAtLeast } from '../../notify/rules.ts';
import { type FindingChanges, type ShownFinding, WorstFindings } from '../../notify/shown-finding.ts';
import { openResults, type RecordObserver } from '../../scan-run/results/open-results.ts';
import type { RowRecord } from '../../workspace/record/scan-record.ts';
import type { Comparison } from '../results/compare-scans.ts';

/** Findings that a report names, and that a report of changes names of the new and of the fixed ones. */
export const worstOfReport = 5;
export const worstOfChanges = 10;

/** What reports say beyond the figures of a scan. */
export interface ScanHighlights {
  /** The worst findings, worst first. */
  worst(scan: Scan): Promise<ShownFinding[]>;
  /**
   * New and fixed findings since the baseline of the scan.
   *
   * @param least only findings of this severity and worse
   */
  changes(scan: Scan, least: Severity | null): Promise<FindingChanges>;
}

/**
 * The worst findings of an ended scan. Of a damaged record those before the damage.
 *
 * @param most how many
 * @param least only findings of this severity and worse
 */
export async function worstFindings(
  scan: Scan,
  record: RowRecord,
  observer: RecordObserver,
  { most, least }: { most: number; least: Severity | null },
  signal?: AbortSignal,
): Promise<WorstFindings> {
  const worst = new WorstFindings(most);
  // A large record of hosts and ports is not read in vain.
  if (Object.values(scan.severity_counts).every((count) => count === 0)) return worst;
  const results = await openResults(scan, record, observer, 'while-reading');
  try {
    for await (const row of results.rows()) {
      signal?.throwIfAborted();
      if (row.type === 'vulnerability' && isAtLeast(countsAs(row.vulnerability), least)) worst.add(row);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (worst.count === 0) throw error;
  } finally {
    await results.close();
  }
  return worst;
}

/**
 * New and fixed findings. A finding where the baseline could not have found one is new as well: nobody was notified of
 * it. Where the newer scan could not have found it, it is not fixed.
 */
export async function findingChanges(
  comparison: Comparison,
  least: Severity | null,
): Promise<FindingChanges> {
  const [added, fixed] = [new WorstFindings(worstOfChanges), new WorstFindings(worstOfChanges)];
  const hosts = new Set<string>();
  const counts = (severity: Severity) => isAtLeast(severity, least);
  for (const list of ['vulnerabilities.new', 'vulnerabilities.unseen'] as const)
    for await (const found of comparison.list(list))
      if (counts(countsAs(found.vulnerability))) added.add(found);
  for await (const found of comparison.list('vulnerabilities.resolved'))
    if (counts(countsAs(found.vulnerability))) fixed.add(found);
  for await (const { host } of comparison.list('not_comparable')) hosts.add(host);
  return {
    against: comparison.against,
    new_count: added.count,
    fixed_count: fixed.count,
    not_comparable_hosts: hosts.size,
    new_findings: added.list(),
    fixed_findings: fixed.list(),
  };
}

/** Of a first run: all findings are new. */
export function firstChanges(scan: Scan, least: Severity | null, worst: ShownFinding[]): FindingChanges {
  const counted = severities.filter((severity) => isAtLeast(severity, least));
  return {
    against: null,
    new_count: counted.reduce((sum, severity) => sum + scan.severity_counts[severity], 0),
    fixed_count: 0,
    not_comparable_hosts: 0,
    new_findings: worst,
    fixed_findings: [],
  };
}

/** Highlights of a scan that no store knows: it has no run before it. */
export function unstoredHighlights(record: RowRecord): ScanHighlights {
  const observer = { isListed: async () => true, observed: () => undefined };
  const worst = async (scan: Scan, most: number, least: Severity | null) =>
    // What cannot be read is left out of the message.
    (await worstFindings(scan, record, observer, { most, least }).catch(() => new WorstFindings(0))).list();
  return {
    worst: (scan) => worst(scan, worstOfReport, null),
    changes: async (scan, least) => firstChanges(scan, least, await worst(scan, worstOfChanges, least)),
  };
}
