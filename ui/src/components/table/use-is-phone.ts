import { useCallback, useSyncExternalStore } from 'react';

/** Whether the window is as narrow as a phone: rows have two lines, drawers are pages; below `--breakpoint-tablet`. */
export function useIsPhone(): boolean {
  return useMedia('(max-width: 719px)');
}

/** Whether there is no room for something beside a table; below `--breakpoint-desk`. */
export function useIsNarrow(): boolean {
  return useMedia('(max-width: 1023px)');
}

function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = window.matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}
