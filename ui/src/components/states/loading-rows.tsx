import { type ReactNode, useEffect, useState } from 'react';

export interface LoadingRowsProps {
  /** How many. */
  rows?: number;
  /** Pixels; the height of the real rows. */
  height?: 28 | 36 | 48;
}

/** What loads faster shows nothing, milliseconds. */
const delay = 120;

/** Widths in the shape of real rows; the same every time, so that nothing jumps. */
const widths = [
  ['w-24', 'w-32', 'w-12'],
  ['w-20', 'w-24', 'w-16'],
  ['w-28', 'w-36', 'w-8'],
  ['w-24', 'w-20', 'w-14'],
] as const;

/** Rows in the shape of the real ones, from 120 ms on. */
export function LoadingRows({ rows = 6, height = 28 }: LoadingRowsProps): ReactNode {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), delay);
    return () => clearTimeout(timer);
  }, []);
  const tall = { 28: 'h-(--row-dense)', 36: 'h-(--row)', 48: 'h-12' }[height];
  return (
    <div role="status" className={late ? '' : 'invisible'}>
      <span className="sr-only">{late ? 'Loading' : ''}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} aria-hidden className={`flex items-center gap-5 border-line-subtle border-b ${tall}`}>
          {widths[row % widths.length]?.map((width) => (
            <span key={width} className={`h-2.5 rounded-[3px] bg-surface-3 ${width}`} />
          ))}
        </div>
      ))}
    </div>
  );
}
