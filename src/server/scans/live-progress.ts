import type { ListedScan } from '../../domain/listed-scan.ts';
import type { Scan } from '../../domain/scan.ts';
import { withoutHistory } from '../../domain/scan-progress.ts';
import type { LiveScan } from '../../scan-run/messages.ts';
import type { PoolContext } from './pool-context.ts';
import { pauseProgress, type ScanSlot, type ScanSlots, slotFields } from './scan-slot.ts';

/** A running scan with the newest report of its process; others unchanged. */
export function withLiveProgress(slots: ScanSlots, scan: Scan): Scan {
  const slot = slots.get(scan.scan_id);
  if (!slot || scan.status !== 'running') return scan;
  const live = slot.process?.live ? { ...scan, ...slot.process.live } : scan;
  return { ...live, progress: { ...live.progress, ...pauseProgress(slot) } };
}

/** The same of a listed scan. */
export function withListedProgress(slots: ScanSlots, scan: ListedScan): ListedScan {
  const slot = slots.get(scan.scan_id);
  if (!slot || scan.status !== 'running') return scan;
  const live = slot.process?.live;
  const shown = live ? { ...scan, ...listedReport(live) } : scan;
  return { ...shown, progress: { ...shown.progress, ...pauseProgress(slot) } };
}

function listedReport({ results, severity_counts, warnings, progress }: LiveScan): Partial<ListedScan> {
  return { results, severity_counts, ...withoutHistory({ progress }), warnings_total: warnings.length };
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
