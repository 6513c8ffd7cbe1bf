import { expect, it } from 'vitest';
import { groupedNumber } from './grouped-number.ts';

it('groups as the locale does', () => {
  const numbers = [0, 7, -7, 999, 1000, -1000, 65_536, 1_000_000, -123_456_789, 2 ** 53 - 1, 2 ** 60, 1234.5];
  for (const number of numbers) expect(groupedNumber(number)).toBe(number.toLocaleString('en-US'));
});
