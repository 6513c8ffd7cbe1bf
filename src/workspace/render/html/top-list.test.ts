import { expect, it } from 'vitest';
import { TopList } from './top-list.ts';

it('keeps the first of an order, equal ones as they came, whatever their number', () => {
  const list = new TopList<{ rank: number; name: number }>(3, (a, b) => a.rank - b.rank);
  for (let name = 0; name < 1000; name++) list.add({ rank: name % 7, name });
  expect(list.items()).toEqual([0, 7, 14].map((name) => ({ rank: 0, name })));
  expect(list.seen).toBe(1000);
});
