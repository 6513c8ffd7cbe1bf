import { describe, expect, it } from 'vitest';
import { amountText, bytesText, countText } from './amounts.ts';
import { spanText, whenText } from './times.ts';

const now = Date.parse('2026-11-24T12:00:00Z');
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe('a time', () => {
  it.each([
    [0, 'now'],
    [-999, 'now'],
    [-12 * second, '12 s ago'],
    [-59.9 * second, '59 s ago'],
    [-9 * minute, '9 min ago'],
    [2 * hour + 59 * minute, 'in 2 h'],
    [-25 * hour, '1 day ago'],
    [-7 * day, '7 days ago'],
    [7 * day, 'in 7 days'],
    [-7 * day - 1, 'Nov 17, 11:59 UTC'],
    [-400 * day, 'Oct 20 2025, 12:00 UTC'],
  ])('%d ms from now is %s', (ms, expected) => {
    expect(whenText(new Date(now + ms).toISOString(), now)).toBe(expected);
  });

  it('that is none stays as it is', () => {
    expect(whenText('soon', now)).toBe('soon');
  });
});

describe('a span', () => {
  it.each([
    [0, '0.0 s'],
    [400, '0.4 s'],
    [9940, '9.9 s'],
    [9960, '10 s'],
    [14_400, '14 s'],
    [59_600, '1 min'],
    [532 * second, '8 min 52 s'],
    [2 * hour, '2 h'],
    [2 * hour + 4 * minute + 40 * second, '2 h 5 min'],
    [25 * hour, '1 day 1 h'],
    [72 * hour, '3 days'],
  ])('of %d ms is %s', (ms, expected) => {
    expect(spanText(ms)).toBe(expected);
  });
});

describe('an amount', () => {
  it('has separators, its noun and the right number of it', () => {
    expect([amountText(65_536), countText(1, 'scan'), countText(1204, 'scan'), countText(0, 'scan')]).toEqual(
      ['65,536', '1 scan', '1,204 scans', '0 scans'],
    );
    expect(countText(2, 'address', 'addresses')).toBe('2 addresses');
  });

  it.each([
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1.0 kB'],
    [4_123_000, '4.1 MB'],
    [9_960_000, '10 MB'],
    [41_400_000, '41 MB'],
    [999_600_000, '1.0 GB'],
    [79e9, '79 GB'],
    [2500e12, '2,500 TB'],
  ])('of %d bytes is %s', (bytes, expected) => {
    expect(bytesText(bytes)).toBe(expected);
  });
});
