import { setTimeout as sleep } from 'node:timers/promises';
import { maxSmallAddresses, type Scan } from '../../domain/scan.ts';
import type { WorkerPlace } from '../../worker/worker-place.ts';
import { prepareFolder } from '../shards/take-over-scans.ts';
import type { PoolContext } from './pool-context.ts';
import type { ScanSlot } from './scan-slot.ts';

/** The worker of a server starts right after its first scan may be claimed, milliseconds. */
const lookMs = 50;

/** Where a claimed scan runs. */
export interface ScanPlacing {
  /** Whether workers share the scan. */
  isDivided: boolean;
  /** Of the worker of this server, for a scan that it runs undivided; null without other servers. */
  place: WorkerPlace | null;
}

type PlacingContext = Pick<PoolContext, 'store' | 'workspace' | 'config' | 'shards' | 'stopping'>;

/**
 * Where a claimed scan runs: a small one here, undivided, where the worker of this server has a place for it; others are divided.
 * It stays what it was when another run has begun it. Makes sure that this server has its folder.
 *
 * @returns null if it must wait for the next server process
 */
export async function placeScan(
  context: PlacingContext,
  slot: ScanSlot,
  scan: Pick<Scan, 'started_at'>,
): Promise<ScanPlacing | null> {
  const { shards, store, config, stopping } = context;
  if (shards === null) return { isDivided: false, place: null };
  // At the first attempt nobody can have divided it.
  const isDivided = slot.attempt > 1 && (await store.shardResults.hasBlocks(slot.scanId)) !== null;
  const isBegun = scan.started_at !== null;
  await prepareFolder(context, slot, isBegun && !isDivided);
  if (isDivided) return { isDivided, place: null };
  while (isBegun && shards.localWorker === null && !stopping.aborted) await sleep(lookMs);
  // With smaller shards several workers shall share it.
  const isOneShard = slot.isSmall && config.workers.shard_size >= maxSmallAddresses;
  const wanted = isOneShard || isBegun;
  const place = (wanted && shards.localWorker?.takePlace(slot, isBegun)) || null;
  if (place === null && isBegun) return null;
  return { isDivided: place === null, place };
}
