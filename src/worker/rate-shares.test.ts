import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateShares } from './rate-shares.ts';

const sum = (shares: Map<string, number>) => [...shares.values()].reduce((total, share) => total + share, 0);

it('gives everybody what was asked for while there is enough', () => {
  expect(Object.fromEntries(rateShares(new Map(Object.entries({ a: 100, b: 200 })), 300))).toEqual({
    a: 100,
    b: 200,
  });
  expect(rateShares(new Map(), 10).size).toBe(0);
});

it('divides what is too little evenly, and leaves a low rate as it was requested', () => {
  const shares = (asked: Record<string, number>, total: number) =>
    Object.fromEntries(rateShares(new Map(Object.entries(asked)), total));
  expect(shares({ a: 1000, b: 500, c: 500 }, 900)).toEqual({ a: 300, b: 300, c: 300 });
  expect(shares({ auto: 100_000, named: 1000, other: 100_000 }, 100_000)).toEqual({
    auto: 49_500,
    named: 1000,
    other: 49_500,
  });
});

it('never gives more than there is, nor more than was asked for, nor nothing', () => {
  const rates = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 100_000 }), (asked, total) => {
      const shares = rateShares(new Map(asked.map((rate, index) => [String(index), rate])), total);
      const each = [...shares].every(([id, share]) => share > 0 && share <= (asked[Number(id)] ?? 0));
      return each && sum(shares) <= total * 1.000_001;
    }),
  );
});
