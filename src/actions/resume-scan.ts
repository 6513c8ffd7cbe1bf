import type { Scan } from '../domain/scan.ts';
import { type PauseContext, setPaused } from './pause-scan.ts';
import { showScan } from './show-scan.ts';

/**
 * Lets a paused scan go on, in its old place in the line if it waits. A scan that is not paused just goes on.
 * @returns the scan as it is stored then
 * @throws PortolanError `not_found`, or `conflict` for a scan that is over
 */
export async function resumeScan({ store, workers }: PauseContext, scanId: string): Promise<Scan> {
  await setPaused(store, scanId, false);
  workers.resume(scanId);
  return await showScan(store, scanId);
}
