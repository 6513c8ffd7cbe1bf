import type { Config } from '../../config/schema.ts';
import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import { ambiguousMinutes, formatDuration, parseDuration } from '../../domain/time/duration.ts';
import type { CursorPosition } from '../../store/cursor.ts';
import type { Store } from '../../store/open.ts';
import { newestOfAll } from '../../store/scans/age-windows.ts';
import {
  agePositionOf,
  compareAge,
  type FinishedScan,
  type OlderThan,
  type ScanAges,
} from '../../store/scans/scan-ages.ts';
import { RemovalBatch, type RemovalContext, type RemovalReport } from './removal-batch.ts';

/** Criteria of a request; a scan is deleted if it fails all that are given. */
export interface GarbageRequest {
  /** Retention duration, e.g. `30d`: only scans created earlier. */
  older_than?: string | undefined;
  /** Number of newest scans to keep, whatever their age. */
  keep_last?: number | undefined;
  /** Delete nothing, only report. */
  dry_run?: boolean | undefined;
}

export type Retention = Config['workspace']['retention'];

export interface GarbageReport extends RemovalReport {
  /** Remaining scans, in any state. */
  kept_count: number;
  policy: GarbagePolicy;
}

export interface GarbagePolicy {
  older_than: string | null;
  keep_last: number | null;
  /** Present if the configured retention was applied: each is a limit of its own. */
  retention?: { max_age: string | null; max_scans: number | null; min_free_space: number | null };
}

export interface GarbageContext extends RemovalContext {
  /** The configured retention, for a request without criteria. */
  retention: Retention;
}

/** `min_free_space` is unreachable: deleting every permitted scan would not free enough. */
export interface DiskShortfall {
  min_free_space: number;
  /** Free bytes. */
  free: number;
  /** Bytes that deletion could free. */
  clearable: number;
}

export interface GarbageRun {
  report: GarbageReport;
  /** Null if `min_free_space` is not set or satisfied; undefined if not checked. */
  shortfall: DiskShortfall | null | undefined;
}

/** Scans deleted per transaction of the store. */
const scansAtOnce = 64;
/** `min_free_space` deletes no scan that ended less than this ago, milliseconds: a client may not have read it yet. */
const unreadMs = 3_600_000;

/** Position up to which the scans of a tenant are deleted; null for none. */
type Cut = (ages: ScanAges, tenant: string | null) => Promise<CursorPosition | null>;

/** Effective limits. */
interface Rules {
  cut: Cut;
  space: { minFree: number; protect: number } | null;
}

/**
 * Deletes finished scans beyond the retention, oldest first; unfinished scans are never touched. A request without
 * criteria applies the configured retention.
 * @throws PortolanError `invalid_request` for an invalid duration
 */
export async function collectGarbage(context: GarbageContext, request: GarbageRequest): Promise<GarbageRun> {
  const { rules, policy } = decide(context.retention, request);
  const report = emptyReport(request.dry_run ?? false);
  const shortfall = await applyRules(context, report, rules);
  const stored = (await context.store.scans.totals()).scan_count;
  const kept_count = report.dry_run ? stored - report.deleted_count : stored;
  return { report: { ...report, kept_count, policy }, shortfall };
}

/**
 * Applies the configured retention, like `collectGarbage` without criteria, and counts only deleted scans.
 * @param withSpace also `min_free_space`
 */
export async function applyRetention(
  context: GarbageContext,
  { withSpace }: { withSpace: boolean },
): Promise<{ report: RemovalReport; shortfall: GarbageRun['shortfall'] }> {
  const { rules } = decide(context.retention, {});
  const report = emptyReport(false);
  const shortfall = await applyRules(context, report, rules, withSpace);
  return { report, shortfall };
}

function emptyReport(dry_run: boolean): RemovalReport {
  return { dry_run, deleted_count: 0, deleted_scans: [], freed_bytes: 0, errors: [] };
}

async function applyRules(
  context: GarbageContext,
  report: RemovalReport,
  rules: Rules | null,
  withSpace = true,
): Promise<GarbageRun['shortfall']> {
  if (rules === null) return null;
  const { store, workspace } = context;
  await deleteOlder(context, report, await cutsOf(store.scanAges, rules.cut));
  const shortfall = withSpace ? await clearSpace(context, report, rules.space) : undefined;
  if (!report.dry_run && report.deleted_count > 0) {
    await releasePages(store);
    await workspace.keepReserve();
  }
  return shortfall;
}

async function deleteOlder(
  context: GarbageContext,
  report: RemovalReport,
  olderThan: OlderThan,
): Promise<void> {
  const batch = new RemovalBatch(context, report, scansAtOnce);
  for await (const scan of context.store.scanAges.finished(olderThan)) await batch.add(scan);
  await batch.dispose();
}

/** No tenant loses a scan because another one has many. */
async function cutsOf(ages: ScanAges, cut: Cut): Promise<OlderThan> {
  const cuts = new Map<string | null, CursorPosition>();
  for (const tenant of await ages.tenants()) {
    const end = await cut(ages, tenant);
    if (end !== null) cuts.set(tenant, end);
  }
  return cuts;
}

/**
 * Deletes the oldest scans until enough of the disk is free, or nothing if that is impossible.
 * @returns null if enough is free
 */
async function clearSpace(
  context: GarbageContext,
  report: RemovalReport,
  space: Rules['space'],
): Promise<DiskShortfall | null> {
  if (space === null) return null;
  const { minFree, protect } = space;
  const { store, workspace } = context;
  // A dry run frees nothing, so add what it would free.
  const freeBytes = async () => (await workspace.freeBytes()) + (report.dry_run ? report.freed_bytes : 0);
  const batch = new RemovalBatch(context, report, 1);
  const endedBefore = new Date(Date.now() - unreadMs).toISOString();
  // Scans of a dry run, and undeletable ones, are still stored.
  const seen = new Set([...report.deleted_scans, ...report.errors.map(({ scan_id }) => scan_id)]);
  let olderThan: OlderThan | null = null;
  let after: CursorPosition | undefined;
  for (;;) {
    const free = await freeBytes();
    if (free >= minFree) return null;
    olderThan ??= await cutsOf(store.scanAges, keptBy(protect));
    const readable = () =>
      endedEarlier(store.scanAges.finished(olderThan ?? new Map(), { after, of: 'here' }), endedBefore, seen);
    const clearable = await bytesOf(readable(), minFree - free);
    if (clearable < minFree - free) return { min_free_space: minFree, free, clearable };
    let expected = 0;
    for await (const scan of readable()) {
      after = agePositionOf(scan);
      expected += scan.size_bytes;
      // Files in the result store take no space here.
      if ((await batch.localBytes(scan)) > 0) await batch.add(scan);
      // Less was freed than expected, or others write: check again whether it is reachable.
      if (expected >= minFree - free || (await freeBytes()) >= minFree) break;
    }
  }
}

async function* endedEarlier(
  scans: AsyncIterable<FinishedScan>,
  endedBefore: string,
  seen: ReadonlySet<string>,
): AsyncGenerator<FinishedScan> {
  for await (const scan of scans) if (scan.ended_at < endedBefore && !seen.has(scan.scan_id)) yield scan;
}

/** Sum of the stored sizes, up to `enough`. */
async function bytesOf(scans: AsyncIterable<FinishedScan>, enough: number): Promise<number> {
  let bytes = 0;
  for await (const { size_bytes } of scans) {
    bytes += size_bytes;
    if (bytes >= enough) break;
  }
  return bytes;
}

/** The request is done, whatever the outcome of this. */
async function releasePages(store: Store): Promise<void> {
  await store.releasePages().catch((error: unknown) => {
    if (!(error instanceof PortolanError)) throw error;
  });
}

function decide(
  retention: Retention,
  request: GarbageRequest,
): { rules: Rules | null; policy: GarbagePolicy } {
  const { older_than, keep_last } = request;
  if (older_than !== undefined || keep_last !== undefined) {
    const criteria = [
      ...(older_than === undefined ? [] : [createdBefore(readAge(older_than))]),
      ...(keep_last === undefined ? [] : [keptBy(keep_last)]),
    ];
    return {
      rules: { cut: oldest(criteria), space: null },
      policy: { older_than: older_than ?? null, keep_last: keep_last ?? null },
    };
  }
  const none = { older_than: null, keep_last: null };
  if (!retention.enabled) return { rules: null, policy: none };
  const { max_age, max_scans, min_free_space, protect } = retention;
  const caps = [
    ...(max_age === null ? [] : [createdBefore(max_age)]),
    ...(max_scans === null ? [] : [keptBy(max_scans)]),
  ];
  const shown = { max_age: max_age === null ? null : formatDuration(max_age), max_scans, min_free_space };
  return {
    rules: {
      cut: newest(caps),
      space: min_free_space === null ? null : { minFree: min_free_space, protect },
    },
    policy: { ...none, retention: shown },
  };
}

function createdBefore(ms: number): Cut {
  // Stored times are ISO 8601 UTC texts, which sort like the times.
  const createdAt = new Date(Math.max(0, Date.now() - ms)).toISOString();
  return async () => ({ createdAt, id: '' });
}

/** Keeps the given number of newest scans of each tenant. */
function keptBy(scans: number): Cut {
  return async (ages, tenant) => (scans === 0 ? newestOfAll : await ages.nthNewest(tenant, scans));
}

/** All criteria must fail. */
function oldest(criteria: readonly Cut[]): Cut {
  return async (ages, tenant) => {
    const cuts = await Promise.all(criteria.map((cut) => cut(ages, tenant)));
    const failed = cuts.filter((cut) => cut !== null);
    return failed.length < cuts.length ? null : (failed.sort(compareAge)[0] ?? null);
  };
}

/** Any exceeded limit suffices. */
function newest(caps: readonly Cut[]): Cut {
  return async (ages, tenant) => {
    const cuts = await Promise.all(caps.map((cut) => cut(ages, tenant)));
    return (
      cuts
        .filter((cut) => cut !== null)
        .sort(compareAge)
        .at(-1) ?? null
    );
  };
}

/** @returns milliseconds */
function readAge(text: string): number {
  const age = parseDuration(text, { retention: true });
  if (age !== null) return age;
  const reason = ambiguousMinutes(text) ?? 'must be a duration with a unit, such as 30d, 6mo or 1y';
  throw invalidRequest(`older_than ${reason}`, [{ field: 'older_than', reason }]);
}
