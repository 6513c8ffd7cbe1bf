import { useCallback, useEffect, useRef } from 'react';
import { hasEnded, type Scan } from './use-scan.ts';

/**
 * Rows that the scan found since the table was loaded. They wait behind a button, so that nothing moves by itself.
 * @param of what the table lists
 * @param refresh loads the table again
 */
export function useWaitingRows(
  scan: Scan | undefined,
  of: keyof Scan['results'],
  refresh: () => void,
): { count: number; show: () => void } {
  const found = scan?.results[of];
  /** How many there were when the table was loaded. */
  const loaded = useRef(found);
  loaded.current ??= found;
  const latest = useRef({ found, refresh });
  latest.current = { found, refresh };
  const show = useCallback(() => {
    loaded.current = latest.current.found;
    latest.current.refresh();
  }, []);
  const isOver = scan !== undefined && hasEnded(scan);
  const wasRunning = useRef(false);
  useEffect(() => {
    // At the end the table gets what came last; of a scan that had ended before there is nothing new.
    if (isOver && wasRunning.current) show();
    wasRunning.current = scan !== undefined && !isOver;
  }, [scan, isOver, show]);
  return { count: Math.max(0, (found ?? 0) - (loaded.current ?? 0)), show };
}
