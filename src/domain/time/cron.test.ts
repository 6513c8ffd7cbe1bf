import { describe, expect, it } from 'vitest';
import { CronSchedule, maxScheduleLength, scheduleProblem } from './cron.ts';

/** The next times after a time, to the minute, UTC. */
function times(schedule: string, from: string, count = 3, zone = 'UTC'): string[] {
  const cron = new CronSchedule(schedule, zone);
  const found: string[] = [];
  for (let time: Date | null = new Date(from); found.length < count; ) {
    time = cron.after(time);
    if (time === null) break;
    found.push(time.toISOString().slice(0, 16));
  }
  return found;
}

describe('a schedule', () => {
  // Saturday, 21 November 2026.
  const from = '2026-11-21T17:00:00.000Z';

  it.each([
    ['0 2 * * *', ['2026-11-22T02:00', '2026-11-23T02:00', '2026-11-24T02:00']],
    ['*/15 * * * *', ['2026-11-21T17:15', '2026-11-21T17:30', '2026-11-21T17:45']],
    [' 00  02 * * * ', ['2026-11-22T02:00', '2026-11-23T02:00', '2026-11-24T02:00']],
    ['0 0 * * MON-FRI', ['2026-11-23T00:00', '2026-11-24T00:00', '2026-11-25T00:00']],
    ['0 0 * * FRI-SUN', ['2026-11-22T00:00', '2026-11-27T00:00', '2026-11-28T00:00']],
    ['0 0 * * 7', ['2026-11-22T00:00', '2026-11-29T00:00', '2026-12-06T00:00']],
    ['0 0 * * 0', ['2026-11-22T00:00', '2026-11-29T00:00', '2026-12-06T00:00']],
    ['0 0 1 jan,Jul *', ['2027-01-01T00:00', '2027-07-01T00:00', '2028-01-01T00:00']],
    ['10-30/10 6,18 * * *', ['2026-11-21T18:10', '2026-11-21T18:20', '2026-11-21T18:30']],
    ['0 0 29 2 *', ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00']],
    ['@hourly', ['2026-11-21T18:00', '2026-11-21T19:00', '2026-11-21T20:00']],
    ['@daily', ['2026-11-22T00:00', '2026-11-23T00:00', '2026-11-24T00:00']],
    ['@weekly', ['2026-11-22T00:00', '2026-11-29T00:00', '2026-12-06T00:00']],
    ['@monthly', ['2026-12-01T00:00', '2027-01-01T00:00', '2027-02-01T00:00']],
    ['@yearly', ['2027-01-01T00:00', '2028-01-01T00:00', '2029-01-01T00:00']],
  ])('%s is accepted and comes three times', (schedule, expected) => {
    expect(scheduleProblem(schedule)).toBeNull();
    expect(times(schedule, from)).toEqual(expected);
  });

  it('is for the day of the month or that of the week when it names both (POSIX)', () => {
    expect(times('0 0 13 * 5', from, 4)).toEqual([
      '2026-11-27T00:00',
      '2026-12-04T00:00',
      '2026-12-11T00:00',
      '2026-12-13T00:00',
    ]);
    expect(times('0 0 13 * *', from, 1)).toEqual(['2026-12-13T00:00']);
  });

  it.each([
    ['60 * * * *', 'minute: "60" is out of range: 0 to 59'],
    ['* 24 * * *', 'hour: "24" is out of range: 0 to 23'],
    ['* * 0 * *', 'day of month: "0" is out of range: 1 to 31'],
    ['* * * 13 *', 'month: "13" is out of range: 1 to 12'],
    ['* * * * 8', 'day of week: "8" is out of range: 0 to 7'],
    ['*/0 * * * *', 'the step of "*/0" is 0'],
    ['*/60 * * * *', 'the step of "*/60" is above 59'],
    ['5/15 * * * *', 'has a step without a range'],
    ['*/5/2 * * * *', 'more than one step'],
    ['30-10 * * * *', '"30-10" is reversed'],
    ['* * * * SUN-SUN', 'one day or all seven'],
    ['1-2-3 * * * *', 'nor a range of two'],
    ['1,,2 * * * *', 'empty item'],
    ['-1 * * * *', 'is not *, a number from 0 to 59'],
    ['1e1 * * * *', 'is not *, a number'],
    ['\u0665 * * * *', 'is not *, a number'],
    ['* * * * FRIDAY', 'or a name such as MON'],
    ['* * * * * *', 'has 6 fields; seconds and years are not supported'],
    ['* * * *', 'has 4 fields'],
    ['', 'must not be empty'],
    [' \t', 'must not be empty'],
    ['@reboot', '@reboot is not supported'],
    ['@every 5m', 'is not one of @hourly'],
    ['0 0 L * *', 'contains L, which is not standard cron'],
    ['0 0 15W * *', 'contains W'],
    ['0 0 * * 5#2', 'contains #'],
    ['0 0 ? * *', 'contains ?'],
    ['0 0 31 2 *', 'never occurs'],
    ['0 0 31 4,6,9,11 *', 'never occurs'],
    [`${'0,'.repeat(maxScheduleLength)}0 * * * *`, `at most ${maxScheduleLength} characters`],
  ])('%j is refused with the reason', (schedule, reason) => {
    expect(scheduleProblem(schedule)).toContain(reason);
  });
});

describe('summer time', () => {
  // 28 March 2027: 02:00 becomes 03:00; 31 October 2027: 03:00 becomes 02:00 (+2 before, +1 after).
  const berlin = 'Europe/Berlin';
  // 14 March 2027: 02:00 becomes 03:00; 7 November 2027: 02:00 becomes 01:00 (-4 before, -5 after).
  const york = 'America/New_York';

  it.each([
    [
      'a fixed time that does not exist comes right after the gap',
      '30 2 * * *',
      berlin,
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00', '2027-03-29T00:30'],
    ],
    [
      'the same of a list of times',
      '30 2,14 * * *',
      berlin,
      '2027-03-27T14:00Z',
      ['2027-03-28T01:00', '2027-03-28T12:30', '2027-03-29T00:30'],
    ],
    [
      'every half hour goes on without a break',
      '*/30 * * * *',
      berlin,
      '2027-03-28T00:10Z',
      ['2027-03-28T00:30', '2027-03-28T01:00', '2027-03-28T01:30'],
    ],
    [
      'a fixed time that comes twice is taken once, the first time',
      '30 2 * * *',
      berlin,
      '2027-10-30T12:00Z',
      ['2027-10-31T00:30', '2027-11-01T01:30'],
    ],
    [
      'also when the clock stands between the two',
      '30 2 * * *',
      berlin,
      '2027-10-31T00:30Z',
      ['2027-11-01T01:30', '2027-11-02T01:30'],
    ],
    [
      'every hour has both',
      '30 * * * *',
      berlin,
      '2027-10-30T23:00Z',
      ['2027-10-30T23:30', '2027-10-31T00:30', '2027-10-31T01:30', '2027-10-31T02:30'],
    ],
    [
      'a fixed time that does not exist comes right after the gap',
      '30 2 * * *',
      york,
      '2027-03-13T12:00Z',
      ['2027-03-14T07:00', '2027-03-15T06:30'],
    ],
    [
      'every hour goes on without a break',
      '15 * * * *',
      york,
      '2027-03-14T05:30Z',
      ['2027-03-14T06:15', '2027-03-14T07:15', '2027-03-14T08:15'],
    ],
    [
      'a fixed time that comes twice is taken once, the first time',
      '30 1 * * *',
      york,
      '2027-11-06T12:00Z',
      ['2027-11-07T05:30', '2027-11-08T06:30'],
    ],
    [
      'every hour has both',
      '15 * * * *',
      york,
      '2027-11-07T04:30Z',
      ['2027-11-07T05:15', '2027-11-07T06:15', '2027-11-07T07:15'],
    ],
  ])('%s: %s in %s', (_what, schedule, zone, from, expected) => {
    expect(times(schedule, from, expected.length, zone)).toEqual(expected);
  });
});
