import { expect, it } from 'vitest';
import { duration, estimate } from './durations.ts';

const s = 1000;
const min = 60 * s;
const h = 60 * min;
const d = 24 * h;

it.each([
  [0, '0 ms'],
  [12.7, '12 ms'],
  [999, '999 ms'],
  [4290, '4.2 s'],
  [9999, '9.9 s'],
  [31 * s, '31 s'],
  [60 * s, '1 min'],
  [8 * min + 52 * s, '8 min 52 s'],
  [h + 2 * min + 59 * s, '1 h 2 min'],
  [2 * d + 8 * h + 59 * min, '2 d 8 h'],
  [d + 59 * min, '1 d'],
  [-5, '0 ms'],
  [null, '–'],
  [Number.NaN, '–'],
])('duration writes %s ms as %s', (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text);
});

it.each([
  [20 * s, 'less than a minute'],
  [2 * min + 44 * s, 'about 3 min'],
  [59 * min + 40 * s, 'about 1 h'],
  [26 * h, 'about 1 d'],
  [3 * d, 'about 3 d'],
])('estimate writes %d ms as %s', (milliseconds, text) => {
  expect(estimate(milliseconds)).toBe(text);
});
