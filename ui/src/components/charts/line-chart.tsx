import { lazy, type ReactNode, Suspense } from 'react';
import { absent, count } from '../../format/numbers.ts';
import type { LineChartProps } from './chart-props.ts';
import { ChartTable } from './chart-table.tsx';
import { EmptyChart } from './empty-chart.tsx';

const Canvas = lazy(() => import('./line-chart-canvas.tsx'));

/** Pixels unless set. */
const usualHeight = 160;

/** A line over time. Its numbers are a table for screen readers; the drawing comes with the library when needed. */
export function LineChart(props: LineChartProps): ReactNode {
  const {
    series,
    times,
    label,
    height = usualHeight,
    format = count,
    formatTime = timeText(props),
    why,
  } = props;
  const rows = times.map((time, index) => [
    formatTime(time),
    ...series.map(({ values }) => {
      const value = values[index] ?? null;
      return value === null ? absent : format(value);
    }),
  ]);
  return (
    <figure className="m-0 min-w-0">
      {series.length > 1 && (
        <figcaption className="flex flex-wrap gap-x-4 pb-1 text-size-11 text-text-2" aria-hidden>
          {series.map(({ name }, index) => (
            <span key={name} className="inline-flex items-center gap-1.5">
              <svg width="16" height="8" viewBox="0 0 16 8">
                <path
                  d="M0 4h16"
                  stroke={index === 0 ? 'var(--chart-1)' : 'var(--chart-2)'}
                  strokeWidth="2"
                  strokeDasharray={index === 0 ? undefined : '4 2'}
                />
              </svg>
              {name}
            </span>
          ))}
        </figcaption>
      )}
      <div aria-hidden style={{ height }}>
        {times.length < 2 ? (
          <EmptyChart why={why} />
        ) : (
          <Suspense fallback={null}>
            <Canvas {...props} height={height} format={format} formatTime={formatTime} />
          </Suspense>
        )}
      </div>
      <ChartTable label={label} heads={['Time', ...series.map(({ name }) => name)]} rows={rows} />
    </figure>
  );
}

const dayMs = 86_400_000;
/** Within it minutes alone would repeat, milliseconds. */
const secondsBelow = 600_000;
const clock = new Intl.DateTimeFormat('en-US', { timeStyle: 'short', hourCycle: 'h23', timeZone: 'UTC' });
const seconds = new Intl.DateTimeFormat('en-US', { timeStyle: 'medium', hourCycle: 'h23', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Clock times within a day, else days. UTC, as all times of the pages unless the page says otherwise. */
function timeText({
  times,
  from = times[0] ?? 0,
  to = times.at(-1) ?? 0,
}: LineChartProps): (time: number) => string {
  const span = to - from;
  const format = span < secondsBelow ? seconds : span < dayMs ? clock : day;
  return (time) => format.format(time);
}
