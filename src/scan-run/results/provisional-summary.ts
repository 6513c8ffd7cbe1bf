import type { SummaryRow } from '../../domain/result.ts';
import type { Scan } from '../../domain/scan.ts';
import { catalogVersion } from '../../knowledge/rules/catalog-version.ts';

/** Summary of a scan whose record has none yet. */
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

/** From the start to the end or now: only if no checkpoint states the duration. */
function wallSeconds({ started_at, completed_at }: Scan): number {
  const end = completed_at === null ? Date.now() : Date.parse(completed_at);
  return started_at === null ? 0 : Math.max(0, end - Date.parse(started_at)) / 1000;
}
