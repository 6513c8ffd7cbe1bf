import { expect, it } from 'vitest';
import { calendarDate, clockTime, dateTime, exactTime, relativeTime } from './times.ts';

const now = Date.parse('2026-11-21T14:32:10Z');
const ago = (milliseconds: number) => relativeTime(now - milliseconds, now);
const ahead = (milliseconds: number) => relativeTime(now + milliseconds, now);
const s = 1000;
const min = 60 * s;
const h = 60 * min;
const d = 24 * h;

it('times are UTC and say so', () => {
  expect(clockTime('2026-11-21T14:23:10.500Z')).toBe('14:23:10 UTC');
  expect(dateTime('2026-11-21T14:23:10Z', now)).toBe('Sat, Nov 21, 14:23 UTC');
  expect(calendarDate('2026-11-21T00:00:00Z', now)).toBe('Sat, Nov 21');
  expect(exactTime('2026-11-21T00:00:05Z')).toBe('Sat, Nov 21, 2026, 00:00:05 UTC');
});

it('another year is written', () => {
  expect(dateTime('2025-12-31T23:59:00Z', now)).toBe('Wed, Dec 31, 2025, 23:59 UTC');
});

it('another zone is named', () => {
  expect(clockTime('2026-11-21T23:30:00Z', 'Asia/Tokyo')).toBe('08:30:00 GMT+9');
  expect(dateTime('2026-11-21T23:30:00Z', now, 'Asia/Tokyo')).toBe('Sun, Nov 22, 08:30 GMT+9');
});

it('the past has one unit', () => {
  expect(ago(0)).toBe('just now');
  expect(ago(31 * s)).toBe('31 s ago');
  expect(ago(9 * min + 59 * s)).toBe('9 min ago');
  expect(ago(12 * h)).toBe('12 h ago');
  expect(ago(7 * d - 1)).toBe('6 d ago');
});

it('the future has two', () => {
  expect(ahead(3 * min)).toBe('in 3 min');
  expect(ahead(11 * h + 28 * min)).toBe('in 11 h 28 min');
  expect(ahead(2 * d + 8 * h)).toBe('in 2 d 8 h');
});

it('a clock that runs ahead by a second is no future', () => {
  expect(ahead(1500)).toBe('just now');
});

it('further away than seven days is a date', () => {
  expect(ago(7 * d)).toBe('Sat, Nov 14, 14:32 UTC');
  expect(ahead(9 * d + 15 * h)).toBe('Tue, Dec 1, 05:32 UTC');
  expect(relativeTime(now - 7 * d, now, 'UTC', 'short')).toBe('Nov 14');
  expect(relativeTime(now - 365 * d, now, 'UTC', 'short')).toBe('Nov 21, 2025');
});

it.each([null, undefined, '', 'never', Number.NaN, 1e300])('%s is no time', (at) => {
  expect([clockTime(at), dateTime(at, now), exactTime(at), relativeTime(at, now)]).toEqual([
    '–',
    '–',
    '–',
    '–',
  ]);
});
