import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf } from '../../domain/executor.ts';
import { isFinal } from '../../domain/scan.ts';
import { notSending } from '../../domain/scan-progress.ts';
import type { ScanFailure } from '../../scan-run/finalize/failure.ts';
import { canceledFailure, isDeadCommandLine } from '../../scan-run/finalize/interrupt-scan.ts';
import type { TakenScan } from '../../store/scan-takeovers.ts';
import { gatherRows, takeOverNotifications, takeOverScans } from '../shards/take-over-scans.ts';
import type { PoolContext } from './pool-context.ts';
import type { ScanEnds } from './scan-end.ts';
import { pauseProgress } from './scan-slot.ts';

/** Pause before a scan that could not be ended is tried again, milliseconds. */
const againMs = 1000;
/** Longest wait for the shards of a canceled scan, milliseconds. */
const stopMs = 4000;
/** Poll interval of these, milliseconds. */
const lookMs = 100;

const deadCommandLine: ScanFailure = {
  code: 'interrupted',
  message: 'The command that ran the scan exited before the scan ended.',
};

/**
 * Returns the scans of the previous server process to the queue and ends those that cannot continue. Called before
 * any scan runs: scans stored as running belong to a process that is gone, or to a command line.
 */
export async function recoverScans(context: PoolContext, ends: ScanEnds): Promise<void> {
  const { store, queue, shards, log } = context;
  const reclaimed = await queue.reclaimAll();
  if (reclaimed > 0) log.info({ scans: reclaimed }, 'scans of the previous server requeued');
  for (const scanId of await store.scanPauses.pausedScans()) await showPaused(context, scanId);
  for (const scanId of await store.scans.unfinished()) {
    await endAbandoned(context, ends, scanId);
    // Workers on other machines go on with the shards of a scan.
    if (!shards) await showInterrupted(context, scanId);
  }
  if (shards) await removeLeftShards(context, ends);
}

/** Removes the shards of ended scans: their server died, or had lost a scan, before it could. */
async function removeLeftShards(
  { store, slots }: PoolContext,
  ends: ScanEnds,
  executor?: string,
): Promise<void> {
  for (const scanId of await store.shards.endedScans(executor)) {
    if (slots.has(scanId)) continue;
    await ends.removeShards({ scanId, tenant: await store.scans.tenantOf(scanId) });
  }
}

/**
 * Stops the shards of a scan that waits, here or on another server, and is canceled; what their workers have found belongs to it. It is
 * ended here afterwards.
 */
export async function stopWaiting(context: PoolContext, scanId: string): Promise<void> {
  const { store, shards } = context;
  if (!shards) return;
  const scan = await store.scans.get(scanId);
  if (!scan || isFinal(scan.status)) return;
  if ((await shards.elsewhere.homeOf(scanId)) !== null)
    await store.scanTakeovers.adopt(scanId, store.executor);
  if ((await store.shards.count(scanId)) > 0) {
    await shards.line.command(scanId, 'cancel');
    await shards.line.endWaiting(scanId);
    const deadline = performance.now() + stopMs;
    const isStopped = async () =>
      (await store.shards.ofScan(scanId)).every(({ state }) => state !== 'running');
    while (!(await isStopped()) && performance.now() < deadline) await sleep(lookMs);
  }
  await gatherRows(context, { scanId, tenant: await store.scans.tenantOf(scanId) });
}

/** Takes over the scans of servers that are gone. */
export async function takeOverAbandoned(context: PoolContext, ends: ScanEnds): Promise<number> {
  if (context.shards === null) return 0;
  // A worker sends none: their channels are settings of servers.
  if (context.standIn === null) await takeOverNotifications(context, context.shards);
  await removeLeftShards(context, ends, context.store.executor);
  const taken = await takeOverScans(context, context.shards);
  for (const scan of taken) {
    if (scan.isCanceled) await endCanceled(context, ends, scan);
    context.news.emit(scan.scanId);
  }
  return taken.length;
}

async function endCanceled(context: PoolContext, ends: ScanEnds, scan: TakenScan): Promise<void> {
  const { scanId, attempt } = scan;
  for (let tries = 1; !context.stopping.aborted; tries++) {
    try {
      await context.shards?.line.command(scanId, 'cancel');
      await endAbandoned(context, ends, scanId);
      // Only now: whoever waits for the end of the scan sees all of it.
      await context.queue.complete(scanId, attempt);
      return await ends.removeShards(scan);
    } catch (err) {
      if (tries === 1) context.log.warn({ err, scan_id: scanId }, 'cannot end a canceled scan, retrying');
      await sleep(againMs);
    }
  }
}

async function endAbandoned(context: PoolContext, ends: ScanEnds, scanId: string): Promise<void> {
  const tenant = await context.store.scans.tenantOf(scanId);
  const error = await whyAbandoned(context, scanId);
  if (error === null) return;
  if (context.shards !== null) await gatherRows(context, { scanId, tenant });
  await ends.finalize({ scanId, tenant }, error);
  await ends.report({ scanId, tenant });
}

/** @returns null for a scan that continues */
async function whyAbandoned({ store, queue }: PoolContext, scanId: string): Promise<ScanFailure | null> {
  if (await queue.isCanceled(scanId)) return canceledFailure;
  const executor = await store.scans.executor(scanId);
  return isDeadCommandLine(executor, store.executor) ? deadCommandLine : null;
}

/** The stored progress may be older than the pause. */
async function showPaused({ store }: PoolContext, scanId: string): Promise<void> {
  const scan = await store.scans.get(scanId);
  if (!scan || isFinal(scan.status)) return;
  const pauseMark = await store.scanPauses.markOf(scanId);
  const progress = { ...scan.progress, ...pauseProgress({ paused: true, pauseMark }) };
  await store.scans.update(scanId, { progress });
}

/** Until it has a process again. A command line runs its scans itself. */
async function showInterrupted({ store }: PoolContext, scanId: string): Promise<void> {
  const scan = await store.scans.get(scanId);
  if (scan?.status !== 'running' || commandLineOf((await store.scans.executor(scanId)) ?? '') !== null)
    return;
  const progress = { ...scan.progress, ...notSending, rate_limit: 0, interrupted: true };
  await store.scans.update(scanId, { progress });
}
