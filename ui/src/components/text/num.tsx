import type { ReactNode } from 'react';
import { absent, count } from '../../format/numbers.ts';

export interface NumProps {
  /** `–` when absent, `0` when zero. */
  value: number | null | undefined;
  /** `250` in "38 of 250". */
  of?: number | null;
  /** Behind the number, in the color of units: `ms`, `hosts`. */
  unit?: string;
}

/** A count with thousands separated. */
export function Num({ value, of, unit }: NumProps): ReactNode {
  const text = count(value);
  const units = [of === undefined || of === null ? '' : `of ${count(of)}`, unit ?? '']
    .filter(Boolean)
    .join(' ');
  return (
    <span className={`whitespace-nowrap ${text === absent ? 'text-text-3' : ''}`}>
      {text}
      {units === '' ? null : <span className="text-text-3"> {units}</span>}
    </span>
  );
}
