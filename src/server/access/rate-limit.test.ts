import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiRateLimiter, rateHeaders } from './rate-limit.ts';

function limiter(limit: number) {
  const time = { now: 0 };
  return { time, rate: new ApiRateLimiter('default', limit, () => time.now) };
}

describe('a bucket', () => {
  it('holds the limit and is refilled evenly', () => {
    const { time, rate } = limiter(100);
    for (let left = 99; left >= 0; left--)
      expect(rate.take('a')).toMatchObject({ allowed: true, remaining: left });
    expect(rate.take('a')).toEqual({ allowed: false, remaining: 0, nextMs: 600, fullMs: 60_000 });
    expect(rate.take('b')).toMatchObject({ allowed: true, remaining: 99 });
    time.now += 599;
    expect(rate.take('a')).toMatchObject({ allowed: false });
    time.now += 2;
    expect(rate.take('a')).toMatchObject({ allowed: true, remaining: 0 });
    expect(rate.take('a')).toMatchObject({ allowed: false });
    time.now += 3_600_000;
    expect(rate.take('a')).toMatchObject({ allowed: true, remaining: 99 });
  });

  it('is not touched by a look', () => {
    const { rate } = limiter(2);
    for (let look = 0; look < 3; look++) expect(rate.take('a', 0)).toMatchObject({ remaining: 2, fullMs: 0 });
    rate.take('a');
    expect(rate.take('a', 0)).toMatchObject({ allowed: true, remaining: 1, fullMs: 30_000 });
  });

  it('never lets more through than the limit and what was refilled, and never less', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 300 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), pauses, (limit, waits) => {
        const { time, rate } = limiter(limit);
        let passed = 0;
        for (const wait of waits) {
          time.now += wait;
          if (rate.take('a').allowed) passed++;
          else expect(passed).toBeGreaterThanOrEqual(limit);
          expect(passed).toBeLessThanOrEqual(limit + (time.now * limit) / 60_000 + 1e-6);
        }
      }),
    );
  });

  it('of many clients stays within its memory, the busy ones remembered', () => {
    const { rate } = limiter(3);
    for (let client = 0; client < 30_000; client++) {
      rate.take(String(client));
      if (client % 5000 === 0) rate.take('busy');
    }
    expect(rate.clients).toBe(10_000);
    expect(rate.take('busy')).toMatchObject({ allowed: false });
  });
});

describe('the headers', () => {
  it('are those of the contract', () => {
    const { rate } = limiter(100);
    expect(rateHeaders(rate, rate.take('a'), 1_000_000)).toEqual({
      'ratelimit-policy': '"default";q=100;w=60',
      ratelimit: '"default";r=99;t=1',
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': '1001',
    });
  });

  it('say when to come again, in whole seconds of at least one', () => {
    const { time, rate } = limiter(100);
    for (let request = 0; request < 100; request++) rate.take('a');
    expect(rateHeaders(rate, rate.take('a'))).toMatchObject({
      'retry-after': '1',
      ratelimit: '"default";r=0;t=60',
    });
    const slow = limiter(2).rate;
    for (let request = 0; request < 2; request++) slow.take('a');
    expect(rateHeaders(slow, slow.take('a'))['retry-after']).toBe('30');
    time.now += 599.9;
    expect(rateHeaders(rate, rate.take('a'))['retry-after']).toBe('1');
  });
});
