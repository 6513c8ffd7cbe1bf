import type { ReactNode } from 'react';
import type { FindingClass } from '../../format/words.ts';

export interface ClassMarkProps {
  /** How sure a finding is; another text of the server is shown as it is. */
  value: FindingClass | (string & {});
}

const ring = <circle cx="5" cy="5" r="3.6" fill="none" stroke="currentColor" strokeWidth="1.3" />;

const dots: Record<FindingClass, ReactNode> = {
  certain: <circle cx="5" cy="5" r="4.25" fill="currentColor" />,
  likely: (
    <>
      {ring}
      <path d="M5 1.4a3.6 3.6 0 0 0 0 7.2z" fill="currentColor" />
    </>
  ),
  possible: ring,
};

/** A full, half or hollow dot with its word. Without color: doubt has no severity. */
export function ClassMark({ value }: ClassMarkProps): ReactNode {
  return (
    <span className="inline-flex items-center gap-[5px] whitespace-nowrap text-size-12 text-text-2">
      <svg viewBox="0 0 10 10" width={10} height={10} className="flex-none" aria-hidden>
        {Object.hasOwn(dots, value) ? dots[value as FindingClass] : ring}
      </svg>
      <span className="self-baseline">{value}</span>
    </span>
  );
}
