import { describe, expect, it } from 'vitest';
import type { CursorPosition } from '../cursor.ts';
import { countInWindows, newestOfAll, rowsInWindows, type SearchedList, stepBack } from './age-windows.ts';

const rows = 12_001;
const places = Array.from(
  { length: rows },
  (_, index): CursorPosition => ({ createdAt: numeral(rows - index), id: '' }),
);
const asked: number[] = [];

/** Every 100th row matches. */
const list: SearchedList<string> = {
  nthBefore: async (position, n) => below(position)[n - 1] ?? null,
  count: async (range) => inside(range).length,
  rows: async (range, limit, offset) => inside(range).slice(offset, offset + limit),
};

function numeral(number: number): string {
  return String(number).padStart(5, '0');
}

function below({ createdAt }: CursorPosition): CursorPosition[] {
  return places.filter((place) => place.createdAt < createdAt);
}

function inside({ before, from }: { before: CursorPosition; from: CursorPosition | null }): string[] {
  const looked = below(before).filter(({ createdAt }) => from === null || createdAt >= from.createdAt);
  asked.push(looked.length);
  return looked.map(({ createdAt }) => createdAt).filter((text) => Number(text) % 100 === 0);
}

describe('a list that is searched in windows', () => {
  const found = Array.from({ length: 120 }, (_, index) => numeral(12_000 - index * 100));

  it('looks at every row once and at 5000 at a time to count', async () => {
    asked.length = 0;
    expect(await countInWindows(list)).toBe(120);
    expect(asked).toEqual([5000, 5000, 2001]);
  });

  it.each([
    [0, 10],
    [49, 3],
    [115, 50],
    [120, 5],
    [0, 200],
  ])('skips %i rows and reads %i', async (offset, limit) => {
    expect(await rowsInWindows(list, newestOfAll, limit, offset)).toEqual(
      found.slice(offset, offset + limit),
    );
  });

  it('begins at a position and stops when it has enough', async () => {
    asked.length = 0;
    expect(await rowsInWindows(list, { createdAt: '10000', id: '' }, 2, 0)).toEqual(['09900', '09800']);
    expect(asked).toEqual([5000]);
  });
});

it('steps over very many rows by 20,000 at a time', async () => {
  const steps: number[] = [];
  const step = async ({ createdAt }: CursorPosition, n: number) => {
    steps.push(n);
    return n > 30 && steps.length > 2 ? null : { createdAt: `${createdAt}+${n}`, id: '' };
  };
  expect(await stepBack({ createdAt: '', id: '' }, 40_007, step)).toEqual({
    createdAt: '+20000+20000+7',
    id: '',
  });
  expect(await stepBack(newestOfAll, 0, step)).toBe(newestOfAll);
  expect(await stepBack(newestOfAll, 90_000, step)).toBeNull();
});
