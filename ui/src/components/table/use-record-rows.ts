import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { fetchGet } from '../../api/use-get.ts';
import { type LoadedPage, pageSize, RecordPages } from './record-pages.ts';
import type { Matches, RecordQuery } from './table-props.ts';
import { whenIndexed } from './when-indexed.ts';

export interface RecordRows<Row> {
  /** For `DataTable`: undefined while the row is not loaded. */
  rowAt(index: number): Row | undefined;
  total: number;
  /** The rows are not those of the current parameters yet. */
  isPending: boolean;
  error: ApiError | null;
  /** Members of the whole scan that match; undefined until the first response. */
  matches: Matches | undefined;
  /** Loads again what is in view; rows stay until then. */
  refresh(): void;
}

/** What a page of records carries beside them. */
interface RecordPageData {
  records: readonly unknown[];
  total: number;
  matches?: Matches;
}

/**
 * The records of a scan of which a table shows a part: pages of 200, the least recently used dropped, requests of
 * what is not in view any more aborted.
 */
export function useRecordRows<Row>(scanId: string, { type, q, sort }: RecordQuery): RecordRows<Row> {
  const pages = useMemo(() => new RecordPages<Row, Matches | undefined>(neverLoads), [scanId, type]);
  useEffect(() => {
    const load = async (
      offset: number,
      signal: AbortSignal,
    ): Promise<LoadedPage<Row, Matches | undefined>> => {
      const query = { ...without({ type, q, sort }), limit: pageSize, offset };
      const data = await whenIndexed(() => fetchRecords(scanId, query, signal), signal);
      const { records, total, matches } = data;
      return { rows: records as readonly Row[], total, extra: matches };
    };
    pages.reload(load);
    return () => pages.close();
  }, [pages, scanId, type, q, sort]);

  const { total, extra, isPending, error } = useSyncExternalStore(
    (listener) => pages.subscribe(listener),
    () => pages.state(),
  );
  return {
    rowAt: (index) => pages.rowAt(index),
    total,
    isPending,
    error: error as ApiError | null,
    matches: extra,
    refresh: () => pages.reload(),
  };
}

async function fetchRecords(scanId: string, query: object, signal: AbortSignal): Promise<RecordPageData> {
  const params = { path: { scan_id: scanId }, query };
  return (await fetchGet('/api/v1/scans/{scan_id}/records', params, signal)) as unknown as RecordPageData;
}

const neverLoads = () => new Promise<never>(() => undefined);

/** Members that are set. */
function without<T extends object>(members: T): T {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== ''),
  ) as T;
}
