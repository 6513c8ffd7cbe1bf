import { useEffect, useSyncExternalStore } from 'react';

export interface Crumb {
  label: string;
  /** Path of its page. */
  to: string;
}

interface PageTitle {
  title: string;
  parents: readonly Crumb[];
}

let current: PageTitle = { title: '', parents: [] };
const listeners = new Set<() => void>();

/** Names the open page: in the title of the window and at the top of the frame. */
export function usePageTitle(title: string, parents: readonly Crumb[] = []): void {
  const trail = parents.map(({ label, to }) => `${label}\n${to}`).join('\n\n');
  useEffect(() => {
    current = { title, parents: parents.map((each) => ({ ...each })) };
    document.title = [title, ...parents.map(({ label }) => label).reverse(), 'Portolan']
      .filter((part) => part !== '')
      .join(' · ');
    for (const listener of listeners) listener();
    // The trail stands for the parents, which are new objects on each call.
  }, [title, trail]);
}

/** Title and parents of the open page. */
export function useCurrentTitle(): PageTitle {
  return useSyncExternalStore(subscribe, () => current);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
