import { performance } from 'node:perf_hooks';

/**
 * Debounce time, milliseconds: one Ctrl-C can arrive twice, since a terminal signals the whole process group and the
 * launcher forwards its own.
 */
const sameKeyMs = 150;
const usual: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Calls `first` at the first Ctrl-C (or another of `signals`); a second one exits at once with `exitCode`.
 * @returns a function that removes the handlers
 */
export function onInterrupt(first: () => void, exitCode: number, signals = usual): () => void {
  let firstAt: number | null = null;
  const listener = () => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      first();
    } else if (now - firstAt > sameKeyMs) {
      process.exit(exitCode);
    }
  };
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}
