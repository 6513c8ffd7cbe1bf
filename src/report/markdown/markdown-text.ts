import { visibleLines, visibleText } from '../../domain/text/visible.ts';
import { shortenedText } from '../model/bounded.ts';
import { unknownText } from '../model/report-text.ts';

/** Longest link, characters. */
const maxLinkLength = 500;
/** Lines of a block of code. */
const maxBlockLines = 40;

/** One line: every unprintable character is visible, line breaks too. Only the start of a long text is looked at. */
function visibleLineOf(text: string, length: number): string {
  return shortenedText(visibleText(shortenedText(text.trim(), length)), length).trim();
}

/**
 * Text of a paragraph, a heading or the cell of a table, so that it reads as it is: no markup, HTML, formula, mention,
 * link or column comes of it. Words that trackers and chats bring to life become code.
 *
 * @param length the most characters; a cut text ends with `…`
 */
export function markdownText(text: string, length: number): string {
  const parts = visibleLineOf(text, length).split(/([\s`|<>]+)/);
  const escaped = parts.map((part) => (isLively(part) ? codeSpan(part) : escapedPart(part))).join('');
  const harmless = escaped.replace(/^(?=[-+=])/, '\\').replace(/^(\d{1,9})(?=[.)](?:\s|$))/, '$1\\');
  return isolated(harmless);
}

/** Hebrew, Arabic and other scripts that run from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Text from right to left must not turn what stands around it: marks, as entities, that isolate it. */
function isolated(markdown: string): string {
  return rightToLeft.test(markdown) ? `&#8296;${markdown}&#8297;` : markdown;
}

/** Mentions, mail and web addresses, references to issues, commands of chats. */
function isLively(word: string): boolean {
  return /@|:\/\/|www\.|[#!][\p{L}\p{N}_]/iu.test(word);
}

/** Angle brackets, pipes and backticks become entities, which no table, tracker or chat reads otherwise. */
function escapedPart(text: string): string {
  return text
    .replace(/[\\*[\]#!~${}]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('`', '&#96;')
    .replaceAll('|', '&#124;');
}

/** Text in monospace, the same everywhere, tables included; `–` for none. */
export function markdownCode(text: string | null, length: number): string {
  const shown = visibleLineOf(text ?? '', length);
  if (shown === '') return unknownText;
  // Within code, tables and paragraphs escape a pipe in different ways: it stands outside.
  const parts = shown.split('|').map((part) => (part === '' ? '' : codeSpan(part)));
  return isolated(parts.join('&#124;'));
}

/** Of a text without line breaks and pipes. */
function codeSpan(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1);
  // A blank at both ends is not part of the code, unless there is nothing else (CommonMark 6.1).
  const losesBlanks = text.startsWith(' ') && text.endsWith(' ') && /[^ ]/.test(text);
  const pad = losesBlanks || /^`|`$/.test(text) ? ' ' : '';
  return `${fence}${pad}${text}${pad}${fence}`;
}

/** Backticks in a row. */
function longestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
}

/** Lines of code, with what is wrong with them visible. */
export function markdownBlock(text: string, length: number, language = 'text'): string {
  const lines = shortenedText(visibleLines(shortenedText(text, length)), length).split('\n');
  const more = lines.length - maxBlockLines;
  const shown = [...lines.slice(0, maxBlockLines), ...(more > 0 ? [`… ${more} more lines`] : [])].join('\n');
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}${language}\n${shown}\n${fence}`;
}

/** A link that shows where it leads; null for anything but https. */
export function markdownLink(address: string): string | null {
  const url = address.length > maxLinkLength ? null : URL.parse(address);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  return `<${url.href.replace(/[\s<>`|\\]/g, encodeURIComponent)}>`;
}

/** A column: its head, and whether it holds numbers. */
export type MarkdownColumn = readonly [head: string, align?: 'right'];

/** @param rows escaped cells */
export function markdownTable(
  columns: readonly MarkdownColumn[],
  rows: readonly (readonly string[])[],
): string {
  const heads = columns.map(([head]) => head);
  const rule = columns.map(([, align]) => (align === 'right' ? '--:' : '---'));
  return [rowOf(heads), `|${rule.join('|')}|`, ...rows.map(rowOf)].join('\n');
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
