import type { Report } from '../model/report.ts';
import { numberText } from '../model/report-text.ts';
import type { TemplateBlock } from '../template/report-template.ts';
import { markdownCode, markdownText } from './markdown-text.ts';

/** Longest text of a target, plugin or feed by what it says, characters: trackers take some 65,000 in all. */
export const ticketText = { name: 80, line: 160, paragraph: 1200, evidence: 600 };

/** Most rows of a list or table of a ticket. */
export const ticketRows = { actions: 100, places: 100, kinds: 25, changes: 25, notes: 10, evidence: 3 };

/** Most characters of a list or table of a ticket, with all escapes: hostile text needs several for one. */
const ticketCharacters = { actions: 24_000, places: 24_000, kinds: 12_000, changes: 12_000, notes: 5000 };

/** The first items as rows, as many as a ticket has room for; one at least. */
export function firstRows<T, R extends string | readonly string[]>(
  list: keyof typeof ticketCharacters,
  items: readonly T[],
  write: (item: T) => R,
): R[] {
  const rows: R[] = [];
  let left = ticketCharacters[list];
  for (const item of items.slice(0, ticketRows[list])) {
    const row = write(item);
    left -= typeof row === 'string' ? row.length : row.join('').length;
    if (left < 0 && rows.length > 0) break;
    rows.push(row);
  }
  return rows;
}

/** How much a table leaves out, and where it stands; nothing if it is whole. */
export function leftText(left: number, what: string, scanId: string): string[] {
  if (left <= 0) return [];
  const command = markdownCode(`portolan workspace export ${scanId} --format json`, 200);
  return [`And ${numberText(left)} more ${what}${left === 1 ? '' : 's'}: ${command}`];
}

/** Longest text block of a template, characters: it is the operator's own. */
const maxBlockLength = 10_000;

/** The paragraphs that a template adds at the end of a section; an empty line separates them. */
export function* templateParagraphs({ options }: Report, block: TemplateBlock): Generator<string> {
  const paragraphs = options.template?.blocks[block]?.slice(0, maxBlockLength).split(/\n\s*\n/) ?? [];
  for (const paragraph of paragraphs) {
    const line = paragraph.replace(/\s+/g, ' ').trim();
    if (line !== '') yield markdownText(line, maxBlockLength);
  }
}

/** `Confidential`, of a template. */
export function* templateMark({ options }: Report): Generator<string> {
  const mark = options.template?.mark ?? '';
  if (mark !== '') yield `**${markdownText(mark, ticketText.name)}**`;
}
