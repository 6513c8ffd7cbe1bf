import type { ListedScan } from '../../domain/listed-scan.ts';

/** Targets of a scan in an event. */
const shownTargets = 3;

/** A scan as events carry it: as in lists, with fewer targets. */
export function scanOfEvent(scan: ListedScan): ListedScan {
  const targets = scan.targets.slice(0, shownTargets);
  const total = scan.targets_total ?? scan.targets.length;
  return { ...scan, targets, ...(targets.length < total && { targets_total: total }) };
}

/** Changes with the state of a scan, not with its progress. */
export function stateSignature(scan: ListedScan): string {
  const { status, started_at, completed_at, error, name, warnings_total, progress } = scan;
  const { paused, interrupted, paused_by, paused_at, resumes, finishing } = progress;
  return JSON.stringify([
    status,
    started_at,
    completed_at,
    error?.code,
    name,
    warnings_total,
    [paused, interrupted, paused_by, paused_at, resumes, finishing],
  ]);
}
