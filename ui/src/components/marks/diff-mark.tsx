import type { ReactNode } from 'react';
import { count as written } from '../../format/numbers.ts';

export type DiffKind = 'new' | 'fixed' | 'changed' | 'not_comparable';

export interface DiffMarkProps {
  kind: DiffKind;
  /** With a count: sign and number without a square, as in "+3". 0 is gray. */
  count?: number;
}

const looks: Record<DiffKind, { sign: string; word: string; square: string; text: string }> = {
  new: { sign: '+', word: 'new', square: 'bg-diff-new-bg text-diff-new', text: 'text-diff-new' },
  fixed: { sign: '−', word: 'fixed', square: 'bg-diff-fixed-bg text-diff-fixed', text: 'text-diff-fixed' },
  changed: {
    sign: '~',
    word: 'changed',
    square: 'bg-diff-changed-bg text-diff-changed',
    text: 'text-diff-changed',
  },
  not_comparable: {
    sign: '?',
    word: 'not comparable',
    square: 'bg-diff-changed-bg text-diff-changed',
    text: 'text-text-2',
  },
};

/** Sign of a difference between two scans. Red for new alone, green for fixed alone. */
export function DiffMark({ kind, count }: DiffMarkProps): ReactNode {
  const { sign, word, square, text } = looks[kind];
  if (count !== undefined) {
    return (
      <span
        className={`whitespace-nowrap ${count === 0 ? 'text-text-3' : `font-medium ${text}`}`}
        title={word}
      >
        <span aria-hidden>{kind === 'not_comparable' || count === 0 ? '' : sign}</span>
        {written(count)}
        <span className="sr-only"> {word}</span>
      </span>
    );
  }
  return (
    <span
      className={`inline-flex size-[18px] items-center justify-center rounded-s font-medium ${square}`}
      title={word}
    >
      <span aria-hidden>{sign}</span>
      <span className="sr-only">{word}</span>
    </span>
  );
}
