import { countsAs } from '../../../../src/domain/finding-order.ts';
import { count } from '../../format/numbers.ts';
import { cutEnd, visibleText } from '../../format/target-text.ts';
import { type ChangeLine, groupNames, groups } from './change-lines.ts';

/** Lines of one group; the others are counted. */
const linesPerGroup = 200;
const maxText = 200;

/** The changes as Markdown, for a ticket or a mail. Every text of a target stays text. */
export function changesMarkdown(before: string, after: string, lines: readonly ChangeLine[]): string {
  const parts = [`# Changes`, `Before: ${markdownText(before)}  \nAfter: ${markdownText(after)}`];
  for (const group of groups) {
    const own = lines.filter((line) => line.group === group);
    if (own.length === 0) continue;
    const more = own.length - linesPerGroup;
    const listed = own.slice(0, linesPerGroup).map(lineText);
    if (more > 0) listed.push(`- … ${count(more)} more`);
    parts.push(`## ${groupNames[group]} (${count(own.length)})`, listed.join('\n'));
  }
  if (lines.length === 0) parts.push('No change.');
  return `${parts.join('\n\n')}\n`;
}

function lineText({ finding, text, host, port, note, change, outcome }: ChangeLine): string {
  const what = finding
    ? `**${countsAs(finding)}** ${markdownText(`${finding.id} ${text}`)}`
    : markdownText(text);
  const where = codeText(port === '' ? host : `${host}:${port}`);
  const values =
    change && `${markdownText(change.label)} ${codeText(change.before)} → ${codeText(change.after)}`;
  const why = [values, note && markdownText(note), outcome, finding?.class].filter(Boolean).join(', ');
  return `- ${what}, ${where}${why === '' ? '' : `: ${why}`}`;
}

/** A line that reads as it is: no markup, HTML, mention or link comes of it. */
export function markdownText(text: string): string {
  const parts = oneLine(text).split(/([\s`|<>]+)/);
  return parts
    .map((part) => (/@|:\/\/|www\.|[#!][\p{L}\p{N}_]/iu.test(part) ? codeText(part) : escaped(part)))
    .join('');
}

function escaped(text: string): string {
  return text
    .replace(/[\\*_[\]#!~${}]/g, '\\$&')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('`', '&#96;')
    .replaceAll('|', '&#124;');
}

/** Monospace, whatever backticks are in it. */
function codeText(text: string): string {
  const shown = oneLine(text);
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

function oneLine(text: string): string {
  return cutEnd(visibleText(text.trim().slice(0, 2 * maxText)), maxText);
}
