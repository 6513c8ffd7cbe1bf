import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import { PacketRateLimiter } from './rate.ts';

const { signal } = new AbortController();

describe('RateLimiter', () => {
  it('grants at most rate + 5 % in any second, whenever tokens are requested', () => {
    const steps = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), steps, (rate, waits) => {
        let now = 0;
        const limiter = new PacketRateLimiter({ rate, clock: () => now });
        const granted: number[] = [];
        for (const wait of waits) {
          now += wait;
          while (limiter.tryTake()) granted.push(now);
        }
        for (const [at, start] of granted.entries()) {
          const end = granted.findIndex((time) => time >= start + 1000);
          const inWindow = (end < 0 ? granted.length : end) - at;
          if (inWindow > Math.max(1, rate * 1.05)) return false;
        }
        return true;
      }),
      { numRuns: 50 },
    );
  });

  it('delays later requests for packets that were sent without a token', () => {
    let now = 0;
    const limiter = new PacketRateLimiter({ rate: 10, clock: () => now });
    const module = new PacketRateLimiter({ rate: 5, clock: () => now, upstream: limiter });
    for (let packet = 0; packet < 4; packet++) module.charge();
    now = 350;
    expect(limiter.tryTake()).toBe(false);
    now = 410;
    expect(limiter.tryTake()).toBe(true);
    now = 750;
    expect(module.tryTake()).toBe(false);
    now = 810;
    expect(module.tryTake()).toBe(true);
  });

  it('keeps the rate by its timers and serves in order', async () => {
    const order: number[] = [];
    const { ms } = await inVirtualTime(async () => {
      const limiter = new PacketRateLimiter({ rate: 2000 });
      await Promise.all(
        Array.from({ length: 600 }, async (_, index) => {
          if (await limiter.take(signal)) order.push(index);
        }),
      );
    }, 1);
    const seconds = ms / 1000;
    expect(order).toEqual(Array.from({ length: 600 }, (_, index) => index));
    expect(600 / seconds).toBeGreaterThan(2000 * 0.85);
    expect((600 - 81) / seconds).toBeLessThan(2000 * 1.05);
  });

  it('shares tokens between one large request and many requests of one', async () => {
    let singles = 0;
    let batched = 0;
    await inVirtualTime(async () => {
      const limiter = new PacketRateLimiter({ rate: 2000 });
      const stop = new AbortController();
      const lane = async () => {
        while (await limiter.take(stop.signal)) singles += 1;
      };
      const batches = async () => {
        for (let granted = 1; granted > 0; batched += granted)
          granted = await limiter.takeUpTo(64, stop.signal);
      };
      setTimeout(() => stop.abort(), 500);
      await Promise.all([batches(), ...Array.from({ length: 200 }, lane)]);
    }, 1);
    expect(singles + batched).toBeLessThan(1000 * 1.1);
    expect(batched).toBeGreaterThan((singles + batched) / 12);
  });

  it('lets those who wait go when the signal aborts', async () => {
    const limiter = new PacketRateLimiter({ rate: 1 });
    const cancel = new AbortController();
    expect(await limiter.take(signal)).toBe(true);
    const waiting = limiter.take(cancel.signal);
    cancel.abort();
    expect(await waiting).toBe(false);
    expect(await limiter.take(cancel.signal)).toBe(false);
  });

  it('holds the rate of the scan above its own', async () => {
    let now = 0;
    const scan = new PacketRateLimiter({ rate: 10, clock: () => now });
    const module = new PacketRateLimiter({ rate: 1000, clock: () => now, upstream: scan });
    expect(module.tryTake()).toBe(true);
    expect(module.tryTake()).toBe(false);
    now += 100;
    expect(module.tryTake()).toBe(true);
    expect(scan.tryTake()).toBe(false);
  });

  it('keeps the sum of several within their sum of rates + 5 % in any second, however it is divided anew', () => {
    const change = fc.record({
      wait: fc.double({ min: 0, max: 600, noNaN: true }),
      weights: fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5)),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 3000 }),
        fc.array(change, { maxLength: 25 }),
        (total, changes) => {
          let now = 0;
          const limiters = [0, 1, 2].map(() => new PacketRateLimiter({ rate: total, clock: () => now }));
          for (const limiter of limiters) limiter.setRate(0);
          const granted: number[] = [];
          for (const { wait, weights } of changes) {
            for (const end = now + wait; now < end; now += 7) {
              for (const limiter of limiters) while (limiter.tryTake()) granted.push(now);
            }
            const all = weights.reduce((sum, weight) => sum + weight, 0);
            // In any order: no token can be taken in between at one instant of the clock.
            for (const [at, limiter] of limiters.entries()) {
              limiter.setRate(all === 0 ? 0 : Math.floor((total * (weights[at] ?? 0)) / all));
            }
          }
          return granted.every((start, at) => {
            const end = granted.findIndex((time) => time >= start + 1000);
            return (end < 0 ? granted.length : end) - at <= total * 1.05;
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('grants nothing at rate 0 and keeps all waiting requests', async () => {
    const limiter = new PacketRateLimiter({ rate: 100 });
    limiter.setRate(0);
    let served = 0;
    const waiting = Promise.all([1, 2, 3].map(() => limiter.take(signal).then(() => (served += 1))));
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect([limiter.tryTake(), served]).toEqual([false, 0]);
    limiter.setRate(1000);
    await waiting;
    expect(limiter.ceiling).toBe(100);
  });

  it('grants nothing while it is held, and does not catch up afterwards', () => {
    let now = 0;
    const limiter = new PacketRateLimiter({ rate: 100, clock: () => now });
    while (limiter.tryTake());
    limiter.hold();
    now = 10_000;
    expect(limiter.tryTake()).toBe(false);
    limiter.release();
    expect(limiter.tryTake()).toBe(false);
    now += 11;
    expect([limiter.tryTake(), limiter.tryTake()]).toEqual([true, false]);
  });
});
