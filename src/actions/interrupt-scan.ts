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
  const ended = await closeRecord(context, {
    ...scan,
    status: 'failed',
    error,
    completed_at: new Date().toISOString(),
  });
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
    const counted = { ...scan, ...(await countRows(mergedRows(folder))), progress: ended(scan) };
    if (!record.finished) await record.finish(provisionalSummary(counted));
    await store.scans.setSize(scan.scan_id, await folder.sizeBytes());
    return counted;
  } finally {
    await record.close();
  }
}

function ended(scan: Scan): Scan['progress'] {
  return { ...scan.progress, phase: 'done', rate: 0, eta_seconds: null, paused: false };
}

/** Process number of the command line that runs a scan by itself; null when it is gone or the server runs the scan. */
export function liveCommandLine(executor: string | null): number | null {
  const pid = commandLineOf(executor);
  return pid !== null && isAlive(pid) ? pid : null;
}

/** Whether a command line ran the scan and is gone. */
export function isDeadCommandLine(executor: string | null): boolean {
  const pid = commandLineOf(executor);
  return pid !== null && !isAlive(pid);
}

function commandLineOf(executor: string | null): number | null {
  const text = /^cli:(\d+)$/.exec(executor ?? '')?.[1];
  return text === undefined ? null : Number(text);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
