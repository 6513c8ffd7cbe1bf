import { setImmediate } from 'node:timers/promises';
import { noFindings, type Severity, type SeverityCounts, severities } from '../../domain/finding.ts';
import { countsAs } from '../../domain/finding-order.ts';
import type { PortRow, ResultRow, VulnerabilityRow } from '../../domain/result.ts';
import type { Scan } from '../../domain/scan.ts';
import { ActionTable } from '../../report/model/findings/actions.ts';
import { KindTable, placeOf } from '../../report/model/findings/kinds.ts';
import { readFinding } from '../../report/model/findings/seen-finding.ts';
import { type CurrentHost, currentHost } from '../../report/model/inventory/current-host.ts';
import { openResults, type RecordObserver } from '../../scan-run/results/open-results.ts';
import type { Store } from '../../store/open.ts';
import type { RowRecord } from '../../workspace/record/scan-record.ts';
import { type ListedFix, listedFix } from '../results/listed-fix.ts';
import type { CountedRun } from './counted-runs.ts';

/** The findings that are open in some scans together, each address counted once. */
export interface OpenFindings {
  counts: SeverityCounts;
  /** Hosts with a finding of each severity. */
  hosts: Record<Severity, number>;
  /** Most urgent first. */
  fixes: FixOfScan[];
}

/** A fix, and the scan with most of its findings. */
export interface FixOfScan extends ListedFix {
  scan_id: string;
}

/** Fixes of a dashboard. */
const maxFixes = 3;
/** How long the event loop is busy with rows before other work has its turn, milliseconds. */
const longestStretch = 8;

/**
 * Reads the findings of completed scans, newest first: of an address those of the newest one that has it.
 * @param signal aborts with its reason
 * @throws PortolanError for a scan that cannot be read
 */
export async function openFindings(
  runs: readonly CountedRun[],
  { scans: details }: Pick<Store, 'scans'>,
  recordOf: (scan: Scan) => Promise<RowRecord>,
  observer: RecordObserver,
  signal: AbortSignal,
): Promise<OpenFindings> {
  const sums = new FindingSums();
  const counts = noFindings();
  /** Hosts of newer scans that were targets by their names. */
  const named = new Set<string>();
  for (const { run, addresses, names, newer } of runs) {
    const { scan_id, severity_counts } = run;
    // A large record of hosts and ports is not read in vain.
    if (names === 0 && Object.values(severity_counts).every((count) => count === 0)) continue;
    const hosts = new Set<string>();
    let own = noFindings();
    const scan = await details.get(scan_id);
    if (scan === null) continue;
    const results = await openResults(scan, await recordOf(scan), observer, 'while-reading');
    try {
      let since = performance.now();
      for await (const row of results.rows()) {
        if (names > 0 && row.type === 'host' && !addresses.has(row.host)) hosts.add(row.host);
        if (row.host === null || (!newer.has(row.host) && !named.has(row.host))) {
          sums.add(row, scan_id);
          if (row.type === 'vulnerability') own[countsAs(row.vulnerability)] += 1;
        }
        if (performance.now() - since < longestStretch) continue;
        await setImmediate();
        signal.throwIfAborted();
        since = performance.now();
      }
      // Rows that were lost are still open findings.
      if (results.damage && newer.size === 0n) own = severity_counts;
    } finally {
      await results.close();
    }
    for (const severity of severities) counts[severity] += own[severity];
    for (const host of hosts) named.add(host);
  }
  return { counts, ...sums.finish() };
}

/** Rows in record order: those of a host follow each other. */
class FindingSums {
  readonly #kinds = new KindTable();
  readonly #actions = new ActionTable();
  readonly #hosts = new Map(severities.map((severity) => [severity, new Set<string>()]));
  /** Findings of each action, by its key and by scan. */
  readonly #scans = new Map<string, Map<string, number>>();
  #host: CurrentHost | null = null;
  #port: PortRow | null = null;

  add(row: ResultRow, scanId: string): void {
    if (row.type === 'host') this.#open(row.host, row);
    else if (row.type === 'port') this.#port = row;
    else if (row.type === 'vulnerability') this.#addFinding(row, scanId);
  }

  #open(host: string, row: Parameters<typeof currentHost>[2]): CurrentHost {
    this.#host = currentHost((this.#host?.number ?? 0) + 1, host, row);
    this.#port = null;
    return this.#host;
  }

  #addFinding(row: VulnerabilityRow, scanId: string): void {
    const host = this.#host?.host === row.host ? this.#host : this.#open(row.host, null);
    const at = this.#port;
    const isThere = at?.host === row.host && at.port === row.port && at.protocol === row.protocol;
    const product = isThere ? (at.service?.product ?? null) : null;
    const finding = readFinding(row, product);
    const place = placeOf(finding, host);
    const { key } = this.#actions.add(finding, place, host, this.#kinds.add(finding, place, host)).action;
    const scans = this.#scans.get(key) ?? new Map<string, number>();
    this.#scans.set(key, scans.set(scanId, (scans.get(scanId) ?? 0) + 1));
    this.#hosts.get(finding.severity)?.add(row.host);
  }

  finish(): Omit<OpenFindings, 'counts'> {
    this.#kinds.finish();
    const actions = this.#actions.finish();
    const hosts = severities.map((severity) => [severity, this.#hosts.get(severity)?.size ?? 0]);
    const fixes = actions
      .slice(0, maxFixes)
      .map((action) => ({ ...listedFix(action), scan_id: this.#scanWithMost(action.key) }));
    return { hosts: Object.fromEntries(hosts), fixes };
  }

  #scanWithMost(key: string): string {
    const scans = [...(this.#scans.get(key) ?? [])];
    return scans.sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
  }
}
