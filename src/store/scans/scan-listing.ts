import type { Tables } from '../schema/tables.ts';

/** Targets that a list shows of a scan. */
const listedTargets = 100;
/** Characters that they have together: one target may be a long list by itself. */
const maxListedCharacters = 25_600;

/** What lists show of a scan with more targets than that; null when they show all. */
export function listingOf(targets: readonly string[]): Omit<Tables['scan_listings'], 'scan_id'> | null {
  const shown: string[] = [];
  let characters = 0;
  for (const target of targets.slice(0, listedTargets)) {
    characters += target.length;
    if (characters > maxListedCharacters) break;
    shown.push(target);
  }
  if (shown.length === targets.length) return null;
  return { targets: JSON.stringify(shown), targets_total: targets.length };
}
