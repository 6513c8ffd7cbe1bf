import { useSyncExternalStore } from 'react';

/** Below it rows have two lines and drawers are pages; as `--breakpoint-tablet`. */
const phone = '(max-width: 719px)';

/** Whether the window is as narrow as a phone. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => window.matchMedia(phone).matches);
}

function subscribe(listener: () => void): () => void {
  const query = window.matchMedia(phone);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}
