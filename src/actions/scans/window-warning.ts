import type { Scan, ScanWarning } from '../../domain/scan.ts';
import type { BlackoutWindow } from '../../domain/scan-calendar.ts';

/** Code of the warning that a scan has while no scan may send; it goes with the reason. */
const outsideWindow = 'outside_window';
/** Codes of the warnings that a scan has as long as it waits for a server or a worker that is not present. */
export const ownerAway = 'owner_away';
export const poolWithoutWorkers = 'pool_without_workers';
/** Codes of warnings that go again, with what held the scan up. */
export const passingWarnings: ReadonlySet<string> = new Set([outsideWindow, ownerAway, poolWithoutWorkers]);

/** What a scan that is held says of itself. */
export function scanOutsideWindow<S extends Scan>(scan: S, closure: BlackoutWindow): S {
  return {
    ...scan,
    progress: { ...scan.progress, phase: outsideWindow, paused: true, rate: 0, eta_seconds: null },
    warnings: [...scan.warnings, windowWarning(closure)],
  };
}

export function windowWarning(closure: BlackoutWindow): ScanWarning {
  return { code: outsideWindow, message: `The scan is waiting: ${windowText(closure)}.` };
}

/** The reason, and when scans go on. */
export function windowText({ reason, until }: BlackoutWindow): string {
  return until === null ? reason : `${reason}; scans resume at ${new Date(until).toISOString()}`;
}
