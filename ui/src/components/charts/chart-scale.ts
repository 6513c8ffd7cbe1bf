/** Steps of an axis that read well. */
const roundSteps = [1, 2, 2.5, 5, 10];

/** Three or four lines from 0 to at least `max`, at round numbers. */
export function gridLines(max: number): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = roundSteps.find((each) => each * power >= rough - power * 1e-9) ?? 10;
  const step = factor * power;
  const lines = [0];
  while ((lines.at(-1) as number) < max - step * 1e-9) lines.push(lines.length * step);
  return lines;
}

/** One piece of a line; gaps separate them. */
export type Run = readonly (readonly [x: number, y: number])[];

/** The pieces of a line between its gaps. @param place of a value by its index */
export function runsOf(
  values: readonly (number | null)[],
  place: (index: number, value: number) => readonly [number, number],
): Run[] {
  const runs: (readonly [number, number])[][] = [];
  let open: (readonly [number, number])[] | null = null;
  values.forEach((value, index) => {
    if (value === null) {
      open = null;
      return;
    }
    if (open === null) runs.push((open = []));
    open.push(place(index, value));
  });
  return runs;
}

/** `d` of an SVG path through the points. */
export function linePath(run: Run): string {
  return run.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
}

/** `d` of the area below the points. @param base y of zero */
export function areaPath(run: Run, base: number): string {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return '';
  return `${linePath(run)}L${round(last[0])} ${round(base)}L${round(first[0])} ${round(base)}Z`;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
