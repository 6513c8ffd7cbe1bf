import { visibleLines, visibleText } from '../../domain/text/visible.ts';
import { numberText } from '../model/report-text.ts';

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

/** Maximum length of a name, title or label, characters. */
const cellLimit = 300;

/** A name, title or label of limited length. */
export function cellText(text: unknown): string {
  const whole = String(text);
  return htmlText(whole.length <= cellLimit ? whole : `${whole.slice(0, cellLimit).toWellFormed()}…`);
}

/** Maximum length of paragraphs: remediation, notes, messages, characters. */
const paragraphLimit = 4000;

/** A paragraph of limited length, on one line. */
export function paragraphText(text: string): string {
  return htmlText(shortenedText(text, paragraphLimit));
}

/** The start of a long text, and the number of missing characters. */
function shortenedText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()} … ${numberText(text.length - limit)} more characters`;
}

/** Text in monospace. */
export function code(text: unknown): string {
  return `<code>${cellText(text)}</code>`;
}

/** Reference as a link; only https is linked. */
export function referenceLink(reference: string): string {
  const url = URL.parse(reference);
  const shown = reference.replace(/^https:\/\//i, '');
  if (url === null || url.protocol !== 'https:') return cellText(reference);
  return `<a href="${htmlText(url.href)}" rel="noopener noreferrer">${cellText(shown)}</a>`;
}
