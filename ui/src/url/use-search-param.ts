import { useRouter, useRouterState } from '@tanstack/react-router';
import { useCallback } from 'react';
import { hrefOf } from './link.tsx';
import { parseSearch, searchText } from './search-text.ts';

interface SetOptions {
  /** Replaces the entry of the history instead of adding one: for typing. */
  replace?: boolean;
}

/** One text of the URL's search. The URL is the view: what a page shows comes from here. */
export function useSearchParam(
  name: string,
  fallback = '',
): [string, (value: string | null, options?: SetOptions) => void] {
  const text = useRouterState({ select: ({ location }) => location.searchStr });
  const setAll = useSetSearch();
  const set = useCallback(
    (value: string | null, options?: SetOptions) =>
      setAll({ [name]: value === fallback ? null : value }, options),
    [setAll, name, fallback],
  );
  return [parseSearch(text)[name] ?? fallback, set];
}

/** Changes several texts of the search at once; null removes one. */
export function useSetSearch(): (changes: Record<string, string | null>, options?: SetOptions) => void {
  const router = useRouter();
  return useCallback(
    (changes, { replace = false } = {}) => {
      const { pathname, searchStr } = router.state.location;
      const href = hrefOf(`${pathname}${searchText({ ...parseSearch(searchStr), ...changes })}`);
      if (replace) router.history.replace(href);
      else router.history.push(href);
    },
    [router],
  );
}
