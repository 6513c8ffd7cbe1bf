import { expect, it } from 'vitest';
import {
  bytes,
  change,
  count,
  cvss,
  hundredths,
  percent,
  rate,
  sharePercent,
  shortCount,
} from './numbers.ts';

it.each([
  [0, '0'],
  [999, '999'],
  [65_536, '65,536'],
  [1_234_567, '1,234,567'],
  [null, '–'],
  [undefined, '–'],
  [Number.NaN, '–'],
])('count writes %s as %s', (number, text) => {
  expect(count(number)).toBe(text);
});

it.each([
  [0, '0'],
  [999, '999'],
  [1000, '1k'],
  [1249, '1.2k'],
  [1999, '1.9k'],
  [12_999, '12k'],
  [999_999, '999k'],
  [1_200_000, '1.2M'],
  [3_000_000_000, '3G'],
])('shortCount writes %d as %s and never more than there is', (number, text) => {
  expect(shortCount(number)).toBe(text);
});

it('percent is rounded down and reaches 100 only at the end', () => {
  expect(percent(61_240, 143_000)).toBe('42 %');
  expect(percent(999_999, 1_000_000)).toBe('99 %');
  expect(percent(1_000_000, 1_000_000)).toBe('100 %');
  expect(percent(5, 4)).toBe('100 %');
  expect(percent(0, 0)).toBe('–');
  expect(sharePercent(0.999)).toBe('99 %');
});

it.each([
  [0, '0 B'],
  [512, '512 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [4_140_000, '4.1 MB'],
  [999_960, '1.0 MB'],
  [240_000_000_000, '240 GB'],
  [1_500_000_000_000_000_000, '1,500 PB'],
  [null, '–'],
])('bytes writes %s as %s', (number, text) => {
  expect(bytes(number)).toBe(text);
});

it.each([
  [0, '0/s'],
  [0.42, '0.4/s'],
  [3, '3/s'],
  [497.6, '498/s'],
  [12_345.6, '12,346/s'],
  [null, '–'],
])('rate writes %s as %s', (number, text) => {
  expect(rate(number)).toBe(text);
});

it('scores have their fixed decimals', () => {
  expect([cvss(9.8), cvss(10), cvss(null)]).toEqual(['9.8', '10.0', '–']);
  expect([hundredths(0.9443), hundredths(1), hundredths(undefined)]).toEqual(['0.94', '1.00', '–']);
});

it('a change has its sign', () => {
  expect([change(1), change(-4), change(0), change(-1200)]).toEqual(['+1', '−4', '±0', '−1,200']);
});
