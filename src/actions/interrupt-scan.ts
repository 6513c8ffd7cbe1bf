import type { FailureCode, Scan } from '../domain/scan.ts';
import type { Store } from '../store/open.ts';
import { mergedRows } from '../workspace/record-reader.ts';
import { openRecord } from '../workspace/record-writer.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { countRows, provisionalSummary } from './stream-results.ts';

/**
 * Ends a scan that no process runs any more: finishes its record, so that what was found stays readable, and stores
 * it as failed. Does nothing to a scan that is over already.
 * @returns the scan as it is now; null when there is none
 */
export async function interruptScan(
  context: { store: Store; workspace: Workspace },
  scanId: string,
  error: { code: FailureCode; message: string },
): Promise<Scan | null> {
  const { store } = context;
  const scan = await store.scans.get(scanId);
  if (scan === null || scan.status === 'completed' || scan.status === 'failed') return scan;
  const ended = await closeRecord(context, { ...scan, status: 'failed', error, completed_at: new Date().toISOString() });
  const { scan_id: _id, ...patch } = ended;
  await store.scans.update(scanId, patch);
  return await store.scans.get(scanId);
}

async function closeRecord(
  { store, workspace }: { store: Store; workspace: Workspace },
  scan: Scan,
): Promise<Scan> {
  const folder = workspace.scan(scan.scan_id);
  if (!(await folder.exists())) return { ...scan, progress: ended(scan) };
  const record = await openRecord(folder);
  try {
    if (record.finished) return { ...scan, progress: ended(scan) };
    const counted = { ...scan, ...(await countRows(mergedRows(folder))), progress: ended(scan) };
    await record.finish(provisionalSummary(counted));
    await store.scans.setSize(scan.scan_id, await folder.sizeBytes());
    return counted;
  } finally {
    await record.close();
  }
}

function ended(scan: Scan): Scan['progress'] {
  return { ...scan.progress, phase: 'done', rate: 0, eta_seconds: null, paused: false };
}
