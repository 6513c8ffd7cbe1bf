import { rm } from 'node:fs/promises';
import { PortolanError } from '../../domain/errors.ts';
import { isFinal } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import type { StoredScanLocation } from '../../workspace/result-store/result-store.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { type CancelContext, rejectForeign } from './cancel-scan.ts';
import { showScan } from './show-scan.ts';

/** Removes scans from the result store. */
export interface ResultRemover {
  /** @throws PortolanError `unavailable` */
  remove(place: StoredScanLocation): Promise<void>;
  /**
   * Removes what other servers have stored between `remove` and the deletion of its row. What they store later they remove
   * themselves.
   */
  removeLate(place: StoredScanLocation): Promise<void>;
}

export interface DeleteContext extends CancelContext {
  /** Null without a result store. */
  results: ResultRemover | null;
}

/**
 * Stops a scan if necessary and deletes it with all its files.
 * @throws PortolanError `not_found`, also for the second of two deletes; `unavailable` while the result store is down
 */
export async function deleteScan(
  { store, workspace, queue, workers, results }: DeleteContext,
  scanId: string,
): Promise<void> {
  let scan = await showScan(store, scanId);
  if (!isFinal(scan.status)) {
    await rejectForeign(store, scanId);
    await queue.cancel(scanId);
    await workers.stop(scanId);
    scan = await showScan(store, scanId);
  }
  const place = { scanId, tenant: await store.scans.tenantOf(scanId) };
  // Only finished scans are in the result store, and one that was just stopped may be.
  const mayBeStored = isFinal(scan.status);
  if (mayBeStored) await results?.remove(place);
  const folder = workspace.scan(scanId);
  // Hide it first: a crash here leaves a scan that is listed and can be deleted again.
  const retired = await folder.retire();
  const deleted = await deleteRow(store, folder, retired, scanId);
  if (mayBeStored) await results?.removeLate(place);
  if (retired !== null) await folder.removeRetired(retired);
  await rm(workspace.indexFile(scanId), { force: true });
  if (!deleted) throw new PortolanError('not_found', 'There is no such scan.');
}

/** On a full disk the store cannot even delete a row; deleting the files first makes room for that. */
async function deleteRow(
  store: Store,
  folder: ScanFolder,
  retired: string | null,
  scanId: string,
): Promise<boolean> {
  try {
    return await store.scans.delete(scanId);
  } catch (error) {
    if (!(error instanceof PortolanError && error.code === 'insufficient_storage')) throw error;
    if (retired !== null) await folder.removeRetired(retired);
    return await store.scans.delete(scanId);
  }
}
