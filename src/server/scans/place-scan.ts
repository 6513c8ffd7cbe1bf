import { setTimeout as sleep } from 'node:timers/promises';
import { maxSmallAddresses, type Scan } from '../../domain/scan.ts';
import type { WorkerPlace } from '../../worker/worker-place.ts';
import { prepareFolder } from '../shards/take-over-scans.ts';
import type { PoolContext } from './pool-context.ts';
import type { ScanSlot } from './scan-slot.ts';

/** The worker of a server starts right after its first scan may be claimed, milliseconds. */
const lookMs = 50;
/** A scan that must go on here, and cannot now, waits so long, milliseconds. */
const laterMs = 1000;

/** Where a claimed scan runs. */
export interface ScanPlacing {
  /** Whether workers share the scan. */
  isDivided: boolean;
  /** Of the worker of this server, for a scan that it runs undivided; null without other servers. */
  place: WorkerPlace | null;
  /** Rows of an undivided scan that the database has. */
  storedRows: number;
}

type PlacingContext = Pick<PoolContext, 'store' | 'workspace' | 'config' | 'shards' | 'stopping'>;

/**
 * Where a claimed scan runs: a small one here, undivided, where the worker of this server has a place for it; others are divided.
 * It stays what it was when another run has begun it. Makes sure that this server has its folder.
 *
 * @returns null if it can go on nowhere now
 */
export async function placeScan(
  context: PlacingContext,
  slot: ScanSlot,
  scan: Pick<Scan, 'started_at'>,
): Promise<ScanPlacing | null> {
  const { shards, store, config, stopping } = context;
  if (shards === null) return { isDivided: false, place: null, storedRows: 0 };
  // At the first attempt nobody can have divided it.
  const isDivided = slot.attempt > 1 && (await store.shardResults.hasBlocks(slot.scanId)) !== null;
  const isBegun = scan.started_at !== null;
  await prepareFolder(context, slot, isBegun && !isDivided);
  if (isDivided) return { isDivided, place: null, storedRows: 0 };
  const storedRows = isBegun ? await store.undividedResults.rowsOf(slot.scanId) : 0;
  // With smaller shards several workers shall share it.
  const isOneShard = slot.isSmall && config.workers.shard_size >= maxSmallAddresses;
  if (!isOneShard && storedRows === 0) return { isDivided: true, place: null, storedRows };
  while (isBegun && shards.localWorker === null && !stopping.aborted) await sleep(lookMs);
  const place = shards.localWorker?.takePlace(slot, isBegun) ?? null;
  if (place !== null || storedRows === 0) return { isDivided: place === null, place, storedRows };
  await sleep(laterMs, undefined, { signal: stopping }).catch(() => undefined);
  return null;
}
