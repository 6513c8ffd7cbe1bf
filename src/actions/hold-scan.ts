import type { Scan, ScanWarning } from '../domain/scan.ts';
import type { Closure } from '../domain/scan-calendar.ts';

/** Code of the warning that a scan has while no scan may send; it goes with the reason. */
export const outsideWindow = 'outside_window';

/** What a scan that is held says of itself. */
export function heldScan<S extends Scan>(scan: S, closure: Closure): S {
  return {
    ...scan,
    progress: { ...scan.progress, phase: outsideWindow, paused: true, rate: 0, eta_seconds: null },
    warnings: [...scan.warnings, holdWarning(closure)],
  };
}

export function holdWarning(closure: Closure): ScanWarning {
  return { code: outsideWindow, message: `The scan waits: ${closureText(closure)}.` };
}

/** The reason, and when scans go on. */
export function closureText({ reason, until }: Closure): string {
  return until === null ? reason : `${reason}; scans go on at ${new Date(until).toISOString()}`;
}
