import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ApiError } from '../../api/api-error.ts';
import type { Data } from '../../api/api-types.ts';
import { requestData } from '../../api/request.ts';
import { useCan } from '../../session/session.ts';

export type SchedulePreview = Data<'/api/v1/schedules/preview', 'post'>;

/** Runs that are looked ahead: as many as the server shows. */
export const runsAhead = 20;
/** By then the first run of it may have begun, milliseconds. */
const currentFor = 60_000;

export interface SchedulePreviewGot {
  preview: SchedulePreview | undefined;
  error: ApiError | null;
  /** The preview is that of a former text. */
  isFormer: boolean;
}

/** A schedule in words, and its next runs. Null or empty for a scan without one; nothing for who may not ask. */
export function useSchedule(schedule: string | null): SchedulePreviewGot {
  const mayAsk = useCan('scan:read');
  const text = mayAsk ? (schedule?.trim() ?? '') : '';
  const { data, error, isPlaceholderData } = useQuery<SchedulePreview, ApiError>({
    queryKey: ['/api/v1/schedules/preview', text],
    queryFn: ({ signal }) =>
      requestData<SchedulePreview>(
        'POST',
        '/api/v1/schedules/preview',
        { body: { schedule: text, count: runsAhead } },
        signal,
      ),
    enabled: text !== '',
    staleTime: currentFor,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return text === ''
    ? { preview: undefined, error: null, isFormer: false }
    : { preview: error ? undefined : data, error, isFormer: isPlaceholderData };
}
