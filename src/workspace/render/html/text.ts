import { visibleLines, visibleText } from '../../../domain/text/visible.ts';

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** One line of text, safe for an element or a quoted attribute, with every character visible. */
export function htmlText(text: unknown): string {
  return escaped(visibleText(String(text)));
}

/** The same for text of several lines. */
export function htmlLines(text: string): string {
  return escaped(visibleLines(text));
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] as string);
}

/** The start of a long text, and the number of missing characters. */
export function shortenedHtml(text: string, length: number): string {
  if (text.length <= length) return text;
  const more = text.length - length;
  return `${text.slice(0, length).toWellFormed()}… (${more} more characters)`;
}
