import { expect, it } from 'vitest';
import { noFindings, type SeverityCounts, severities } from '../../../domain/finding.ts';
import { urgencyRank } from '../../../domain/finding-order.ts';
import { worstOrder } from './hosts.ts';

const counts = (some: Partial<SeverityCounts>): SeverityCounts => ({ ...noFindings(), ...some });

/** Of a host whose worst finding is certain. */
const orderOf = (host: SeverityCounts) => {
  const severity = severities.find((name) => host[name] > 0) ?? 'info';
  return worstOrder(host, urgencyRank({ severity, class: 'certain', exploited: false }));
};

it('orders hosts by their worst severity, its count, and the count of the next one', () => {
  const expected = [
    counts({ critical: 1_000_000, info: 1_000_000 }),
    counts({ critical: 2 }),
    counts({ critical: 1, high: 2 }),
    counts({ critical: 1, high: 1, medium: 900 }),
    counts({ critical: 1 }),
    counts({ high: 9999, low: 9999 }),
    counts({ high: 1 }),
    counts({ medium: 5000 }),
    counts({ low: 1 }),
    counts({ info: 1 }),
    counts({}),
  ];
  const orders = expected.map(orderOf);
  expect(orders).toEqual(orders.toSorted((a, b) => a - b));
  expect(new Set(orders).size).toBe(orders.length);
});

it('fits into the integers of CSS', () => {
  const most = worstOrder(counts({ critical: Number.MAX_SAFE_INTEGER, high: Number.MAX_SAFE_INTEGER }), 0);
  expect(most).toBeGreaterThan(-(2 ** 31));
  expect(orderOf(counts({}))).toBe(0);
});

it('a host whose worst finding is likely comes before one whose worst is possible', () => {
  const rank = (name: 'likely' | 'possible') =>
    urgencyRank({ severity: 'high', class: name, exploited: false });
  expect(worstOrder(counts({ high: 1 }), rank('likely'))).toBeLessThan(
    worstOrder(counts({ high: 9 }), rank('possible')),
  );
});
