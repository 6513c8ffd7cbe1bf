import { executionAsyncResource } from 'node:async_hooks';

/** Objects that node:internal/process/task_queues makes for `process.nextTick`, one of each shape. */
const kept: object[] = [];

/**
 * Keeps the shapes (V8's hidden classes) of tick objects alive. Between requests no such object exists, and garbage
 * collections of an idle server drop their shapes; code optimized after a few of those creates every tick object
 * slowly, and a request, which needs six, costs a quarter more for the rest of the process.
 * @returns the objects kept alive, once the ticks of this turn have run
 */
export function stabilizeTickShapes(): readonly object[] {
  if (kept.length > 0) return kept;
  const keep = () => kept.push(executionAsyncResource());
  process.nextTick(keep);
  process.nextTick(keep, 'with an argument');
  return kept;
}
