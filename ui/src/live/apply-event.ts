import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { getKey } from '../api/get-key.ts';
import type { LiveEvent } from './live.ts';

interface ScanList {
  scans: { scan_id: string }[];
}

/** What changes with the status of a scan. */
const ofAllScans = ['/api/v1/scans', '/api/v1/dashboard', '/api/v1/workspace/info'];
const ofScan = [
  '/api/v1/scans/{scan_id}',
  '/api/v1/scans/{scan_id}/records',
  '/api/v1/scans/{scan_id}/facets',
  '/api/v1/scans/{scan_id}/fixes',
  '/api/v1/scans/{scan_id}/coverage',
];

/** What is outdated by an event of the service, by path of the API. */
const outdatedBy: Record<string, readonly string[]> = {
  job: ['/api/v1/jobs', '/api/v1/jobs/{job_id}'],
  alert: ['/api/v1/alerts'],
  health: ['/api/v1/health', '/api/v1/workers'],
  scan_deleted: ofAllScans,
};

/** Brings the cached data up to date. Lists are changed in place: rows must not move under the reader. */
export function applyEvent(cache: QueryClient, { event, data }: LiveEvent): void {
  if (event === 'reset') void cache.invalidateQueries();
  if (event === 'scan') applyScan(cache, data);
  for (const path of outdatedBy[event] ?? []) void loadAgain(cache, [path]);
}

/** What an event of a scan has, as an item of a list, of its detail. */
const ofBoth = ['status', 'started_at', 'completed_at', 'results', 'severity_counts'];

interface ScanDetail {
  error: unknown;
  progress: { rate_history?: unknown };
}

/** At once, before the detail comes anew: its targets, stages and warnings are in no event. */
function withEvent(old: ScanDetail, scan: Record<string, unknown>): ScanDetail {
  const { rate_history } = old.progress;
  const progress = { rate_history, ...(scan['progress'] as object | undefined) };
  const shared = Object.fromEntries(ofBoth.filter((name) => name in scan).map((name) => [name, scan[name]]));
  return { ...old, ...shared, progress, error: old.error ?? failureOf(scan) };
}

/** Its message comes with the detail. */
function failureOf({ error }: Record<string, unknown>): unknown {
  return error ? { message: '', ...error } : null;
}

/** The last known status of each scan that an event named. */
const statusOf = new Map<string, unknown>();

function applyScan(cache: QueryClient, scan: Record<string, unknown>): void {
  const scanId = String(scan['scan_id']);
  cache.setQueryData(
    getKey('/api/v1/scans/{scan_id}', { path: { scan_id: scanId } }),
    (old: ScanDetail | undefined) => old && withEvent(old, scan),
  );
  changeInLists(cache, scanId, scan);
  const before = statusOf.get(scanId);
  statusOf.set(scanId, scan['status']);
  // Not again while a request is on its way: a slow one would never end.
  if (before === scan['status']) {
    const queryKey = ['/api/v1/scans/{scan_id}', { scan_id: scanId }];
    void cache.invalidateQueries({ queryKey }, { cancelRefetch: false });
    return;
  }
  for (const path of ofScan) void loadAgain(cache, [path, { scan_id: scanId }]);
  for (const path of ofAllScans) void loadAgain(cache, [path]);
}

/** A first request that is on its way may bring what was before the event, and invalidating alone leaves it be. */
async function loadAgain(cache: QueryClient, queryKey: QueryKey): Promise<void> {
  await cache.cancelQueries({ queryKey });
  await cache.invalidateQueries({ queryKey });
}

function changeInLists(cache: QueryClient, scanId: string, scan: Record<string, unknown>): void {
  cache.setQueriesData<ScanList>({ queryKey: ['/api/v1/scans'] }, (list) => {
    if (!list?.scans.some(({ scan_id }) => scan_id === scanId)) return list;
    const scans = list.scans.map((each) => (each.scan_id === scanId ? { ...each, ...scan } : each));
    return { ...list, scans };
  });
}
