import { isWhole, listedTargets } from '../../domain/listed-scan.ts';
import type { Tables } from '../schema/tables.ts';

/** Columns of a scan with more targets than lists show; null if they show all. */
export function listingOf(targets: readonly string[]): Omit<Tables['scan_listings'], 'scan_id'> | null {
  const shown = listedTargets(targets);
  if (isWhole(shown, targets)) return null;
  return { targets: JSON.stringify(shown), targets_total: targets.length };
}
