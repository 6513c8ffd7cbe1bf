import { type FindingClass, findingClasses, type Severity, severities } from '../../domain/finding.ts';
import type { ClassCounts } from '../model/report.ts';
import { numberText, severityWord } from '../model/report-text.ts';

/** Names of severities and classes in the style sheet: one letter, since they stand in every row. */
export const severityLetter: Record<Severity, string> = {
  critical: 'c',
  high: 'h',
  medium: 'm',
  low: 'l',
  info: 'i',
};
export const classLetter: Record<FindingClass, string> = { certain: 'C', likely: 'L', possible: 'P' };

export const exploitedHtml = '<b class="x">Exploited</b>';

/** A count in a slot of fixed width: `999`, `1.2k`, `12k`, `1.2M`. */
export function slotText(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${shortNumber(count / 1000)}k`;
  return `${shortNumber(count / 1_000_000)}M`;
}

function shortNumber(count: number): string {
  return count < 9.95 ? String(Number(count.toFixed(1))) : String(Math.round(count));
}

/** Largest count that fits into the usual slot. */
const usualCount = 99;

/** Class of what holds slots: ` big` if one of the counts needs a wider one. */
export function slotSize(counts: Iterable<Record<Severity, number>>): string {
  for (const each of counts) if (severities.some((severity) => each[severity] > usualCount)) return ' big';
  return '';
}

/** Counts by severity, each in the slot of its own: columns of counts line up. */
export function severitySlots(counts: Record<Severity, number>): string {
  const found = severities.filter((severity) => counts[severity] > 0);
  return `<span class="n">${found.map((severity) => countMark(severityLetter[severity], counts[severity])).join('') || '0'}</span>`;
}

/** Counts by class in slots. */
export function classSlots(counts: Record<FindingClass, number>): string {
  const found = findingClasses.filter((name) => counts[name] > 0);
  return `<span class="n">${found.map((name) => countMark(classLetter[name], counts[name])).join('')}</span>`;
}

function countMark(mark: string, count: number): string {
  return `<i class="${mark}">${slotText(count)}</i>`;
}

/** `● 1 certain ◐ 2 likely`, those above zero. */
export function classCountsText(counts: Omit<ClassCounts, 'all'>): string {
  return findingClasses
    .filter((name) => counts[name] > 0)
    .map((name) => `<i class="${classLetter[name]}">${numberText(counts[name])} ${name}</i>`)
    .join(' ');
}

/** The same for severities, without words: they stand beside a chart that names them. */
export function severityCountsText(counts: Record<Severity, number>): string {
  return severities
    .filter((severity) => counts[severity] > 0)
    .map((severity) => `<i class="${severityLetter[severity]}">${numberText(counts[severity])}</i>`)
    .join(' ');
}

/** `▲ High` */
export function severityLabel(severity: Severity): string {
  return `<span class="w ${severityLetter[severity]}">${severityWord(severity)}</span>`;
}
