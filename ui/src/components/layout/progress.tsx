import type { ReactNode } from 'react';
import { percent } from '../../format/numbers.ts';

export interface ProgressProps {
  value: number;
  max: number;
  /** Percent of what, for example "43 % of ports tried". */
  label: string;
  /** Gray: the work is paused or interrupted. */
  still?: boolean;
  /** Pixels. */
  height?: 4 | 6;
}

/** How much of something is done. Rounded down: never full before the end. */
export function Progress({ value, max, label, still, height = 4 }: ProgressProps): ReactNode {
  const share = max > 0 ? Math.min(100, Math.floor((value / max) * 1000) / 10) : 0;
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.max(max, 0)}
      aria-valuenow={Math.min(value, max)}
      aria-valuetext={percent(value, max)}
      className={`block overflow-hidden rounded-[3px] bg-surface-3 forced-colors:border ${height === 6 ? 'h-1.5' : 'h-1'}`}
    >
      <span
        className={`block h-full rounded-[3px] forced-colors:bg-[Highlight] ${still ? 'bg-line-strong' : 'bg-accent'}`}
        style={{ width: `${share}%` }}
      />
    </span>
  );
}
