import type { ReactNode } from 'react';
import { count } from '../../format/numbers.ts';
import type { SparklineProps } from './chart-props.ts';
import { areaPath, linePath, runsOf } from './chart-scale.ts';
import { EmptyChart } from './empty-chart.tsx';

/** Width of the drawing, which is stretched to that of its place. */
const width = 240;
/** Space for the line's own width above and below, pixels. */
const edge = 1;

/** A small line without axes; its first and last time stand below, its current value belongs beside it. */
export function Sparkline({
  values,
  label,
  from,
  to,
  max = 0,
  height = 40,
  format = count,
}: SparklineProps): ReactNode {
  const known = values.filter((value) => value !== null);
  const top = Math.max(max, 1e-9, ...known);
  const base = height - edge;
  const place = (index: number, value: number) =>
    [
      values.length < 2 ? width : (index / (values.length - 1)) * width,
      base - (Math.max(0, value) / top) * (height - 2 * edge),
    ] as const;
  const runs = runsOf(values, place);
  const last = known.at(-1);
  const spoken =
    last === undefined
      ? `${label}: no values yet`
      : `${label}: now ${format(last)}, lowest ${format(Math.min(...known))}, highest ${format(Math.max(...known))}`;
  return (
    <div className="min-w-0">
      {known.length < 2 && (
        <div style={{ height }}>
          <EmptyChart />
        </div>
      )}
      <svg
        role="img"
        aria-label={spoken}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className={known.length < 2 ? 'hidden' : 'block w-full'}
        style={{ height }}
      >
        {runs.map((run) => (
          <g key={run[0]?.[0]}>
            <path d={areaPath(run, base)} fill="var(--chart-1-fill)" />
            <path
              d={run.length === 1 ? `${linePath(run)}h.01` : linePath(run)}
              fill="none"
              stroke="var(--chart-1)"
              strokeWidth="1.5"
              strokeLinejoin="round"
              strokeLinecap="round"
              vectorEffect="non-scaling-stroke"
            />
          </g>
        ))}
      </svg>
      {(from !== undefined || to !== undefined) && (
        <div className="flex justify-between text-size-11 text-text-3" aria-hidden>
          <span>{from}</span>
          <span>{to}</span>
        </div>
      )}
    </div>
  );
}
