import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateRecorder } from './rate-history.ts';

const start = Date.parse('2026-10-06T14:30:22.000Z');

describe('RateRecorder', () => {
  it('has the mean of each second, and 0 for silence', () => {
    const recorder = new RateRecorder(null, start);
    for (const [ms, rate] of [
      [0, 100],
      [500, 200],
      [1000, 50],
      [4200, 10],
    ] as const)
      recorder.add(rate, start + ms);
    expect(recorder.history).toEqual({
      interval_seconds: 1,
      from: '2026-10-06T14:30:22.000Z',
      values: [150, 50, 0, 0, 10],
    });
  });

  it('doubles the interval instead of dropping the start', () => {
    const recorder = new RateRecorder(null, start);
    for (let second = 0; second < 300; second++) recorder.add(second < 120 ? 40 : 80, start + second * 1000);
    const { interval_seconds, values } = recorder.history;
    expect([interval_seconds, values.length]).toEqual([2, 150]);
    expect([values[0], values[59], values[60], values.at(-1)]).toEqual([40, 40, 80, 80]);
  });

  it('goes on after an interruption, which is silence', () => {
    const before = new RateRecorder(null, start);
    before.add(10, start);
    const after = new RateRecorder(before.history, start + 3000);
    after.add(20, start + 3000);
    expect(after.history.values).toEqual([10, 0, 0, 20]);
  });

  it('never has more than 240 values, and never loses time', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1e7 }), { maxLength: 60 }), (gaps) => {
        const recorder = new RateRecorder(null, start);
        let now = start;
        for (const gap of gaps) {
          now += gap;
          recorder.add(1, now);
        }
        const { interval_seconds, values } = recorder.history;
        expect(values.length).toBeLessThanOrEqual(240);
        if (values.length > 0) expect(values.length * interval_seconds * 1000).toBeGreaterThan(now - start);
      }),
    );
  });

  it('is not confused by a clock that is set back', () => {
    const recorder = new RateRecorder(null, start);
    recorder.add(10, start + 2000);
    recorder.add(30, start - 60_000);
    expect(recorder.history.values).toEqual([0, 0, 20]);
  });
});
