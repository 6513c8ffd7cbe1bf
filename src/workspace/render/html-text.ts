import { visibleLines, visibleText } from '../../domain/visible.ts';

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** One line of text for an element or a quoted attribute; nothing in it is markup, nothing in it hides. */
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

/** The beginning of a long text, and how much of it is missing. */
export function shortenedHtml(text: string, length: number): string {
  if (text.length <= length) return text;
  const more = text.length - length;
  return `${text.slice(0, length).toWellFormed()}… (${more} more characters)`;
}
