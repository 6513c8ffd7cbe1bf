import { expect, it } from 'vitest';
import { areaPath, gridLines, linePath, runsOf } from './chart-scale.ts';

it('draws few grid lines at round numbers', () => {
  expect(gridLines(500)).toEqual([0, 200, 400, 600]);
  expect(gridLines(3)).toEqual([0, 1, 2, 3]);
  expect(gridLines(0)).toEqual([0, 1]);
  expect(gridLines(0.3)).toHaveLength(4);
  for (const max of [1, 7, 49, 99, 1234, 65_536]) {
    const lines = gridLines(max);
    expect(lines.at(-1)).toBeGreaterThanOrEqual(max);
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(lines.length).toBeLessThanOrEqual(5);
  }
});

it('leaves gaps where there are no values', () => {
  const runs = runsOf([1, 2, null, 3], (index, value) => [index, value]);
  expect(runs).toEqual([
    [
      [0, 1],
      [1, 2],
    ],
    [[3, 3]],
  ]);
});

it('writes paths', () => {
  const run = [
    [0, 1],
    [1.25, 2],
  ] as const;
  expect(linePath(run)).toBe('M0 1L1.3 2');
  expect(areaPath(run, 9)).toBe('M0 1L1.3 2L1.3 9L0 9Z');
  expect(areaPath([], 9)).toBe('');
});
