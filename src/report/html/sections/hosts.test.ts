import { expect, it } from 'vitest';
import { noFindings, type SeverityCounts } from '../../../domain/finding.ts';
import { worstOrder } from './hosts.ts';

const counts = (some: Partial<SeverityCounts>): SeverityCounts => ({ ...noFindings(), ...some });

it('orders hosts by their worst severity, its count, and the count of the next one', () => {
  const expected = [
    counts({ critical: 1_000_000, info: 1_000_000 }),
    counts({ critical: 2 }),
    counts({ critical: 1, high: 2 }),
    counts({ critical: 1, high: 1, medium: 900 }),
    counts({ critical: 1 }),
    counts({ high: 9999, low: 29_999 }),
    counts({ high: 1 }),
    counts({ medium: 5000 }),
    counts({ low: 1 }),
    counts({ info: 1 }),
    counts({}),
  ];
  const orders = expected.map(worstOrder);
  expect(orders).toEqual(orders.toSorted((a, b) => a - b));
  expect(new Set(orders).size).toBe(orders.length);
});

it('fits into the integers of CSS', () => {
  const most = worstOrder(counts({ critical: Number.MAX_SAFE_INTEGER, high: Number.MAX_SAFE_INTEGER }));
  expect(most).toBeGreaterThan(-(2 ** 31));
  expect(worstOrder(counts({}))).toBe(0);
});
