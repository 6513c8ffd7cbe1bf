import { setImmediate } from 'node:timers/promises';

/** Maximum rows deleted per statement: more would block the event loop or other writers for over 10 ms. */
const rowsAtOnce = 500;

/**
 * Deletes rows in steps, until a step deletes fewer than its limit.
 *
 * @param step deletes at most `limit` rows and returns how many
 * @returns number of deleted rows
 */
export async function deleteInSteps(step: (limit: number) => Promise<number>): Promise<number> {
  for (let sum = 0; ; await setImmediate()) {
    const deleted = await step(rowsAtOnce);
    sum += deleted;
    if (deleted < rowsAtOnce) return sum;
  }
}
