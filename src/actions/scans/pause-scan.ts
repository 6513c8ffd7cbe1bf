import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { notSending } from '../../domain/scan-progress.ts';
import type { BlackoutWindow } from '../../domain/time/scan-calendar.ts';
import type { Store } from '../../store/open.ts';
import { rejectForeign } from './cancel-scan.ts';
import { showScan } from './show-scan.ts';

/** The processes that run scans. */
export interface PauseSwitch {
  /** Why no scan may send now; null while they may. */
  readonly closure: BlackoutWindow | null;
  /** Resolves when the scan has stopped sending; at once if nobody runs it. */
  pause(scanId: string): Promise<void>;
  resume(scanId: string): Promise<void>;
}

export interface PauseContext {
  store: Store;
  workers: PauseSwitch;
}

/**
 * Pauses a scan: a waiting one does not start, a running one sends nothing until it is resumed. Survives a restart of
 * the server. Idempotent.
 * @param by ID of the token of who pauses it; null = unknown
 * @returns the stored scan
 * @throws PortolanError `not_found`, or `conflict` for a finished scan
 */
export async function pauseScan(
  { store, workers }: PauseContext,
  scanId: string,
  by: string | null = null,
): Promise<Scan> {
  await setPaused(store, scanId, true, by);
  await workers.pause(scanId);
  // It may have finished before the pause took effect.
  return unlessOver(await showScan(store, scanId));
}

/** Stores the command where every server reads it, before anybody acts on it. */
export async function setPaused(
  store: Store,
  scanId: string,
  paused: boolean,
  by: string | null = null,
): Promise<void> {
  unlessOver(await showScan(store, scanId));
  await rejectForeign(store, scanId);
  await store.transaction(async (inside) => {
    const scan = unlessOver(await showScan(inside, scanId));
    const { scanPauses } = inside;
    const known = paused
      ? await scanPauses.pause(scanId, Date.now(), by)
      : await scanPauses.resume(scanId, Date.now());
    if (!known) throw new PortolanError('conflict', 'The scan is just finishing.');
    const mark = paused ? await scanPauses.markOf(scanId) : null;
    const who = { paused_by: mark?.by ?? null, paused_at: mark?.at ?? null };
    const progress = { ...scan.progress, ...notSending, paused, ...who };
    await inside.scans.update(scanId, { progress });
  });
}

function unlessOver(scan: Scan): Scan {
  if (!isFinal(scan.status)) return scan;
  throw new PortolanError('conflict', `The scan has already ended: ${scan.status}.`, { status: scan.status });
}
