import { useCallback, useEffect, useRef, useState } from 'react';
import { type LiveEvent, useScanEvents } from '../../live/live.ts';
import { hasEnded, type Scan } from './use-scan.ts';

/** Counts at most this often, milliseconds: a fast scan finds thousands of rows a second. */
const countMs = 1000;

/**
 * Rows that the scan found since the table was loaded. They wait behind a button, so that nothing moves by itself.
 * @param refresh loads the table again
 */
export function useWaitingRows(
  scan: Scan | undefined,
  event: 'host' | 'port' | 'finding',
  refresh: () => void,
): { count: number; show: () => void } {
  const [waiting, setWaiting] = useState(0);
  const found = useRef(new Set<string>());
  const latest = useRef(refresh);
  latest.current = refresh;
  const onEvent = useCallback(
    ({ event: name, data }: LiveEvent) => {
      if (name === event)
        found.current.add(JSON.stringify([data['host'], data['port'], data['protocol'], idOf(data)]));
    },
    [event],
  );
  useScanEvents(scan?.scan_id ?? '', onEvent);
  useEffect(() => {
    const timer = setInterval(() => setWaiting(found.current.size), countMs);
    return () => clearInterval(timer);
  }, []);
  const show = useCallback(() => {
    found.current.clear();
    setWaiting(0);
    latest.current();
  }, []);
  const isOver = scan !== undefined && hasEnded(scan);
  const wasRunning = useRef(false);
  useEffect(() => {
    // At the end the table gets what came last; of a scan that had ended before there is nothing new.
    if (isOver && wasRunning.current) show();
    wasRunning.current = scan !== undefined && !isOver;
  }, [scan, isOver, show]);
  return { count: waiting, show };
}

function idOf(data: Record<string, unknown>): unknown {
  const { vulnerability } = data;
  return typeof vulnerability === 'object' && vulnerability !== null
    ? (vulnerability as { id?: unknown }).id
    : null;
}
