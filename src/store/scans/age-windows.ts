import { setImmediate } from 'node:timers/promises';
import type { CursorPosition } from '../cursor.ts';

/** Rows of a list between two positions, newest first. */
export interface AgeRange {
  /** Exclusive. */
  before: CursorPosition;
  /** Inclusive; null = down to the oldest. */
  from: CursorPosition | null;
}

/** A list whose filter no index serves: to find what matches, every row is looked at. */
export interface SearchedList<Row> {
  /** Position of the n-th row before another one, whether it matches or not; null when there are fewer. */
  nthBefore(position: CursorPosition, n: number): Promise<CursorPosition | null>;
  /** Rows that match. */
  count(range: AgeRange): Promise<number>;
  rows(range: AgeRange, limit: number, offset: number): Promise<Row[]>;
}

/** Rows that one statement looks at: some milliseconds of the event loop. */
const windowRows = 5000;

/** Later than every time and id of a list. */
export const newestOfAll: CursorPosition = { createdAt: '9999', id: '' };

/** Parts of a list, newest first; the event loop has its turn after each. */
async function* windows(list: SearchedList<unknown>, start: CursorPosition): AsyncGenerator<AgeRange> {
  for (let before: CursorPosition | null = start; before !== null; await setImmediate()) {
    const from: CursorPosition | null = await list.nthBefore(before, windowRows);
    yield { before, from };
    before = from;
  }
}

export async function countInWindows(list: SearchedList<unknown>): Promise<number> {
  let sum = 0;
  for await (const range of windows(list, newestOfAll)) sum += await list.count(range);
  return sum;
}

/** @returns so many rows before a position at most, after those that are skipped */
export async function rowsInWindows<Row>(
  list: SearchedList<Row>,
  start: CursorPosition,
  limit: number,
  offset: number,
): Promise<Row[]> {
  const found: Row[] = [];
  let skip = offset;
  for await (const range of windows(list, start)) {
    const skipped = skip === 0 ? 0 : Math.min(skip, await list.count(range));
    found.push(...(await list.rows(range, limit - found.length, skipped)));
    skip -= skipped;
    if (found.length === limit) break;
  }
  return found;
}

/** Index entries that one statement steps over. */
const entriesAtOnce = 20_000;

/**
 * Position of the n-th row before another one, in steps that leave the event loop free.
 *
 * @param step does the same in one statement
 * @returns null when there are fewer
 */
export async function stepBack(
  start: CursorPosition,
  n: number,
  step: (position: CursorPosition, n: number) => Promise<CursorPosition | null>,
): Promise<CursorPosition | null> {
  let position: CursorPosition | null = start;
  for (let left = n; left > 0 && position !== null; left -= entriesAtOnce) {
    position = await step(position, Math.min(left, entriesAtOnce));
    await setImmediate();
  }
  return position;
}
