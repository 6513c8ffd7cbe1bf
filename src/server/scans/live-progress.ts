import type { Scan } from '../../domain/scan.ts';
import type { PoolContext } from './pool-context.ts';
import { pauseProgress, type ScanSlot, type ScanSlots, slotFields } from './scan-slot.ts';

/** A running scan with the newest report of its process; others unchanged. */
export function withLiveProgress<S extends Scan>(slots: ScanSlots, scan: S): S {
  const slot = slots.get(scan.scan_id);
  if (!slot || scan.status !== 'running') return scan;
  const live = slot.process?.live ? { ...scan, ...slot.process.live } : scan;
  return { ...live, progress: { ...live.progress, ...pauseProgress(slot) } };
}

/** Stores the newest report of a process, unless it is already stored. */
export async function storeProgress(
  { store, log }: Pick<PoolContext, 'store' | 'log'>,
  slot: ScanSlot,
): Promise<void> {
  const live = slot.process?.live;
  if (!live || live === slot.storedReport || slot.process?.outcome || !slot.process?.startedAt) return;
  slot.storedReport = live;
  const progress = { ...live.progress, ...pauseProgress(slot) };
  await store.scans
    .update(slot.scanId, { ...live, progress, status: 'running' })
    .catch((err: unknown) => log.warn({ err, ...slotFields(slot) }, 'cannot store the progress of a scan'));
}
