import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import type { Envelope } from '../../api/request.ts';
import { fetchEnvelope } from '../../api/use-get.ts';
import type { AuditQuery } from './audit-filter.ts';
import { type AuditRecord, readRecord } from './audit-record.ts';

interface AuditRecords {
  records: readonly AuditRecord[];
  total: number;
  /** The log is so large that the total counts its newest part. */
  isMinimum: boolean;
  hasMore: boolean;
  /** What is wrong with the log itself: damage, records that are missing. */
  warnings: readonly string[];
}

type AuditPage = Envelope<Data<'/api/v1/audit'>>;

const pageSize = 200;

/** Records of the audit log that match, newest first, in pages. */
export function useAuditRecords(query: AuditQuery) {
  const got = useInfiniteQuery<AuditPage, ApiError, AuditRecords, unknown[], string | null>({
    queryKey: ['/api/v1/audit', {}, query, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      fetchEnvelope(
        '/api/v1/audit',
        { query: { ...query, limit: pageSize, ...(pageParam !== null && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: ({ data }) => data.next_cursor,
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

function joined(pages: readonly AuditPage[]): AuditRecords {
  const first = pages[0]?.data;
  return {
    records: pages.flatMap(({ data }) => data.audit.map(readRecord)),
    total: first?.total ?? 0,
    isMinimum: first?.total_is_minimum ?? false,
    hasMore: pages.at(-1)?.data.next_cursor !== null,
    // Pages of a damaged log repeat them.
    warnings: [...new Set(pages.flatMap(({ meta }) => meta?.warnings ?? []))],
  };
}
