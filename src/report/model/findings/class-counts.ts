import { type FindingClass, findingClasses } from '../../../domain/finding.ts';
import type { ClassCounts } from '../report.ts';
import { numberText } from '../report-text.ts';

export function noClasses(): ClassCounts {
  return { all: 0, certain: 0, likely: 0, possible: 0 };
}

export function countClass(counts: ClassCounts, name: FindingClass): void {
  counts.all += 1;
  counts[name] += 1;
}

export function addClasses(sum: ClassCounts, counts: ClassCounts): void {
  sum.all += counts.all;
  for (const name of findingClasses) sum[name] += counts[name];
}

/** `1 certain, 2 likely, 7 possible`, only those that occur. */
export function classesText(counts: ClassCounts): string {
  return findingClasses
    .filter((name) => counts[name] > 0)
    .map((name) => `${numberText(counts[name])} ${name}`)
    .join(', ');
}
