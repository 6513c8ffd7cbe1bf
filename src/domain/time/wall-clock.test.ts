import { describe, expect, it } from 'vitest';
import { instantsOf, readWall, WallClock } from './wall-clock.ts';

const berlin = new WallClock('Europe/Berlin');

describe('a clock of a zone', () => {
  it.each([
    ['UTC', '2027-03-28T01:00Z', '2027-03-28T01:00:00+00:00'],
    ['Europe/Berlin', '2027-03-28T00:59:59Z', '2027-03-28T01:59:59+01:00'],
    ['Europe/Berlin', '2027-03-28T01:00Z', '2027-03-28T03:00:00+02:00'],
    ['America/St_Johns', '2027-01-01T02:00Z', '2026-12-31T22:30:00-03:30'],
    ['Asia/Kathmandu', '2026-12-31T20:00Z', '2027-01-01T01:45:00+05:45'],
    ['Pacific/Kiritimati', '2026-12-31T10:00Z', '2027-01-01T00:00:00+14:00'],
  ])('in %s writes %s as %s', (zone, time, text) => {
    expect(new WallClock(zone).textOf(Date.parse(time))).toBe(text);
  });

  it.each([
    ['a day begins at midnight', '2027-03-28', ['2027-03-27T23:00']],
    ['a time without an offset is that of the clock', '2027-03-28 04:00', ['2027-03-28T02:00']],
    ['an offset is stronger than the clock', '2027-03-28T04:00:00Z', ['2027-03-28T04:00']],
    ['a time that comes twice', '2027-10-31T02:30', ['2027-10-31T00:30', '2027-10-31T01:30']],
    ['a time that does not come', '2027-03-28T02:30', ['2027-03-28T01:30', '2027-03-28T00:30']],
  ])('%s: %s', (_what, text, expected) => {
    const times = instantsOf(text, berlin, 0).map((time) => new Date(time).toISOString().slice(0, 16));
    expect(times).toEqual(expected);
  });

  it('knows no 25th hour', () => {
    expect(readWall('2027-03-28T25:00')).toBeNull();
    expect(instantsOf('2027-03-28T25:00', berlin, 0)).toEqual([Number.NaN]);
  });
});
