import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from './module.ts';

type Blame = (error: unknown) => void;

const blamed = new AsyncLocalStorage<Blame>();

/** Runs the work of a module: errors outside its promise, now or later, go to `blame`. */
export function answerable<T>(blame: Blame, work: () => T): T {
  return blamed.run(blame, work);
}

let catchers = 0;

/**
 * Keeps an uncaught error from ending this process: the node whose module threw it fails; without one it is logged.
 * Active until the returned function is called.
 * @param onError called with each of them; only by the first caller
 */
export function catchUncaughtErrors(log: Logger, onError: () => void = () => undefined): () => void {
  catchers += 1;
  const nested = catchers > 1;
  const take = (error: unknown) => {
    onError();
    const blame = blamed.getStore();
    if (blame) blame(error);
    else log.error('uncaught error outside of any task', { error: String(error) });
  };
  if (!nested) process.on('uncaughtException', take).on('unhandledRejection', take);
  return () => {
    catchers -= 1;
    if (!nested) process.off('uncaughtException', take).off('unhandledRejection', take);
  };
}
