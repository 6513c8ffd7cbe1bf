import { PgBoss } from 'pg-boss';
import { describe, expect, it } from 'vitest';
import { CronSchedule } from '../domain/time/cron.ts';

const zone = 'Europe/Berlin';

/** The next times of a schedule, by pg-boss and by ours. */
function timesOf(schedule: string, from: string, count: number): Record<'boss' | 'ours', string[]> {
  const boss = new PgBoss('postgres://127.0.0.1/none');
  const dates = boss.previewSchedule(schedule, { tz: zone, from: new Date(from), count });
  const ours: string[] = [];
  const cron = new CronSchedule(schedule, zone);
  for (let time: Date | null = new Date(from); ours.length < count; ) {
    time = cron.after(time);
    if (time === null) break;
    ours.push(time.toISOString());
  }
  return { boss: dates.map((date) => date.toISOString()), ours };
}

describe('schedules of pg-boss, as docs/decisions/0006 says,', () => {
  it('agree on ordinary days', () => {
    const { boss, ours } = timesOf('30 2 * * 1', '2026-06-01T12:00:00Z', 3);
    expect(boss).toEqual(ours);
  });

  it('are late by what a time lies in the gap of spring', () => {
    expect(timesOf('30 2 * * *', '2026-03-28T12:00:00Z', 1)).toEqual({
      boss: ['2026-03-29T01:30:00.000Z'],
      ours: ['2026-03-29T01:00:00.000Z'],
    });
  });

  it('leave out the repeated hour of autumn, in which every 30 minutes is due again', () => {
    expect(timesOf('*/30 2 * * *', '2026-10-24T22:00:00Z', 4)).toEqual({
      boss: [
        '2026-10-25T00:00:00.000Z',
        '2026-10-25T00:30:00.000Z',
        '2026-10-26T01:00:00.000Z',
        '2026-10-26T01:30:00.000Z',
      ],
      ours: [
        '2026-10-25T00:00:00.000Z',
        '2026-10-25T00:30:00.000Z',
        '2026-10-25T01:00:00.000Z',
        '2026-10-25T01:30:00.000Z',
      ],
    });
  });
});
