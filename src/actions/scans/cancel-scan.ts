import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import type { JobQueue } from '../../queue/queue.ts';
import {
  canceledFailure,
  type EndContext,
  interruptScan,
  liveCommandLine,
} from '../../scan-run/finalize/interrupt-scan.ts';
import type { Store } from '../../store/open.ts';
import { noSuchScan, showScan } from './show-scan.ts';

/** The processes that run scans. */
export interface ScanStopper {
  /** Stops a running scan and keeps its results; resolves when it is stored as ended, or at once if nobody runs it. */
  stop(scanId: string): Promise<void>;
}

export interface CancelContext extends EndContext {
  queue: JobQueue;
  workers: ScanStopper;
}

/**
 * Ends a waiting or running scan as `failed` with code `canceled`; its results stay.
 * @param by ID of the token of who cancels it; null = unknown
 * @returns the stored scan
 * @throws PortolanError `not_found`, or `conflict` for a scan that ended otherwise
 */
export async function cancelScan(
  context: CancelContext,
  scanId: string,
  by: string | null = null,
): Promise<Scan> {
  const scan = await showScan(context.store, scanId);
  if (isFinal(scan.status)) return onlyCanceled(scan);
  await rejectForeign(context.store, scanId);
  await context.queue.cancel(scanId);
  await context.workers.stop(scanId);
  // Ends a scan that nobody ran; one that its worker ended stays unchanged.
  const ended = await interruptScan(context, scanId, canceledFailure);
  if (ended === null) throw noSuchScan();
  return await named(context.store, onlyCanceled(ended), by);
}

/** Records who canceled a scan that its process has ended. */
async function named(store: Store, scan: Scan, by: string | null): Promise<Scan> {
  if (by === null || scan.error === null || scan.error.by !== undefined) return scan;
  const error = { ...scan.error, by };
  await store.scans.update(scan.scan_id, { error });
  return { ...scan, error };
}

/** A scan run by a command line cannot be controlled from here. @throws PortolanError `conflict` */
export async function rejectForeign(store: Store, scanId: string): Promise<void> {
  const pid = liveCommandLine(await store.scans.executor(scanId), store.executor);
  if (pid === null) return;
  throw new PortolanError('conflict', `A command line (process ${pid}) runs this scan; stop it there.`, {
    pid,
  });
}

function onlyCanceled(scan: Scan): Scan {
  if (scan.error?.code === 'canceled') return scan;
  throw new PortolanError('conflict', `The scan has already ended: ${scan.status}.`, { status: scan.status });
}
