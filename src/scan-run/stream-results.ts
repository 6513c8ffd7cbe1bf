import { PortolanError } from '../domain/errors.ts';
import type { ResultRow, SummaryRow, UnidentifiedCounts } from '../domain/result.ts';
import type { Scan } from '../domain/scan.ts';
import { catalogVersion } from '../knowledge/rules/catalog-version.ts';
import { renderCsv } from '../workspace/render/csv.ts';
import { renderJson } from '../workspace/render/json.ts';
import { renderJsonl } from '../workspace/render/jsonl.ts';
import { resultHead } from '../workspace/render/result-head.ts';
import type { OpenResults } from './open-results.ts';

export const resultFormats = ['json', 'jsonl', 'csv'] as const;
export type ResultFormat = (typeof resultFormats)[number];

/**
 * The results of a scan as text, read while it is written out, whatever their size. An unfinished scan gives what is
 * there, marked as partial; so does a damaged record. `json` is the object that the API sends as `data`.
 * @throws PortolanError `internal_error` for a damaged record as CSV, which has no place to say so
 */
export function streamResults(results: OpenResults, format: ResultFormat): AsyncIterable<string> {
  const { scan, summary, damage } = results;
  if (format === 'csv') {
    if (damage)
      throw new PortolanError('internal_error', `${damage.message} JSON gives what is left of them.`);
    return renderCsv(results.rows());
  }
  if (format === 'jsonl') return renderJsonl(results.rowsWithDamage(), summary);
  return renderJson(resultHead(summary, scan), results.rows());
}

/** What is known of a scan whose record has no summary yet. */
export function provisionalSummary(scan: Scan, seconds = wallSeconds(scan)): SummaryRow {
  return {
    type: 'summary',
    timestamp: scan.completed_at ?? new Date().toISOString(),
    host: null,
    scan_id: scan.scan_id,
    status: scan.status,
    partial: scan.status !== 'completed',
    live_hosts: scan.results.live_hosts,
    open_ports: scan.results.open_ports,
    vulnerabilities: scan.results.vulnerabilities,
    addresses_scanned: scan.progress.hosts_done,
    excluded: 0,
    severity_counts: scan.severity_counts,
    duration_seconds: seconds,
    catalogue_version: catalogVersion,
  };
}

/** From the start to the end or now: only where no checkpoint tells how long the scan ran. */
function wallSeconds({ started_at, completed_at }: Scan): number {
  const end = completed_at === null ? Date.now() : Date.parse(completed_at);
  return started_at === null ? 0 : Math.max(0, end - Date.parse(started_at)) / 1000;
}

/** Counts what the record of a scan holds. */
export async function countRows(
  rows: AsyncIterable<ResultRow>,
): Promise<Pick<Scan, 'results' | 'severity_counts'> & { unidentified: UnidentifiedCounts }> {
  const results = { live_hosts: 0, open_ports: 0, vulnerabilities: 0 };
  const unidentified = { timeout: 0, rate: 0, cut: 0 };
  const severity_counts = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };
  for await (const row of rows) {
    if (row.type === 'host') results.live_hosts++;
    if (row.type === 'port') {
      results.open_ports++;
      if (row.unidentified_reason) unidentified[row.unidentified_reason]++;
    }
    if (row.type === 'vulnerability') {
      results.vulnerabilities++;
      severity_counts[row.vulnerability.severity]++;
    }
  }
  return { results, severity_counts, unidentified };
}
