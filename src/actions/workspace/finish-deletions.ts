import { rm } from 'node:fs/promises';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export interface FinishedDeletions {
  /** Scans that were still listed, and are not any more. */
  scan_ids: string[];
  /** Folders that could not be removed; they are tried again at the next start. */
  failed: number;
}

/**
 * Finishes deletions that a kill cut off between the folder and the list. Only while nobody deletes.
 * A scan whose folder is there again, from a backup, stays listed.
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

/** On a full disk the files make the room that the list needs. */
async function deleteRow(store: Store, scanId: string, path: string): Promise<boolean> {
  try {
    return await store.scans.delete(scanId);
  } catch {
    await rm(path, { recursive: true, force: true });
    return await store.scans.delete(scanId);
  }
}
