import { expect, it } from 'vitest';
import { FirstRequests } from './first-requests.ts';
import { AdaptiveRate } from './rate.ts';

/** One in two hosts responds after 5 ms; of more than `bearable` packets per second only so many get through. */
function sweep(bearable: number, ms: number): AdaptiveRate {
  let now = 0;
  const rate = new AdaptiveRate({ start: 1000, least: 100, most: 20_000 }, () => now);
  const counts = { sent: [0, 0] as [number, number], responses: [0, 0] as [number, number] };
  const first = new FirstRequests(rate, counts, now);
  const due: { at: number; parity: 0 | 1; count: number }[] = [];
  for (; now < ms; now += 5) {
    const sent = (rate.rate * 5) / 1000;
    counts.sent[first.parity] += sent;
    due.push({ at: now + 5, parity: first.parity, count: Math.min(sent, (bearable * 5) / 1000) / 2 });
    while (due[0] && due[0].at <= now) {
      const { parity, count } = due.shift() as (typeof due)[0];
      counts.responses[parity] += count;
    }
    first.tick(now, 5);
  }
  return rate;
}

it('raises the rate while the usual share of hosts responds', () => {
  expect(sweep(Infinity, 3000).rate).toBe(20_000);
  expect(sweep(0, 3000).rate).toBe(1000);
});

it('lowers it where responses are missing', () => {
  const rate = sweep(4000, 3000);
  expect(rate.shortAt).toBeGreaterThan(4000);
  expect(rate.highest).toBeLessThan(20_000);
});
