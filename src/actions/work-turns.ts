import { setImmediate as nextPhase } from 'node:timers/promises';

/** Items of a long list that are read, or turned into text, in one turn of the event loop: some 5 ms of work. */
export const itemsPerTurn = 100;

let last: Promise<void> = Promise.resolve();

/**
 * Resolves in a turn of the event loop that no other long answer takes: however many are under way, short ones wait for
 * one part of one of them.
 */
export async function nextTurn(): Promise<void> {
  last = last.then(() => nextPhase());
  await last;
}

/** Maps a long list, part by part. */
export async function mapInTurns<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  if (items.length <= itemsPerTurn) return items.map(map);
  const mapped: R[] = [];
  for (let at = 0; at < items.length; at += itemsPerTurn) {
    await nextTurn();
    for (const item of items.slice(at, at + itemsPerTurn)) mapped.push(map(item));
  }
  return mapped;
}
