import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { requestData } from '../../api/request.ts';
import type { Submission } from './draft.ts';

export type Plan = Data<'/api/v1/scans/plan', 'post'>;

/** The server is asked this long after the last key, milliseconds. */
const restMs = 300;

/** What a scan would do. Nothing is sent to targets, nothing is stored. */
export function usePlan(submission: Submission | null) {
  const rested = useRested(submission === null ? '' : JSON.stringify(submission));
  const query = useQuery<Plan, ApiError>({
    queryKey: ['/api/v1/scans/plan', rested],
    queryFn: ({ signal }) =>
      requestData<Plan>('POST', '/api/v1/scans/plan', { body: JSON.parse(rested) as Submission }, signal),
    enabled: rested !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
  const isCurrent = submission !== null && rested === JSON.stringify(submission);
  return {
    plan: submission === null || query.error ? undefined : query.data,
    error: submission === null ? null : query.error,
    isChecking: submission !== null && (!isCurrent || query.isFetching),
  };
}

/** A text that has not changed for a while. */
export function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
