import type { ScanProgress, ScanWarning } from '../../domain/scan.ts';
import { notSending } from '../../domain/scan-progress.ts';
import type { BlackoutWindow } from '../../domain/time/scan-calendar.ts';

/** Code of the warning while no scan may send; removed with its reason. */
const outsideWindow = 'outside_window';
/** Codes of the warnings while a scan waits for a missing server or worker. */
export const ownerAway = 'owner_away';
export const poolWithoutWorkers = 'pool_without_workers';
/** Codes of temporary warnings, removed with their reason. */
export const passingWarnings: ReadonlySet<string> = new Set([outsideWindow, ownerAway, poolWithoutWorkers]);

/** Progress of a scan outside the scan window. */
export function progressOutsideWindow(progress: ScanProgress): ScanProgress {
  return { ...progress, ...notSending, phase: outsideWindow, paused: true };
}

export function windowWarning(closure: BlackoutWindow): ScanWarning {
  return { code: outsideWindow, message: `The scan is waiting: ${windowText(closure)}.` };
}

/** The reason, and when scans resume. */
export function windowText({ reason, until }: BlackoutWindow): string {
  return until === null ? reason : `${reason}; scans resume at ${new Date(until).toISOString()}`;
}
