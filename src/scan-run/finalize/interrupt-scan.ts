import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { commandLineOf, serverOf } from '../../domain/executor.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { afterEnd } from '../../domain/scan-progress.ts';
import type { Store } from '../../store/open.ts';
import type { ScanFiles } from '../../store/scans/scans.ts';
import { isAlive } from '../../workspace/process-identity.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { provisionalSummary } from '../results/provisional-summary.ts';
import { countRows } from '../results/stream-results.ts';
import { checkpointSeconds, endTime } from '../run-time.ts';
import { storedStatus } from '../status.ts';
import type { ScanFailure } from './failure.ts';
import { finalizeRecord } from './finalize-record.ts';

/** Changes the store where a scan ends. @param files of its folder @returns false if it has ended or was deleted meanwhile */
export type WriteEnd = (inside: Store, files: ScanFiles) => Promise<boolean>;

/** Runs a change of the store where a scan ends, and stores its results with it where servers share them. */
export type EndWriter = (scanId: string, write: WriteEnd) => Promise<void>;

export interface EndContext {
  store: Store;
  workspace: Workspace;
  /** Retention settings; without them records stay uncompressed and without artifacts. */
  config?: Pick<Config, 'workspace'>;
  /** Without it the results stay in the workspace. */
  endWith?: EndWriter;
  /** Called once with a scan that ended here. */
  onEnd?: (scan: Scan) => void;
}

export const canceledFailure: ScanFailure = { code: 'canceled', message: 'The scan was canceled.' };

/**
 * Ends a scan without a process: finishes its record, so that its results stay readable, and stores it as failed.
 * Does nothing if the scan has ended already.
 * @returns the scan as it is now; null if there is none
 */
export async function interruptScan(
  context: EndContext,
  scanId: string,
  error: ScanFailure,
): Promise<Scan | null> {
  const { path } = context.workspace.scan(scanId);
  const underWay = ends.get(path) ?? endScan(context, scanId, error).finally(() => ends.delete(path));
  ends.set(path, underWay);
  return await underWay;
}

/** Ends in progress, by the folder of the scan: two at once would corrupt the record. */
const ends = new Map<string, Promise<Scan | null>>();

async function endScan(context: EndContext, scanId: string, error: ScanFailure): Promise<Scan | null> {
  const { store } = context;
  const scan = await store.scans.get(scanId);
  if (scan === null || isFinal(scan.status)) return scan;
  const failed: Scan = { ...scan, status: 'failed', error, completed_at: endTime(scan.started_at) };
  const { scan: ended, size } = await closeRecord(context, { ...failed, progress: progressAtEnd(failed) });
  const { status, completed_at, progress, results, severity_counts, warnings } = ended;
  // No more than that: with its targets, thousands perhaps, goes what the scan is found by.
  const end = { status, error, completed_at, progress, results, severity_counts, warnings };
  const write = (inside: Store, files: ScanFiles) => inside.scans.update(scanId, end, files);
  if (size === null) await store.scans.update(scanId, end);
  else await writeEnd(context, scanId, { size_bytes: size }, write);
  const stored = await store.scans.get(scanId);
  if (stored) context.onEnd?.(stored);
  return stored;
}

/** @param files of the folder, where the context does not measure them itself */
export async function writeEnd(
  { store, endWith }: EndContext,
  scanId: string,
  files: ScanFiles,
  write: WriteEnd,
): Promise<void> {
  if (endWith) await endWith(scanId, write);
  else await store.transaction((inside) => write(inside, files));
}

/** A scan with the counters of its record, and the size of its folder in bytes. */
interface Closed {
  scan: Scan;
  size: number | null;
}

/** @returns the scan unchanged if it has no record, or was deleted meanwhile */
async function closeRecord(context: EndContext, scan: Scan): Promise<Closed> {
  const folder = context.workspace.scan(scan.scan_id);
  if (!(await folder.exists())) return { scan, size: null };
  try {
    return await finishRecord(context, scan, folder);
  } catch (error) {
    if (!(await folder.exists())) return { scan, size: null };
    if (!isFull(error)) throw error;
    // The record is finished when there is space again, see tidyWorkspace.
    const { results, severity_counts } = await countRows(recordIn(folder).rows());
    return { scan: { ...scan, results, severity_counts }, size: await folder.sizeBytes() };
  }
}

async function finishRecord({ config }: EndContext, scan: Scan, folder: ScanFolder): Promise<Closed> {
  const record = await openRecord(folder);
  try {
    const { unidentified, ...counts } = await countRows(recordIn(folder).rows());
    const counted = { ...scan, ...counts };
    if (!record.finished) {
      // Reports of a process that died before it finished the record state an end that did not happen.
      await folder.removeReports();
      const seconds = (await checkpointSeconds(recordIn(folder))) ?? undefined;
      await record.finish({ ...provisionalSummary(counted, seconds), unidentified });
    }
    const warnings = config ? await finalizeRecord(folder, config.workspace.scans) : [];
    counted.warnings = [...scan.warnings, ...warnings];
    // The store is authoritative; a full disk must not keep the scan from ending.
    await folder
      .writeStatus(storedStatus(counted, (await recordIn(folder).summary())?.duration_seconds))
      .catch(() => undefined);
    return { scan: counted, size: await folder.sizeBytes() };
  } finally {
    await record.close();
  }
}

function isFull(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'insufficient_storage';
}

function progressAtEnd({ progress }: Scan): Scan['progress'] {
  return { ...progress, ...afterEnd, eta_seconds: null };
}

/**
 * Process ID of the command line that runs a scan; null if it is gone or the server runs the scan. One that works in
 * the workspace of another server counts as alive.
 * @param own executor of the store's own scans, see `Store.executor`
 */
export function liveCommandLine(executor: string | null, own: string): number | null {
  const pid = commandLineOf(executor ?? '');
  return pid !== null && !isDeadCommandLine(executor, own) ? pid : null;
}

/** Whether a command line in the same workspace ran the scan and is gone. */
export function isDeadCommandLine(executor: string | null, own: string): boolean {
  const pid = commandLineOf(executor ?? '');
  return pid !== null && serverOf(executor ?? '') === serverOf(own) && !isAlive(pid);
}
