import { setImmediate } from 'node:timers/promises';

/** Rows that one statement deletes: more would hold up the event loop, or other writers, for longer than some 10 ms. */
const rowsAtOnce = 500;

/**
 * Deletes rows step by step, until a step finds fewer than it may delete.
 *
 * @param step deletes so many rows at most, and returns how many it did
 * @returns how many rows are gone
 */
export async function deleteInSteps(step: (limit: number) => Promise<number>): Promise<number> {
  for (let sum = 0; ; await setImmediate()) {
    const deleted = await step(rowsAtOnce);
    sum += deleted;
    if (deleted < rowsAtOnce) return sum;
  }
}
