import type { ExecContext } from './module.ts';

export interface EachOptions {
  /** Maximum number of items processed concurrently; a function is called again whenever an item ends. */
  concurrency: number | (() => number);
  /** Called for an item that failed; by default the failure is logged at debug level. */
  onError?: (error: unknown) => void;
}

export interface EachTally {
  done: number;
  failed: number;
}

/**
 * Processes every item with bounded concurrency. An item that throws is counted and the others continue; if every
 * item failed, the first error is thrown. Stops once the context is aborted.
 */
export async function forEachItem<T>(
  ctx: Pick<ExecContext, 'signal' | 'log' | 'instanceId'>,
  items: AsyncIterable<T> | Iterable<T>,
  options: EachOptions,
  work: (item: T) => Promise<void> | void,
): Promise<EachTally> {
  const { concurrency } = options;
  const limit = typeof concurrency === 'number' ? () => concurrency : concurrency;
  const tally: EachTally = { done: 0, failed: 0 };
  let firstError: unknown;
  let running = 0;
  // At most one waiter: the loop below, for a free slot or for the last item.
  let wake: (() => void) | null = null;
  const fewerThan = async (count: () => number) => {
    while (running >= count()) await new Promise<void>((resolve) => (wake = resolve));
  };

  const run = async (item: T) => {
    try {
      await work(item);
      tally.done++;
    } catch (error) {
      if (ctx.signal.aborted) return;
      firstError ??= error;
      tally.failed++;
      if (options.onError) options.onError(error);
      else ctx.log.debug('item failed', { node: ctx.instanceId, error: String(error) });
    } finally {
      running--;
      wake?.();
    }
  };

  for await (const item of items) {
    if (ctx.signal.aborted) break;
    running++;
    void run(item);
    await fewerThan(limit);
  }
  await fewerThan(() => 1);
  ctx.signal.throwIfAborted();
  if (tally.done === 0 && tally.failed > 0) throw new Error('every item failed', { cause: firstError });
  return tally;
}
