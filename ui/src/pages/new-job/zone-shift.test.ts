import { describe, expect, it } from 'vitest';
import { shiftTime } from './zone-shift.ts';

const winter = Date.parse('2026-01-15T00:00:00Z');
const summer = Date.parse('2026-07-15T00:00:00Z');

describe('shiftTime', () => {
  it.each([
    ['02:00', 'Europe/Berlin', 'UTC', winter, { time: '01:00', days: 0 }],
    ['02:00', 'Europe/Berlin', 'UTC', summer, { time: '00:00', days: 0 }],
    ['00:30', 'Europe/Berlin', 'UTC', winter, { time: '23:30', days: -1 }],
    ['22:00', 'America/New_York', 'UTC', winter, { time: '03:00', days: 1 }],
    ['02:00', 'UTC', 'Asia/Kolkata', winter, { time: '07:30', days: 0 }],
    ['02:00', 'UTC', 'UTC', winter, { time: '02:00', days: 0 }],
  ])('%s in %s is another time in %s', (time, from, to, at, expected) => {
    expect(shiftTime(time, { from, to, at })).toEqual(expected);
  });
});
