import { useSyncExternalStore } from 'react';
import type { Zone } from '../../format/times.ts';

const storageKey = 'portolan.zone';
const listeners = new Set<() => void>();

/** The zone of all times: UTC unless the reader chose the browser's. */
export function timeZone(): Zone {
  return localStorage.getItem(storageKey) === 'local' ? localZone() : 'UTC';
}

/** Chooses the zone for this browser. */
export function setTimeZone(choice: 'UTC' | 'local'): void {
  if (choice === 'UTC') {
    localStorage.removeItem(storageKey);
  } else {
    localStorage.setItem(storageKey, choice);
  }
  for (const listener of listeners) {
    listener();
  }
}

export function localZone(): Zone {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

export function useTimeZone(): Zone {
  return useSyncExternalStore(subscribe, timeZone);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
