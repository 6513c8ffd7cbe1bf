import { ApiError } from '../../api/api-error.ts';

/** Between attempts; the server itself lets a request wait for seconds. Milliseconds. */
const pauseMs = 500;
/** The index of millions of records is built within a minute or two; each attempt takes some 5 s. */
const maxAttempts = 30;

/**
 * Requests records again while the server builds the index of a large scan, which it says by a timeout.
 * @throws ApiError of any other kind, or the last one
 */
export async function whenIndexed<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (!isTimeout(error) || attempt >= maxAttempts || signal?.aborted === true) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'timeout';
}
