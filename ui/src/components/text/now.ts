import { useSyncExternalStore } from 'react';
import { serverNow } from '../../api/server-clock.ts';

/** Relative times advance this often, milliseconds. One timer for all of them. */
const step = 5000;

const listeners = new Set<() => void>();
let shown = serverNow();
let timer: ReturnType<typeof setInterval> | undefined;

/** The server's clock in steps of five seconds, milliseconds since 1970. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => shown);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // The first reader after a while gets the present time, not that of the last reader.
  if (timer === undefined) {
    shown = serverNow();
    timer = setInterval(advance, step);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

function advance(): void {
  shown = serverNow();
  for (const listener of listeners) {
    listener();
  }
}
