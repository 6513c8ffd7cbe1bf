import { expect, it } from 'vitest';
import { inVirtualTime } from '../../../../test/virtual-time.ts';
import { PacketRateLimiter } from '../../gate/rate.ts';
import { CreditFeed } from './credit-feed.ts';

it.each([500, 10_000, 200_000])('hands over %i packets a second in some hundred orders', async (rate) => {
  let [packets, orders] = [0, 0];
  const { ms } = await inVirtualTime(async () => {
    const feed = new CreditFeed(new PacketRateLimiter({ rate }), new AbortController().signal);
    for (const end = performance.now() + 1000; performance.now() < end; orders += 1) {
      const { count, lowWater } = await feed.next();
      expect(count).toBeLessThanOrEqual(Math.max(1, rate * 0.005));
      expect(lowWater).toBe(Math.floor(Math.max(1, Math.floor(rate * 0.005)) / 2));
      packets += count;
    }
  }, 1);
  const seconds = ms / 1000;
  expect(packets).toBeLessThanOrEqual(rate * (seconds + 0.05));
  expect(packets).toBeGreaterThan(rate * seconds * 0.8);
  expect(orders).toBeLessThanOrEqual(500 * seconds + 2);
});

it('gives nothing once the signal aborts', async () => {
  const stop = new AbortController();
  const feed = new CreditFeed(new PacketRateLimiter({ rate: 1 }), stop.signal);
  expect((await feed.next()).count).toBe(1);
  setTimeout(() => stop.abort(), 20);
  expect((await feed.next()).count).toBe(0);
});
