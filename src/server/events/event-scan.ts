import type { Scan } from '../../domain/scan.ts';
import { withoutHistory } from '../../domain/scan-progress.ts';
import type { ListedScan } from '../../store/scans/listed-scans.ts';

/** Targets, their characters and warnings of a scan in an event; the list and the detail have more. */
const shownTargets = 3;
const shownCharacters = 1000;
const shownWarnings = 20;

/** A scan as events carry it: as in lists, with fewer targets and warnings. */
export function scanOfEvent(scan: ListedScan): ListedScan {
  const { targets, warnings } = scan;
  const shown: string[] = [];
  let characters = 0;
  for (const target of targets.slice(0, shownTargets)) {
    characters += target.length;
    if (characters > shownCharacters) break;
    shown.push(target);
  }
  const total = scan.targets_total ?? targets.length;
  return {
    ...withoutHistory(scan),
    targets: shown,
    ...(shown.length < total && { targets_total: total }),
    warnings: warnings.slice(0, shownWarnings),
  };
}

/** Changes with the state of a scan, not with its progress. */
export function stateSignature(scan: Scan): string {
  const { status, started_at, completed_at, error, name, warnings, progress } = scan;
  const { paused, interrupted, paused_by, paused_at, resumes, finishing } = progress;
  const codes = warnings.map(({ code }) => code);
  return JSON.stringify([
    status,
    started_at,
    completed_at,
    error?.code,
    name,
    codes,
    [paused, interrupted, paused_by, paused_at, resumes, finishing],
  ]);
}
