import type { ReactNode } from 'react';
import { count } from '../../format/numbers.ts';
import type { DayBarsProps } from './chart-props.ts';
import { gridLines } from './chart-scale.ts';
import { ChartTable } from './chart-table.tsx';

/** Width of one day in the drawing, which is stretched to its place; its bar takes two thirds. */
const dayWidth = 12;

/** Findings per day, critical below high. */
export function DayBars({ days, label, height = 96 }: DayBarsProps): ReactNode {
  const lines = gridLines(Math.max(0, ...days.map((day) => day.critical + day.high)));
  const top = lines.at(-1) as number;
  const y = (value: number) => height - (value / top) * height;
  const width = Math.max(1, days.length) * dayWidth;
  return (
    <figure className="m-0 min-w-0">
      <div className="flex gap-2">
        <svg
          aria-hidden
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          className="block min-w-0 grow overflow-visible"
          style={{ height }}
        >
          {lines.map((line) => (
            <path
              key={line}
              d={`M0 ${y(line)}H${width}`}
              stroke="var(--chart-grid)"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {days.map(({ date, critical, high }, index) => (
            <g key={date} transform={`translate(${index * dayWidth + dayWidth / 6} 0)`}>
              <title>{`${dayText(date)}: ${count(critical)} critical, ${count(high)} high`}</title>
              <rect
                y={y(critical)}
                width={(dayWidth * 2) / 3}
                height={height - y(critical)}
                fill="var(--sev-critical-mark)"
              />
              <rect
                y={y(critical + high)}
                width={(dayWidth * 2) / 3}
                height={y(critical) - y(critical + high)}
                fill="var(--sev-high-mark)"
              />
            </g>
          ))}
        </svg>
        <div aria-hidden className="relative w-8 shrink-0 text-size-11 text-text-3" style={{ height }}>
          {lines.map((line) => (
            <span key={line} className="absolute -translate-y-1/2" style={{ top: y(line) }}>
              {count(line)}
            </span>
          ))}
        </div>
      </div>
      <div aria-hidden className="flex justify-between pr-10 pt-1 text-size-11 text-text-3">
        <span>{dayText(days[0]?.date)}</span>
        <span>{days.length > 1 && dayText(days.at(-1)?.date)}</span>
      </div>
      <ChartTable
        label={label}
        heads={['Day', 'Critical', 'High']}
        rows={days.map(({ date, critical, high }) => [dayText(date), count(critical), count(high)])}
      />
    </figure>
  );
}

const dayFormat = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** `Nov 21` */
function dayText(date: string | undefined): string {
  if (date === undefined) return '';
  const time = Date.parse(`${date.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(time) ? date : dayFormat.format(time);
}
