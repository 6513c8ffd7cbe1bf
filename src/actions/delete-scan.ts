import { PortolanError } from '../domain/errors.ts';
import { type CancelContext, refuseForeign } from './cancel-scan.ts';
import { showScan } from './show-scan.ts';

/**
 * Stops a scan if need be and deletes it with all its files.
 * @throws PortolanError `not_found`, also for the second of two deletes
 */
export async function deleteScan(
  { store, workspace, queue, workers }: CancelContext,
  scanId: string,
): Promise<void> {
  const scan = await showScan(store, scanId);
  if (scan.status === 'pending' || scan.status === 'running') {
    await refuseForeign(store, scanId);
    await queue.cancel(scanId);
    await workers.stop(scanId);
  }
  const deleted = await store.transaction((inside) => inside.scans.delete(scanId));
  if (!deleted) throw new PortolanError('not_found', 'There is no such scan.');
  await workspace.scan(scanId).remove();
}
