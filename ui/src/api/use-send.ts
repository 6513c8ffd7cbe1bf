import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiError } from './api-error.ts';
import type { ApiMethod, ApiPath, Data, PathWith, SendParams } from './api-types.ts';
import { type RequestParams, requestData } from './request.ts';

export interface Sender<P extends ApiPath, M extends ApiMethod> {
  /** @throws ApiError, which is also in `error` */
  send(params: SendParams<P, M>): Promise<Data<P, M>>;
  isPending: boolean;
  error: ApiError | null;
  /** Forgets the error. */
  reset(): void;
}

/**
 * A request that changes something.
 * @param invalidates paths whose cached data is outdated by it
 */
export function useSend<M extends 'post' | 'put' | 'delete', P extends PathWith<M>>(
  method: M,
  path: P,
  { invalidates = [] }: { invalidates?: readonly ApiPath[] } = {},
): Sender<P, M> {
  const cache = useQueryClient();
  const { mutateAsync, isPending, error, reset } = useMutation<Data<P, M>, ApiError, SendParams<P, M>>({
    mutationFn: (params) =>
      requestData<Data<P, M>>(
        method.toUpperCase() as 'POST' | 'PUT' | 'DELETE',
        path,
        params as RequestParams,
      ),
    onSuccess: async () => {
      await Promise.all(invalidates.map((each) => cache.invalidateQueries({ queryKey: [each] })));
    },
  });
  return { send: mutateAsync, isPending, error, reset };
}
