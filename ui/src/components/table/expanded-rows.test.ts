import { expect, it } from 'vitest';
import { ExpandedRows } from './expanded-rows.ts';

it('is the list itself while nothing is unfolded', () => {
  const rows = new ExpandedRows(1_000_000, new Map());
  expect(rows.total).toBe(1_000_000);
  expect(rows.at(999_999)).toEqual({ parent: 999_999, child: null });
});

it('puts rows below their parents', () => {
  const rows = new ExpandedRows(
    5,
    new Map([
      [3, 1],
      [1, 2],
    ]),
  );
  const all = Array.from({ length: rows.total }, (_, index) => rows.at(index));
  expect(all).toEqual([
    { parent: 0, child: null },
    { parent: 1, child: null },
    { parent: 1, child: 0 },
    { parent: 1, child: 1 },
    { parent: 2, child: null },
    { parent: 3, child: null },
    { parent: 3, child: 0 },
    { parent: 4, child: null },
  ]);
});

it('finds parents again', () => {
  const rows = new ExpandedRows(
    9,
    new Map([
      [0, 3],
      [4, 0],
      [5, 2],
    ]),
  );
  for (let parent = 0; parent < 9; parent++) {
    expect(rows.at(rows.indexOf(parent))).toEqual({ parent, child: null });
  }
});

it('leaves out parents that the list no longer has', () => {
  expect(new ExpandedRows(2, new Map([[7, 4]])).total).toBe(2);
});
