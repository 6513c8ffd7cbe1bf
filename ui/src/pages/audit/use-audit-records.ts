import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { fetchGet } from '../../api/use-get.ts';
import type { AuditQuery } from './audit-filter.ts';
import { type AuditRecord, readRecord } from './audit-record.ts';

interface AuditRecords {
  records: readonly AuditRecord[];
  total: number;
  /** The log is so large that the total counts its newest part. */
  isMinimum: boolean;
  hasMore: boolean;
}

const pageSize = 200;

/** Records of the audit log that match, newest first, in pages. */
export function useAuditRecords(query: AuditQuery) {
  const got = useInfiniteQuery<Data<'/api/v1/audit'>, ApiError, AuditRecords, unknown[], string | null>({
    queryKey: ['/api/v1/audit', {}, query, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      fetchGet(
        '/api/v1/audit',
        { query: { ...query, limit: pageSize, ...(pageParam !== null && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => joined(pages),
    placeholderData: keepPreviousData,
  });
  return {
    data: got.data,
    error: got.error,
    isPending: got.isPending,
    refetch: () => void got.refetch(),
    isLoadingMore: got.isFetchingNextPage,
    loadMore: () => void got.fetchNextPage(),
  };
}

function joined(pages: readonly Data<'/api/v1/audit'>[]): AuditRecords {
  const [first] = pages;
  return {
    records: pages.flatMap(({ audit }) => audit.map(readRecord)),
    total: first?.total ?? 0,
    isMinimum: first?.total_is_minimum ?? false,
    hasMore: pages.at(-1)?.next_cursor !== null,
  };
}
