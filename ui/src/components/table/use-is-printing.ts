import { useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';

let isPrinting = false;

/** Whether the page is drawn for paper, which happens at once: media queries that listen are too late. */
export function useIsPrinting(): boolean {
  return useSyncExternalStore(subscribe, () => isPrinting);
}

function subscribe(listener: () => void): () => void {
  const change = (printing: boolean) => () => {
    isPrinting = printing;
    flushSync(listener);
  };
  const [before, after] = [change(true), change(false)];
  window.addEventListener('beforeprint', before);
  window.addEventListener('afterprint', after);
  return () => {
    window.removeEventListener('beforeprint', before);
    window.removeEventListener('afterprint', after);
  };
}
