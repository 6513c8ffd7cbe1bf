export interface ChartSeries {
  name: string;
  /** One per time; null is a gap. */
  values: readonly (number | null)[];
}

export interface LineChartProps {
  /** One series is drawn as a line with a flat fill, two as plain lines. */
  series: readonly ChartSeries[];
  /** Milliseconds since 1970, ascending, one per value. */
  times: readonly number[];
  /** What the chart shows, "Packets per second". */
  label: string;
  /** First and last time of the axis, milliseconds; absent = of the data. */
  from?: number;
  to?: number;
  /** Of values, on the axis and in the table. Absent: 65,536. */
  format?(value: number): string;
  /** Of times. Absent: 14:23 within a day, else Nov 21. */
  formatTime?(time: number): string;
  /** Pixels; 160 unless set. */
  height?: number;
  /** The axis ends here at least: a limit. Drawn as a dashed line with this name. */
  limit?: { value: number; name: string };
  /** Why there is no line, while there are not two values. */
  why?: string;
}

export interface SparklineProps {
  values: readonly (number | null)[];
  label: string;
  /** Words below the ends of the line, "14:28" and "now". */
  from?: string;
  to?: string;
  /** The axis ends here at least. */
  max?: number;
  height?: number;
  format?(value: number): string;
}
