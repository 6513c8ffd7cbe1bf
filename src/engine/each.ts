import type { ExecContext } from './module.ts';

export interface EachOptions {
  /** Items worked on at the same time. */
  concurrency: number;
  /** Called for an item whose work threw; by default the failure is logged at debug level. */
  onError?: (error: unknown) => void;
}

export interface EachTally {
  done: number;
  failed: number;
}

/**
 * Works on every item with bounded concurrency. An item that throws is counted and the others go on; when every
 * item failed, the first cause is thrown. Stops pulling items once the context is aborted.
 */
export async function forEachItem<T>(
  ctx: Pick<ExecContext, 'signal' | 'log' | 'instanceId'>,
  items: AsyncIterable<T> | Iterable<T>,
  options: EachOptions,
  work: (item: T) => Promise<void> | void,
): Promise<EachTally> {
  const tally: EachTally = { done: 0, failed: 0 };
  let firstError: unknown;
  const running = new Set<Promise<void>>();

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
    }
  };

  for await (const item of items) {
    if (ctx.signal.aborted) break;
    const promise = run(item).finally(() => running.delete(promise));
    running.add(promise);
    if (running.size >= options.concurrency) await Promise.race(running);
  }
  await Promise.all(running);
  ctx.signal.throwIfAborted();
  if (tally.done === 0 && tally.failed > 0) throw new Error('every item failed', { cause: firstError });
  return tally;
}
