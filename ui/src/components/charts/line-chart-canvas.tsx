import { type ReactNode, useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { LineChartProps } from './chart-props.ts';
import { gridLines } from './chart-scale.ts';

type Props = LineChartProps & Required<Pick<LineChartProps, 'height' | 'format' | 'formatTime'>>;

const colorNames = ['--chart-1', '--chart-1-fill', '--chart-2', '--chart-grid', '--chart-axis'] as const;
type Colors = Record<(typeof colorNames)[number], string>;

/** The drawing of a line chart, by uPlot. Drawn again when data, width or theme change. */
export default function LineChartCanvas(props: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const width = useBoxWidth(box);
  useEffect(() => {
    if (box.current === null || width === 0) return;
    const plot = new UPlot(optionsOf(props, width, colorsOf(box.current)), dataOf(props), box.current);
    return () => plot.destroy();
  }, [props, width, theme]);
  return <div ref={box} className="h-full w-full" />;
}

function dataOf({ times, series, limit }: Props): UPlot.AlignedData {
  const lines = series.map(({ values }) => [...values]);
  const limits = limit === undefined ? [] : [times.map(() => limit.value)];
  // uPlot counts in seconds.
  return [times.map((time) => time / 1000), ...lines, ...limits];
}

function optionsOf(props: Props, width: number, colors: Colors): UPlot.Options {
  const { series, times, height, from, to, format, formatTime, limit } = props;
  const lines = gridLines(
    Math.max(limit?.value ?? 0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))),
  );
  const axis = {
    stroke: colors['--chart-axis'],
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
    ticks: { show: false },
    border: { show: false },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 16, 0, 0],
    scales: {
      x: { time: true, range: [(from ?? times[0] ?? 0) / 1000, (to ?? times.at(-1) ?? 1) / 1000] },
      y: { range: [0, lines.at(-1) as number] },
    },
    axes: [
      {
        ...axis,
        size: 22,
        gap: 4,
        space: 72,
        grid: { show: false },
        values: (_, splits) => splits.map((at) => formatTime(at * 1000)),
      },
      {
        ...axis,
        size: 48,
        gap: 6,
        splits: () => lines,
        grid: { stroke: colors['--chart-grid'], width: 1 },
        values: (_, splits) => splits.map(format),
      },
    ],
    series: [
      {},
      ...series.map(({ name }, index) => lineOf(name, index, series.length, colors)),
      ...(limit === undefined
        ? []
        : [
            {
              label: limit.name,
              stroke: colors['--chart-axis'],
              width: 1,
              dash: [4, 4],
              points: { show: false },
            },
          ]),
    ],
    hooks: { draw: [(plot) => markLast(plot, series.length, colors)] },
  };
}

function lineOf(label: string, index: number, count: number, colors: Colors): UPlot.Series {
  return {
    label,
    stroke: index === 0 ? colors['--chart-1'] : colors['--chart-2'],
    ...(count === 1 && { fill: colors['--chart-1-fill'] }),
    ...(index > 0 && { dash: [6, 3] }),
    width: 1.5,
    spanGaps: false,
    points: { show: false },
  };
}

/** A dot at the last value of each line. */
function markLast(plot: UPlot, count: number, colors: Colors): void {
  const [times = []] = plot.data;
  for (let index = 1; index <= count; index++) {
    const values = plot.data[index] ?? [];
    const last = values.findLastIndex((value) => value !== null && value !== undefined);
    const [time, value] = [times[last], values[last]];
    if (time === undefined || value === undefined || value === null) continue;
    plot.ctx.beginPath();
    plot.ctx.arc(
      plot.valToPos(time, 'x', true),
      plot.valToPos(value, 'y', true),
      3 * devicePixelRatio,
      0,
      2 * Math.PI,
    );
    plot.ctx.fillStyle = index === 1 ? colors['--chart-1'] : colors['--chart-2'];
    plot.ctx.fill();
  }
}

/** A canvas knows no `light-dark()` and no variables: the colors of an element are computed instead. */
function colorsOf(parent: HTMLElement): Colors {
  const probe = document.createElement('span');
  probe.hidden = true;
  parent.append(probe);
  const entries = colorNames.map((name) => {
    probe.style.color = `var(${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries) as Colors;
}

/** Changes with the theme, of the system or as chosen. */
function useTheme(): string {
  const [theme, setTheme] = useState(themeNow);
  useEffect(() => {
    const changed = () => setTheme(themeNow());
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    const chosen = new MutationObserver(changed);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    system.addEventListener('change', changed);
    return () => {
      chosen.disconnect();
      system.removeEventListener('change', changed);
    };
  }, []);
  return theme;
}

function themeNow(): string {
  const isDark = window.matchMedia('(prefers-color-scheme: dark)').matches;
  return `${document.documentElement.dataset['theme'] ?? ''} ${isDark}`;
}

function useBoxWidth(box: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (box.current === null) return;
    const element = box.current;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
