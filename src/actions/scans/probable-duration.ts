import { isDeepStrictEqual } from 'node:util';
import type { ScanRequest } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';

/** How long a scan will probably take. */
export interface ProbableDuration {
  seconds: number;
  /** In words. */
  basis: string;
  /** The scan that it was taken from; null if it is computed. */
  scan_id: string | null;
}

/** Completed scans that are looked through, newest first: a plan is requested while somebody types. */
const maxScans = 20;

/** As long as the newest completed scan of the same request took. @returns null if there is none */
export async function probableDuration(
  { scans }: Pick<Store, 'scans'>,
  request: ScanRequest,
): Promise<ProbableDuration | null> {
  const { profile, vuln, targets, name } = request;
  const filter = { status: 'completed', profile, q: name ?? targets[0] ?? '', limit: maxScans } as const;
  const { scans: earlier } = await scans.listPart({ ...filter, offset: 0 });
  for (const scan of earlier) {
    const { started_at: from, completed_at: to, targets_total: total = scan.targets.length } = scan;
    if (scan.vuln !== vuln || total !== targets.length || from === null || to === null) continue;
    const other = await scans.request(scan.scan_id);
    if (other === null || !isSameWork(request, other)) continue;
    const seconds = Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);
    const hosts = scan.results.live_hosts;
    const basis = `as in the last run: ${hosts} ${hosts === 1 ? 'host' : 'hosts'} up`;
    return { seconds, basis, scan_id: scan.scan_id };
  }
  return null;
}

/** Whether two requests send the same packets at the same rate. */
function isSameWork(one: ScanRequest, other: ScanRequest): boolean {
  return isDeepStrictEqual(workOf(one), workOf(other));
}

function workOf({ targets, exclude, profile, vuln, ports, rate, dag, options }: ScanRequest): unknown {
  return [
    [...targets].sort(),
    [...exclude].sort(),
    profile,
    vuln,
    ports,
    rate,
    dag,
    Object.entries(options)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ];
}
