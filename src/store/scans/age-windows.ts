import { setImmediate } from 'node:timers/promises';
import type { CursorPosition } from '../cursor.ts';

/** Rows of a list between two positions, newest first. */
export interface AgeRange {
  /** Exclusive. */
  before: CursorPosition;
  /** Inclusive; null = down to the oldest. */
  from: CursorPosition | null;
}

/** A list whose filter has no index: finding matches reads every row. */
export interface SearchedList<Row> {
  /** Position of the n-th row before another one, matching or not; null if there are fewer. */
  nthBefore(position: CursorPosition, n: number): Promise<CursorPosition | null>;
  /** Rows that match. */
  count(range: AgeRange): Promise<number>;
  rows(range: AgeRange, limit: number, offset: number): Promise<Row[]>;
}

/** Rows that one statement reads: a few milliseconds of the event loop. */
const windowRows = 5000;

/** Sorts after every time and id. */
export const newestOfAll: CursorPosition = { createdAt: '9999', id: '' };

/** Windows of a list, newest first; yields to the event loop after each. */
export async function* windows(
  list: Pick<SearchedList<unknown>, 'nthBefore'>,
  start: CursorPosition,
): AsyncGenerator<AgeRange> {
  for (let before: CursorPosition | null = start; before !== null; await setImmediate()) {
    const from: CursorPosition | null = await list.nthBefore(before, windowRows);
    yield { before, from };
    before = from;
  }
}

/** The newest rows, then all others. */
export async function* newestAndRest(
  list: Pick<SearchedList<unknown>, 'nthBefore'>,
  start: CursorPosition,
  newest: number,
): AsyncGenerator<AgeRange> {
  const from = await list.nthBefore(start, newest);
  yield { before: start, from };
  if (from !== null) yield { before: from, from: null };
}

export async function countInWindows(list: SearchedList<unknown>): Promise<number> {
  let sum = 0;
  for await (const range of windows(list, newestOfAll)) sum += await list.count(range);
  return sum;
}

/**
 * @param ranges in which the rows are looked for, newest first
 * @returns up to `limit` rows before a position, after skipping some
 */
export async function rowsInWindows<Row>(
  list: SearchedList<Row>,
  start: CursorPosition,
  limit: number,
  offset: number,
  ranges: AsyncIterable<AgeRange> = windows(list, start),
): Promise<Row[]> {
  const found: Row[] = [];
  let skip = offset;
  for await (const range of ranges) {
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
 * Position of the n-th row before another one, in steps that do not block the event loop.
 *
 * @param step does the same in one statement
 * @returns null if there are fewer
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
