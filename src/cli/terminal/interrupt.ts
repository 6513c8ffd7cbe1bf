import { performance } from 'node:perf_hooks';

/**
 * Debounce time, milliseconds: one Ctrl-C can arrive twice, since a terminal signals the whole process group and the
 * launcher forwards its own.
 */
const sameKeyMs = 150;
const usual: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Calls `first` at the first Ctrl-C (or another of `signals`); a second one exits at once with a code, or ends the
 * program by its signal after `last`, so that the loop of a shell ends too.
 * @returns a function that removes the handlers
 */
export function onInterrupt(first: () => void, last: number | (() => void), signals = usual): () => void {
  let firstAt: number | null = null;
  const listener = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      first();
    } else if (now - firstAt > sameKeyMs) {
      if (typeof last === 'number') process.exit(last);
      last();
      endBySignal(signal);
    }
  };
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/** Ends this process as a program ends that does not handle the signal. */
function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
