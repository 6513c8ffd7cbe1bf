import { describe, expect, it } from 'vitest';
import { AdaptiveConcurrency, type WorkEnd } from './concurrency.ts';

/** A service fleet in simulated time: each session takes a second, and ends as the load decides. */
function simulate(input: {
  items: number;
  most: number;
  end: (running: number, at: number) => WorkEnd;
  lostShare?: (running: number) => number;
}) {
  let now = 0;
  let lostMs = 0;
  let highest = 0;
  const limits: number[] = [];
  const adaptive = new AdaptiveConcurrency({ most: input.most, lostMs: () => lostMs, clock: () => now });
  const running: { until: number; end: WorkEnd }[] = [];
  let left = input.items;
  const stepMs = 10;
  while (left > 0 || running.length > 0) {
    while (left > 0 && running.length < adaptive.limit) {
      left -= 1;
      running.push({ until: now + 1000, end: input.end(running.length + 1, now) });
    }
    highest = Math.max(highest, running.length);
    now += stepMs;
    lostMs += stepMs * (input.lostShare?.(running.length) ?? 0);
    const ended = running.filter(({ until }) => until <= now);
    for (const each of ended) {
      running.splice(running.indexOf(each), 1);
      adaptive.note(each.end, left > 0);
    }
    limits.push(adaptive.limit);
  }
  return { seconds: now / 1000, highest, limits, limit: adaptive.limit };
}

describe('AdaptiveConcurrency', () => {
  it('finishes 4,096 services of a second each in a few seconds, never above its bound', () => {
    const { seconds, highest } = simulate({ items: 4096, most: 1000, end: () => 'good' });
    expect(seconds).toBeLessThan(10);
    expect(highest).toBe(1000);
  });

  it('stays where it is while nothing waits for it', () => {
    const { limit } = simulate({ items: 100, most: 1000, end: () => 'good' });
    expect(limit).toBe(100);
  });

  it('takes a bound below its start as the limit', () => {
    const { highest } = simulate({ items: 500, most: 7, end: () => 'good' });
    expect(highest).toBe(7);
  });

  it('settles near what targets bear, and loses little on the way', () => {
    let lost = 0;
    const end = (running: number): WorkEnd => {
      if (running <= 400) return 'good';
      lost += 1;
      return 'lost';
    };
    const { limits } = simulate({ items: 20_000, most: 1000, end });
    const late = limits.slice(Math.floor(limits.length / 2), -200);
    expect(Math.max(...late)).toBeLessThan(600);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(200);
    expect(lost).toBeLessThan(2000);
  });

  it('takes a constant share of silent services for the usual', () => {
    let count = 0;
    const end = (): WorkEnd => (++count % 4 === 0 ? 'lost' : 'good');
    const { highest } = simulate({ items: 5000, most: 1000, end });
    expect(highest).toBeGreaterThan(900);
  });

  it('halves at a shortage of this machine, once a second at most, and never goes below its start', () => {
    const end = (running: number): WorkEnd => (running > 300 ? 'shortage' : 'good');
    const { highest, limits } = simulate({ items: 6000, most: 1000, end });
    expect(highest).toBeLessThan(500);
    expect(Math.min(...limits)).toBe(100);
  });

  it('does not grow where the event loop is busy, and goes back where it cannot keep up', () => {
    const busy = simulate({ items: 3000, most: 1000, end: () => 'good', lostShare: () => 0.3 });
    expect(busy.highest).toBeLessThan(150);
    const overloaded = simulate({
      items: 8000,
      most: 1000,
      end: () => 'good',
      lostShare: (running) => (running > 500 ? 0.8 : 0),
    });
    expect(overloaded.limits.at(-1)).toBeLessThan(700);
    expect(overloaded.highest).toBeLessThan(900);
  });
});
