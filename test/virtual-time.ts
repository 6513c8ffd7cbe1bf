import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';

/** Work that takes longer on its clock never ends, milliseconds: the real timers come back for the tests after it. */
const longestMs = 3_600_000;

/**
 * Runs `work` by a clock that advances one step for each turn of the event loop, whatever the machine takes for it:
 * waits cost no time, and how long something took is the same on every machine. Sockets are real, so whoever is at the
 * other end has to live in this process, or it would seem slow.
 * @param stepMs one step of the clock, milliseconds
 * @param realMs least real time of a step: the kernel holds a second small write back until the first is acknowledged,
 *   which takes 40 ms
 * @returns what the work gave, and how many milliseconds went by on that clock
 */
export async function inVirtualTime<T>(
  work: () => Promise<T>,
  stepMs = 10,
  realMs = 0,
): Promise<{ result: T; ms: number }> {
  // Sockets of the work before close first, and take the real timers that they set with them.
  await turns(20);
  const { setTimeout: realTimeout } = globalThis;
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  });
  try {
    const begun = performance.now();
    let over = false;
    const outcome = work().finally(() => {
      over = true;
    });
    outcome.catch(() => undefined);
    while (!over) {
      // What was sent in one turn arrives in the next.
      await turns(2);
      if (realMs > 0) await new Promise((resolve) => realTimeout(resolve, realMs));
      if (performance.now() - begun > longestMs) throw new Error('not over within an hour of virtual time');
      if (!over) vi.advanceTimersByTime(stepMs);
    }
    return { result: await outcome, ms: performance.now() - begun };
  } finally {
    vi.useRealTimers();
  }
}

async function turns(count: number): Promise<void> {
  for (let taken = 0; taken < count; taken++) await turn();
}
