import { setImmediate } from 'node:timers/promises';

/** Items read or rendered per turn of the event loop: some 5 ms of work. */
export const itemsPerTurn = 100;

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the work of long responses sequentially: concurrently they would all be late, and keep their parts in memory
 * meanwhile. Short responses run between the parts, see `nextTurn`.
 */
export async function oneByOne<T>(work: () => Promise<T>): Promise<T> {
  const turn = last.then(work);
  last = turn.catch(() => undefined).then(nextTurn);
  return await turn;
}

/** Yields to the event loop. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
}

/** Maps a long list, chunk by chunk. */
export async function mapInTurns<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  if (items.length <= itemsPerTurn) return items.map(map);
  return await oneByOne(async () => {
    const mapped: R[] = [];
    for (let at = 0; at < items.length; at += itemsPerTurn) {
      if (at > 0) await nextTurn();
      for (const item of items.slice(at, at + itemsPerTurn)) mapped.push(map(item));
    }
    return mapped;
  });
}
