import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ApiError } from './api-error.ts';
import type { Data, GetParams, PathWith } from './api-types.ts';
import { getKey } from './get-key.ts';
import { indexShareOf } from './index-share.ts';
import { type Envelope, type RequestParams, requestData, requestEnvelope } from './request.ts';

export interface GetOptions {
  /** False = no request yet. */
  enabled?: boolean;
  /** Milliseconds between repeated requests, for what has no events. */
  every?: number;
  /** While other parameters load, the former data stays. */
  keep?: boolean;
}

export interface Got<T> {
  data: T | undefined;
  error: ApiError | null;
  /** Nothing to show yet. */
  isPending: boolean;
  isFetching: boolean;
  /** `data` is that of former parameters. */
  isFormer: boolean;
  /** The part of the scan's index that stands while the request waits for it, 0 to 1; else null. */
  indexShare: number | null;
  refetch(): void;
}

/** The data of a GET, cached and kept current by events. */
export function useGet<P extends PathWith<'get'>>(
  path: P,
  params: GetParams<P>,
  { enabled = true, every, keep = false }: GetOptions = {},
): Got<Data<P>> {
  const query = useQuery<Data<P>, ApiError>({
    queryKey: getKey(path, params as RequestParams),
    queryFn: ({ signal }) => fetchGet(path, params, signal),
    enabled,
    ...(every !== undefined && { refetchInterval: every }),
    placeholderData: keep ? keepPreviousData : undefined,
  });
  return {
    data: query.data,
    error: query.error,
    isPending: query.isPending,
    isFetching: query.isFetching,
    isFormer: query.isPlaceholderData,
    indexShare: query.isFetching ? indexShareOf(query.failureReason) : null,
    refetch: () => void query.refetch(),
  };
}

/** The data of a GET. @throws ApiError */
export function fetchGet<P extends PathWith<'get'>>(
  path: P,
  params: GetParams<P>,
  signal?: AbortSignal,
): Promise<Data<P>> {
  return requestData<Data<P>>('GET', path, params as RequestParams, signal);
}

/** The same with the server's warnings about it. */
export function fetchEnvelope<P extends PathWith<'get'>>(
  path: P,
  params: GetParams<P>,
  signal?: AbortSignal,
): Promise<Envelope<Data<P>>> {
  return requestEnvelope<Data<P>>('GET', path, params as RequestParams, signal);
}
