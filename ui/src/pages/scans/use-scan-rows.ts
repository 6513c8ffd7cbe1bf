import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { getKey } from '../../api/get-key.ts';
import { fetchGet } from '../../api/use-get.ts';

type Filter = Record<'q' | 'status' | 'since' | 'tag' | 'sort', string>;
type List = Data<'/api/v1/scans'>;

const pageSize = 100;

/** The list of scans, loaded page by page as rows come into view. Events change loaded rows in place. */
export function useScanRows(filter: Filter) {
  const key = JSON.stringify(filter);
  const [wanted, setWanted] = useState<{ key: string; pages: readonly number[] }>({ key, pages: [0] });
  const pages = wanted.key === key ? wanted.pages : [0];
  const lists = useQueries({
    queries: pages.map((page) => {
      const set = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
      const params = { query: { ...set, limit: pageSize, offset: page * pageSize } };
      return {
        queryKey: getKey('/api/v1/scans', params),
        queryFn: ({ signal }: { signal: AbortSignal }) => fetchGet('/api/v1/scans', params, signal),
        placeholderData: page === 0 ? keepPreviousData : undefined,
      };
    }),
  });
  const first = lists[0];
  const rowAt = useCallback(
    (index: number) => {
      const page = Math.floor(index / pageSize);
      const at = pages.indexOf(page);
      if (at < 0) queueMicrotask(() => setWanted({ key, pages: withPage(pages, page) }));
      return lists[at]?.data?.scans[index % pageSize];
    },
    [lists, pages, key],
  );
  return {
    rowAt,
    loaded: lists.flatMap(({ data }) => (data as List | undefined)?.scans ?? []),
    total: (first?.data as List | undefined)?.total ?? 0,
    /** More scans match than are counted. */
    isMinimum: (first?.data as List | undefined)?.total_is_minimum ?? false,
    isPending: first?.isPending ?? true,
    error: (first?.error ?? null) as ApiError | null,
    retry: () => void first?.refetch(),
  };
}

/** Pages in memory; the farthest goes when there are more. */
const maxPages = 20;

function withPage(pages: readonly number[], page: number): readonly number[] {
  if (pages.includes(page)) return pages;
  const near = [...pages].sort((a, b) => Math.abs(a - page) - Math.abs(b - page)).slice(0, maxPages - 1);
  // The first page stays: it has the total.
  return [...new Set([0, ...near, page])];
}
