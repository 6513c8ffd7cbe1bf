import type { ReactNode } from 'react';
import { count } from '../../format/numbers.ts';
import { type Severity, severities, severityWord } from '../../format/words.ts';
import { SeverityMark } from './severity-mark.tsx';

export interface SeverityCountsProps {
  /** Numbers of findings; those that are absent or 0 are not drawn. */
  counts: Partial<Record<Severity, number>>;
  /** Every severity in a slot of its own, so that the counts of several rows line up. Pixels; `true` is 36. */
  slots?: boolean | 36 | 42;
  /** Drawn are as many as one line has room for. */
  oneLine?: boolean;
}

/** Counts per severity, the worst first. */
export function SeverityCounts({ counts, slots, oneLine }: SeverityCountsProps): ReactNode {
  const present = severities.filter((severity) => (counts[severity] ?? 0) > 0);
  const spoken = present
    .map((severity) => `${count(counts[severity] ?? 0)} ${severityWord(severity)}`)
    .join(', ');
  const width = slots === 42 ? 'grid-cols-[repeat(5,42px)]' : 'grid-cols-[repeat(5,36px)]';
  return (
    <span
      className={
        slots
          ? `inline-grid items-center print:inline-flex print:flex-wrap print:gap-x-2.5 ${width}`
          : `inline-flex items-center gap-2.5 ${oneLine ? 'h-4 flex-wrap justify-end overflow-hidden' : ''}`
      }
    >
      <span className="sr-only">{spoken === '' ? 'no findings' : spoken}</span>
      {(slots ? severities : present).map((severity) => (
        <span key={severity} aria-hidden title={`${count(counts[severity] ?? 0)} ${severityWord(severity)}`}>
          {present.includes(severity) ? (
            <SeverityMark severity={severity} count={counts[severity] ?? 0} short />
          ) : null}
        </span>
      ))}
      {slots || present.length > 0 ? null : (
        <span aria-hidden className="text-text-3">
          0
        </span>
      )}
    </span>
  );
}
