import { describe, expect, it } from 'vitest';
import { RemainingTime, type SendingWork } from './remaining-time.ts';

const work = (tried: number, total: number, isWhole = true): SendingWork => ({
  tried,
  not_tried: total - tried,
  unit: 'ports',
  isWhole,
});

describe('RemainingTime', () => {
  it('is the rest at the mean rate of the last 30 s, and names both', () => {
    const remaining = new RemainingTime();
    for (let second = 0; second <= 60; second++)
      remaining.add(work(second < 30 ? 0 : (second - 30) * 498, 100_000), false, second * 1000);
    expect(remaining.estimate(work(14_940, 96_700), 15, 60_000)).toEqual({
      seconds: Math.ceil(81_760 / 498),
      basis: '81,760 ports at 498/s, mean of the last 30 s',
    });
  });

  it('does not count the time of a pause', () => {
    const remaining = new RemainingTime();
    for (const second of [0, 1, 2, 3, 4]) remaining.add(work(second * 10, 1000), false, second * 1000);
    remaining.add(work(40, 1000), true, 600_000);
    for (const second of [700, 701, 702, 703])
      remaining.add(work(40 + (second - 700) * 10, 1000), false, second * 1000);
    expect(remaining.estimate(work(70, 1000), 7, 7000)?.basis).toBe(
      '930 ports at 10/s, mean of the last 3 s',
    );
  });

  it('falls back to the share that is done while more hosts may be found', () => {
    const remaining = new RemainingTime();
    expect(remaining.estimate(work(0, 100, false), 40, 0)).toBeNull();
    expect(remaining.estimate(work(50, 100, false), 60, 20_000)).toEqual({
      seconds: 40,
      basis: '20 % of all work done in 20 s',
    });
  });

  it('is unknown at the start', () => {
    const remaining = new RemainingTime();
    remaining.add(work(0, 1000), false, 0);
    remaining.add(work(10, 1000), false, 500);
    expect(remaining.estimate(work(10, 1000), 1, 500)).toBeNull();
  });
});
