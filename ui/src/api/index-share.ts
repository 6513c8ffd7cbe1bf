import { ApiError } from './api-error.ts';

/** Between attempts; the server itself lets a request wait for seconds. Milliseconds. */
export const indexPauseMs = 500;

/** Until data is requested again that came before the index stood, milliseconds. */
export const earlyPauseMs = 2000;

/** Whether data came from an index that is still being built. */
export function isEarly(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'index_share' in data;
}

/**
 * The part of a scan's index that stands, 0 to 1, for a request that waited for it in vain: it can be sent again. Null
 * for every other error.
 */
export function indexShareOf(error: unknown): number | null {
  if (!(error instanceof ApiError) || error.code !== 'timeout') return null;
  const share = error.details['index_share'];
  return typeof share === 'number' ? share : null;
}
