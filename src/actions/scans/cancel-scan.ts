import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Scan } from '../../domain/scan.ts';
import type { JobQueue } from '../../queue/queue.ts';
import { interruptScan, liveCommandLine } from '../../scan-run/interrupt-scan.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { showScan } from './show-scan.ts';

/** The processes that run scans. */
export interface ScanStopper {
  /** Ends a running scan and keeps what it found; resolves when it is stored as ended, or at once if nobody runs it. */
  stop(scanId: string): Promise<void>;
}

export interface CancelContext {
  store: Store;
  workspace: Workspace;
  queue: JobQueue;
  workers: ScanStopper;
  /** How records are kept. */
  config?: Pick<Config, 'workspace'>;
  /** Told of a scan that nobody ran and that ended here. */
  onEnd?: (scan: Scan) => void;
}

/**
 * Ends a waiting or running scan as `failed` with code `canceled`; its results stay.
 * @returns the scan as it is stored then
 * @throws PortolanError `not_found`, or `conflict` for a scan that ended in another way
 */
export async function cancelScan(context: CancelContext, scanId: string): Promise<Scan> {
  const scan = await showScan(context.store, scanId);
  if (isOver(scan)) return alreadyOver(scan);
  await rejectForeign(context.store, scanId);
  await context.queue.cancel(scanId);
  await context.workers.stop(scanId);
  const stopped = await showScan(context.store, scanId);
  return alreadyOver(isOver(stopped) ? stopped : await endWaiting(context, scanId));
}

/** @throws PortolanError `not_found` when it was deleted meanwhile */
async function endWaiting(context: CancelContext, scanId: string): Promise<Scan> {
  const error = { code: 'canceled' as const, message: 'The scan was canceled.' };
  const ended = await interruptScan(context, scanId, error);
  if (ended === null) return await showScan(context.store, scanId);
  context.onEnd?.(ended);
  return ended;
}

/** A scan that a command line runs by itself hears nothing from here. @throws PortolanError `conflict` */
export async function rejectForeign(store: Store, scanId: string): Promise<void> {
  const pid = liveCommandLine(await store.scans.executor(scanId), store.executor);
  if (pid === null) return;
  throw new PortolanError('conflict', `A command line (process ${pid}) runs this scan; stop it there.`, {
    pid,
  });
}

function isOver(scan: Scan): boolean {
  return scan.status === 'completed' || scan.status === 'failed';
}

function alreadyOver(scan: Scan): Scan {
  if (scan.error?.code === 'canceled') return scan;
  throw new PortolanError('conflict', `The scan is over: ${scan.status}.`, { status: scan.status });
}
