import type { Tables } from '../schema/tables.ts';

/** Maximum targets of a listed scan. */
const listedTargets = 100;
/** Their total length, characters: a single target may be a long list. */
const maxListedCharacters = 25_600;

/** Columns of a listed scan with more targets than that; null if the list shows all. */
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
