import { describe, expect, it } from 'vitest';
import {
  daysProblem,
  freezeProblem,
  freezeTimePattern,
  freezeTimeProblem,
  hoursProblem,
  ScanCalendar,
  type ScanFreeze,
  type ScanWindow,
  windowDaysPattern,
  windowHoursPattern,
} from './scan-calendar.ts';

const window = (days: string, hours: string, zone = 'UTC', name: string | null = null): ScanWindow => ({
  name,
  days,
  hours,
  zone,
});
const freeze = (from: string, to: string, zone = 'UTC', reason: string | null = null): ScanFreeze => ({
  from,
  to,
  zone,
  reason,
});

/** `open` or `closed`, and the time of the next change. */
function standing(calendar: ScanCalendar, time: string): string {
  const { closure, next } = calendar.at(Date.parse(time));
  return `${closure ? 'closed' : 'open'} ${next === null ? '-' : new Date(next).toISOString().slice(0, 19)}`;
}

describe('windows', () => {
  it('are open always when there are none', () => {
    expect(standing(new ScanCalendar([], []), '2026-10-07T12:00Z')).toBe('open -');
  });

  it('hold on their days, the end not being part of them', () => {
    const office = new ScanCalendar([window('mon-fri', '09:00-17:30', 'UTC', 'office')], []);
    // 9 October 2026 is a Friday.
    expect(standing(office, '2026-10-09T08:59:59.999Z')).toBe('closed 2026-10-09T09:00:00');
    expect(standing(office, '2026-10-09T09:00Z')).toBe('open 2026-10-09T17:30:00');
    expect(standing(office, '2026-10-09T17:29:59.999Z')).toBe('open 2026-10-09T17:30:00');
    expect(standing(office, '2026-10-09T17:30Z')).toBe('closed 2026-10-12T09:00:00');
    expect(office.at(Date.parse('2026-10-10T12:00Z')).closure?.reason).toBe(
      'it is outside the scan window (office: mon-fri 09:00-17:30 UTC)',
    );
  });

  it('go over midnight and belong to the day on which they begin', () => {
    const nights = new ScanCalendar([window('fri', '22:00-06:00')], []);
    expect(standing(nights, '2026-10-09T05:00Z')).toBe('closed 2026-10-09T22:00:00');
    expect(standing(nights, '2026-10-09T22:00Z')).toBe('open 2026-10-10T06:00:00');
    expect(standing(nights, '2026-10-10T05:59Z')).toBe('open 2026-10-10T06:00:00');
    expect(standing(nights, '2026-10-10T22:00Z')).toBe('closed 2026-10-16T22:00:00');
  });

  it('that touch are one, also around the week', () => {
    const all = new ScanCalendar([window('fri-tue', '00:00-24:00'), window('wed,thu', '00:00-24:00')], []);
    expect(standing(all, '2026-10-09T05:00Z')).toBe('open -');
    const weekend = new ScanCalendar([window('sat', '12:00-24:00'), window('sun', '00:00-06:00')], []);
    expect(standing(weekend, '2026-10-10T13:00Z')).toBe('open 2026-10-11T06:00:00');
  });

  it('go by the clock of their zone', () => {
    const tokyo = new ScanCalendar([window('mon', '08:00-09:00', 'Asia/Tokyo')], []);
    expect(standing(tokyo, '2026-10-11T22:59Z')).toBe('closed 2026-10-11T23:00:00');
    expect(standing(tokyo, '2026-10-11T23:00Z')).toBe('open 2026-10-12T00:00:00');
  });
});

describe('clocks that change', () => {
  const berlin = 'Europe/Berlin';
  const york = 'America/New_York';

  // 28 March 2027: 02:00 becomes 03:00; 31 October 2027: 03:00 becomes 02:00. In New York 14 March and 7 November.
  it.each([
    [
      'spring: the night is an hour shorter',
      '22:00-06:00',
      berlin,
      '2027-03-27T21:00Z',
      'open 2027-03-28T04:00:00',
    ],
    [
      'autumn: the night is an hour longer',
      '22:00-06:00',
      berlin,
      '2027-10-30T20:00Z',
      'open 2027-10-31T05:00:00',
    ],
    [
      'spring: what begins in the gap begins after it',
      '02:30-04:00',
      berlin,
      '2027-03-28T00:00Z',
      'closed 2027-03-28T01:00:00',
    ],
    [
      'spring: what ends in the gap ends at it',
      '01:00-02:30',
      berlin,
      '2027-03-28T00:30Z',
      'open 2027-03-28T01:00:00',
    ],
    [
      'spring: what lies in the gap is left out',
      '02:10-02:50',
      berlin,
      '2027-03-28T00:00Z',
      'closed 2027-03-29T00:10:00',
    ],
    [
      'autumn: the first of two halves',
      '02:00-02:30',
      berlin,
      '2027-10-31T00:00Z',
      'open 2027-10-31T00:30:00',
    ],
    [
      'autumn: the second one begins',
      '02:00-02:30',
      berlin,
      '2027-10-31T00:30Z',
      'closed 2027-10-31T01:00:00',
    ],
    ['autumn: the second one ends', '02:00-02:30', berlin, '2027-10-31T01:00Z', 'open 2027-10-31T01:30:00'],
    ['the same in New York, spring', '22:00-06:00', york, '2027-03-14T03:00Z', 'open 2027-03-14T10:00:00'],
    ['the same in New York, autumn', '22:00-06:00', york, '2027-11-07T02:00Z', 'open 2027-11-07T11:00:00'],
  ])('%s', (_title, hours, zone, time, expected) => {
    expect(standing(new ScanCalendar([window('mon-sun', hours, zone)], []), time)).toBe(expected);
  });

  it('agree with a look at every minute of the two nights', () => {
    for (const [hours, day] of [
      ['22:00-02:30', '2027-03-27'],
      ['02:30-03:10', '2027-10-30'],
    ] as const) {
      const calendar = new ScanCalendar([window('sat,sun', hours, berlin)], []);
      const start = Date.parse(`${day}T18:00Z`);
      let { closure, next } = calendar.at(start);
      for (let at = start; at < start + 36 * 3_600_000; at += 60_000) {
        const now = calendar.at(at);
        expect([new Date(at).toISOString(), now.closure === null]).toEqual([
          new Date(at).toISOString(),
          next !== null && at >= next ? closure !== null : closure === null,
        ]);
        ({ closure, next } = now);
      }
    }
  });
});

describe('a freeze', () => {
  it('is stronger than windows, and lasts to the end of its last day', () => {
    const calendar = new ScanCalendar(
      [window('mon-sun', '22:00-06:00', 'Europe/Berlin')],
      [freeze('2026-12-24', '2026-12-26', 'Europe/Berlin', 'holidays')],
    );
    expect(standing(calendar, '2026-12-23T22:30Z')).toBe('open 2026-12-23T23:00:00');
    // It ends at midnight within a window, which then continues.
    expect(standing(calendar, '2026-12-25T01:00Z')).toBe('closed 2026-12-26T23:00:00');
    expect(standing(calendar, '2026-12-26T23:00Z')).toBe('open 2026-12-27T05:00:00');
    expect(calendar.at(Date.parse('2026-12-25T01:00Z')).closure?.reason).toBe('a freeze is active: holidays');
    const office = new ScanCalendar([window('mon-fri', '09:00-17:00')], [freeze('2026-12-24', '2026-12-26')]);
    expect(standing(office, '2026-12-24T12:00Z')).toBe('closed 2026-12-28T09:00:00');
  });

  it('may be given by times, with an offset or in a zone', () => {
    const exact = new ScanCalendar([], [freeze('2026-12-24T18:00:00+01:00', '2026-12-24 19:00', 'UTC')]);
    expect(standing(exact, '2026-12-24T16:59Z')).toBe('open 2026-12-24T17:00:00');
    expect(standing(exact, '2026-12-24T17:00Z')).toBe('closed 2026-12-24T19:00:00');
    expect(standing(exact, '2026-12-24T19:00Z')).toBe('open -');
  });

  it('that overlaps another one ends with the last of them', () => {
    const calendar = new ScanCalendar(
      [],
      [freeze('2026-12-24', '2026-12-26', 'UTC', 'a'), freeze('2026-12-25', '2026-12-31', 'UTC', 'b')],
    );
    expect(standing(calendar, '2026-12-24T12:00Z')).toBe('closed 2027-01-01T00:00:00');
    expect(calendar.at(Date.parse('2026-12-25T12:00Z')).closure?.reason).toBe('a freeze is active: b');
  });

  it('has both of the times that come twice, and loses nothing to a gap', () => {
    const autumn = new ScanCalendar([], [freeze('2027-10-31 02:30', '2027-10-31 02:45', 'Europe/Berlin')]);
    expect(standing(autumn, '2027-10-31T00:00Z')).toBe('open 2027-10-31T00:30:00');
    expect(standing(autumn, '2027-10-31T00:30Z')).toBe('closed 2027-10-31T01:45:00');
    const spring = new ScanCalendar([], [freeze('2027-03-28 02:15', '2027-03-28 02:45', 'Europe/Berlin')]);
    expect(standing(spring, '2027-03-28T00:15Z')).toBe('closed 2027-03-28T01:45:00');
  });
});

describe('what is no window and no freeze', () => {
  it.each([
    ['mon-fri', true],
    ['sat,sun', true],
    ['fri-mon,wed', true],
    ['mon-', false],
    ['montag', false],
    ['', false],
  ])('days %j: %s', (days, good) => expect(windowDaysPattern.test(days)).toBe(good));

  it.each([
    ['22:00-06:00', true],
    ['00:00-24:00', true],
    ['24:00-06:00', false],
    ['9:00-17:00', false],
    ['09:60-17:00', false],
    ['09:00', false],
  ])('hours %j: %s', (hours, good) => expect(windowHoursPattern.test(hours)).toBe(good));

  it.each([
    '2026-12-24',
    '2026-12-24 18:00',
    '2026-12-24T18:00:30',
    '2026-12-24T18:00:00.5Z',
    '2026-12-24T18:00-05:00',
  ])('the time %j is one', (time) =>
    expect([freezeTimePattern.test(time), freezeTimeProblem(time)]).toEqual([true, null]),
  );

  it.each(['2026-02-30', '2026-13-01', '2026-12-24 25:00', '2026-12-24T18:61', '2026-02-30T10:00+01:00'])(
    'the time %j is none',
    (time) => expect(freezeTimeProblem(time)).toContain('not a valid date or time'),
  );

  it('is told in words', () => {
    expect(hoursProblem('09:00-09:00')).toContain('same time');
    expect(daysProblem('mon-wed-fri')).toContain('not a range of two days');
    expect([hoursProblem('22:00-06:00'), daysProblem('mon-wed,fri')]).toEqual([null, null]);
    expect(freezeProblem(freeze('2026-12-26', '2026-12-24'))).toContain('after from');
    expect(freezeProblem(freeze('2026-12-24', '2026-12-24'))).toBeNull();
    expect(freezeProblem(freeze('2026-12-24 10:00', '2026-12-24 10:00'))).toContain('after from');
  });
});
