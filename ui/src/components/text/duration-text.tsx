import type { ReactNode } from 'react';
import { duration, estimate } from '../../format/durations.ts';

export interface DurationTextProps {
  /** Milliseconds; `–` when absent. */
  ms: number | null | undefined;
  /** `about 3 min` instead of `2 min 44 s`. */
  estimated?: boolean;
}

/** A length of time. */
export function DurationText({ ms, estimated }: DurationTextProps): ReactNode {
  const text = estimated && typeof ms === 'number' ? estimate(ms) : duration(ms);
  return <span className="whitespace-nowrap">{text}</span>;
}
