import { earlyPauseMs, indexPauseMs, indexShareOf } from '../../api/index-share.ts';

interface Waiting {
  signal?: AbortSignal;
  /** Called with the part of the index that stands, 0 to 1. */
  onWait?(share: number): void;
}

/**
 * Requests records again while the server builds the index of a large scan.
 * @throws ApiError of any other kind, or the last one when nobody waits any more
 */
export async function whenIndexed<T>(request: () => Promise<T>, waiting: Waiting = {}): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const share = indexShareOf(error);
      if (share === null || waiting.signal?.aborted === true) throw error;
      waiting.onWait?.(share);
      await pause(indexPauseMs);
    }
  }
}

/**
 * Looks at an index until it stands.
 * @param look gets the part of it that stands; null = all of it
 * @throws ApiError of any kind but that of an index
 */
export async function untilIndexed(look: () => Promise<number | null>, waiting: Waiting): Promise<void> {
  while (waiting.signal?.aborted !== true) {
    await pause(earlyPauseMs);
    const share = await whenIndexed(look, waiting);
    if (share === null) return;
    waiting.onWait?.(share);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
