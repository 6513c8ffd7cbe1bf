import type { ReactNode } from 'react';
import { count, shortCount } from '../../format/numbers.ts';
import { type Severity, severityWord } from '../../format/words.ts';

const colors: Record<Severity, { text: string; mark: string; ground: string }> = {
  critical: { text: 'text-sev-critical', mark: 'text-sev-critical-mark', ground: 'bg-sev-critical-bg' },
  high: { text: 'text-sev-high', mark: 'text-sev-high-mark', ground: 'bg-sev-high-bg' },
  medium: { text: 'text-sev-medium', mark: 'text-sev-medium-mark', ground: 'bg-sev-medium-bg' },
  low: { text: 'text-sev-low', mark: 'text-sev-low-mark', ground: 'bg-sev-low-bg' },
  info: { text: 'text-sev-info', mark: 'text-sev-info-mark', ground: 'bg-sev-info-bg' },
};

/** Each severity has its own outline: they differ in grayscale and with forced colors too. */
const glyphs: Record<Severity, ReactNode> = {
  critical: (
    <>
      <path d="M3.7.5h4.6l3.2 3.2v4.6l-3.2 3.2H3.7L.5 8.3V3.7z" fill="currentColor" />
      <path d="M6 3v3.6" stroke="var(--surface-1)" strokeWidth="1.6" strokeLinecap="round" />
      <circle cx="6" cy="8.9" r=".95" fill="var(--surface-1)" />
    </>
  ),
  high: (
    <path
      d="M6 1l5.4 9.8H.6z"
      fill="currentColor"
      stroke="currentColor"
      strokeWidth=".6"
      strokeLinejoin="round"
    />
  ),
  medium: <path d="M6 .7L11.3 6 6 11.3.7 6z" fill="currentColor" />,
  low: (
    <path d="M6 10.6L1.2 2h9.6z" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinejoin="round" />
  ),
  info: <path d="M2.3 2.3h7.4v7.4H2.3z" fill="none" stroke="currentColor" strokeWidth="1.6" />,
};

export interface SeverityMarkProps {
  severity: Severity;
  /** Stands in place of the word. */
  count?: number;
  /** The count takes at most four characters: `1.2k`. */
  short?: boolean;
  /** On its own ground. */
  chip?: boolean;
  /** The glyph alone, its word for screen readers and as tooltip. */
  bare?: boolean;
}

/** Glyph of a severity with its word or a count. */
export function SeverityMark({ severity, count: number, short, chip, bare }: SeverityMarkProps): ReactNode {
  const { text, mark, ground } = colors[severity];
  const word = severityWord(severity);
  const hidden = number !== undefined || bare === true;
  return (
    <span
      className={`inline-flex items-center gap-[5px] whitespace-nowrap text-size-12 ${text} ${
        chip === true ? `h-5 rounded-s pr-[7px] pl-[5px] font-medium ${ground}` : ''
      }`}
      title={hidden ? word : undefined}
    >
      <svg viewBox="0 0 12 12" width={12} height={12} className={`flex-none ${mark}`} aria-hidden>
        {glyphs[severity]}
      </svg>
      <span className={hidden ? 'sr-only' : 'self-baseline'}>{word}</span>
      {number === undefined ? null : (
        <span className="self-baseline">{short ? shortCount(number) : count(number)}</span>
      )}
    </span>
  );
}
