import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';

it.each([
  ['findr', 'finder'],
  ['standrad', 'standard'],
  ['fidner', 'finder'],
  ['b', null],
  ['zzzzzz', null],
  ['x'.repeat(10_000), null],
])('the known name nearest to %.20s is %s', (name, expected) => {
  expect(nearest(name, ['finder', 'standard', 'a'])).toBe(expected);
});
