import { expect, test } from 'vitest';
import { patternSize } from './pattern-size.ts';

test.each([
  ['', 0],
  ['abc', 3],
  ['a{3}b', 4],
  ['(?:ab){10}', 40],
  ['[a-z\\]{9}]{5}', 5],
  ['[]a]{2}', 2],
  ['[[:alpha:]]{4}', 4],
  ['\\d{1,20}', 20],
  ['\\{9}', 3],
  ['x{2,}', 2],
  ['a{0}', 1],
  ['((a{10}){10}){10}', 1000],
  ['a{,5}', 5],
  [')(', 1],
])('%s has %i steps', (pattern, size) => {
  expect(patternSize(pattern)).toBe(size);
});
