import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { fetchGet } from '../../api/use-get.ts';
import { type LoadedPage, pageSize, RecordPages } from './record-pages.ts';
import type { Matches, RecordQuery } from './table-props.ts';
import { printedRows } from './use-virtual-rows.ts';
import { untilIndexed, whenIndexed } from './when-indexed.ts';

export interface RecordRows<Row> {
  /** For `DataTable`: undefined while the row is not loaded. */
  rowAt(index: number): Row | undefined;
  total: number;
  /** The rows are not those of the current parameters yet. */
  isPending: boolean;
  error: ApiError | null;
  /** Members of the whole scan that match; undefined until the first response. */
  matches: Matches | undefined;
  /**
   * The part of the scan's index that stands while it is being built, 0 to 1; else null. Rows are then the first ones
   * of the record, or none; they are loaded again when it stands.
   */
  indexShare: number | null;
  /** Loads again what is in view; rows stay until then. */
  refresh(): void;
}

/** What can be printed as a whole is loaded as a whole, so long after its first page. Printing does not wait. Milliseconds. */
const restMs = 1500;

/** What a page of records carries beside them. */
interface RecordPageData {
  records: readonly unknown[];
  total: number;
  matches?: Matches;
  index_share?: number;
}

/** What a page says of the whole list. */
interface ListFacts {
  matches: Matches | undefined;
  indexShare: number | null;
}

/**
 * The records of a scan of which a table shows a part: its pages, the least recently used dropped, requests of
 * what is not in view any more aborted.
 */
export function useRecordRows<Row>(scanId: string, { type, q, sort, join }: RecordQuery): RecordRows<Row> {
  const pages = useMemo(() => new RecordPages<Row, ListFacts>(neverLoads), [scanId, type]);
  const [waiting, setWaiting] = useState<number | null>(null);
  const parameters = JSON.stringify([scanId, type, q, sort, join]);
  const requested = useRef('');
  useEffect(() => {
    requested.current = parameters;
    setWaiting(null);
    const load = async (offset: number, signal: AbortSignal): Promise<LoadedPage<Row, ListFacts>> => {
      const query = { ...without({ type, q, sort, join }), limit: pageSize, offset };
      const data = await whenIndexed(() => fetchRecords(scanId, query, signal), {
        signal,
        onWait: setWaiting,
      });
      const { records, total, matches, index_share: indexShare = null } = data;
      setWaiting(null);
      return { rows: records as readonly Row[], total, extra: { matches, indexShare } };
    };
    pages.reload(load);
    return () => pages.close();
  }, [pages, parameters, scanId, type, q, sort, join]);

  const { total, extra, error, ...state } = useSyncExternalStore(
    (listener) => pages.subscribe(listener),
    () => pages.state(),
  );
  // Before the effect has run, the state is that of the parameters before.
  const isPending = state.isPending || requested.current !== parameters;
  const early = extra?.indexShare ?? null;
  const earlyList = early === null ? null : extra;
  useEffect(() => {
    if (earlyList === null) return;
    const stop = new AbortController();
    const look = async () =>
      (await fetchRecords(scanId, { type, limit: 1 }, stop.signal)).index_share ?? null;
    const reload = () => {
      if (!stop.signal.aborted) pages.reload();
    };
    untilIndexed(look, { signal: stop.signal, onWait: setWaiting }).then(reload, reload);
    return () => stop.abort();
  }, [earlyList, pages, scanId, type]);
  useEffect(() => {
    if (isPending || total <= pageSize || total > printedRows) return;
    const timer = setTimeout(() => {
      for (let index = 0; index < total; index += pageSize) pages.rowAt(index);
    }, restMs);
    return () => clearTimeout(timer);
  }, [pages, isPending, total]);
  return {
    rowAt: (index) => pages.rowAt(index),
    total,
    isPending,
    error: error as ApiError | null,
    matches: extra?.matches,
    indexShare: error === null ? (waiting ?? early) : null,
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
