import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import type { BlackoutWindow } from '../../domain/time/scan-calendar.ts';
import { type PauseContext, setPaused } from './pause-scan.ts';
import { showScan } from './show-scan.ts';
import { windowText } from './window-warning.ts';

/**
 * Resumes a paused scan, at its previous position in the queue if it waits. No effect on a scan that is not paused.
 * @returns the stored scan
 * @throws PortolanError `not_found`, or `conflict` for a finished scan and while no scan may send
 */
export async function resumeScan({ store, workers }: PauseContext, scanId: string): Promise<Scan> {
  const { closure } = workers;
  if (closure && !isFinal((await showScan(store, scanId)).status)) throw rejection(closure);
  await setPaused(store, scanId, false);
  await workers.resume(scanId);
  return await showScan(store, scanId);
}

function rejection(closure: BlackoutWindow): PortolanError {
  const { reason, until } = closure;
  return new PortolanError('conflict', `The scan cannot resume now: ${windowText(closure)}.`, {
    reason,
    until: until === null ? null : new Date(until).toISOString(),
  });
}
