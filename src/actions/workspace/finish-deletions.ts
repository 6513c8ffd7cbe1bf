import { rm } from 'node:fs/promises';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export interface FinishedDeletions {
  /** Scans that were still listed, and are removed now. */
  scan_ids: string[];
  /** Folders that could not be removed; retried at the next start. */
  failed: number;
}

/**
 * Completes deletions interrupted by a kill between the folder and the list. Only while nobody deletes. A scan whose
 * folder was restored from a backup stays listed.
 */
export async function finishDeletions({
  store,
  workspace,
}: {
  store: Store;
  workspace: Workspace;
}): Promise<FinishedDeletions> {
  const finished: FinishedDeletions = { scan_ids: [], failed: 0 };
  for await (const { scanId, folder, path } of workspace.retiredScans()) {
    try {
      if (scanId !== null && !(await folder?.exists()) && (await deleteRow(store, scanId, path)))
        finished.scan_ids.push(scanId);
      await rm(path, { recursive: true, force: true });
    } catch {
      finished.failed++;
    }
  }
  return finished;
}

/** On a full disk, deleting the files makes room for the store. */
async function deleteRow(store: Store, scanId: string, path: string): Promise<boolean> {
  try {
    return await store.scans.delete(scanId);
  } catch {
    await rm(path, { recursive: true, force: true });
    return await store.scans.delete(scanId);
  }
}
