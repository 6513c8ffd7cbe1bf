import { numberText } from '../model/report-text.ts';
import { markdownCode } from './markdown-text.ts';

/** Longest text of a target, plugin or feed by what it says, characters: trackers take some 65,000 in all. */
export const ticketText = { name: 80, line: 160, paragraph: 1200, evidence: 600 };

/** Most rows of a list or table of a ticket. */
export const ticketRows = { actions: 100, places: 100, kinds: 25, changes: 25, notes: 10, evidence: 3 };

/** How much a table leaves out, and where it stands; nothing if it is whole. */
export function leftText(left: number, what: string, scanId: string): string[] {
  if (left <= 0) return [];
  const command = markdownCode(`portolan workspace export ${scanId} --format json`, 200);
  return [`And ${numberText(left)} more ${what}${left === 1 ? '' : 's'}: ${command}`];
}
