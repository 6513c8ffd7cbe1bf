import { expect, it, vi } from 'vitest';
import { ApiError } from '../../api/api-error.ts';
import { whenIndexed } from './when-indexed.ts';

const timeout = new ApiError({ status: 504, code: 'timeout', message: 'The index is being built.' });
const other = new ApiError({ status: 404, code: 'not_found', message: 'There is no such scan.' });

it('comes again while the index is built', async () => {
  vi.useFakeTimers();
  const request = vi
    .fn()
    .mockRejectedValueOnce(timeout)
    .mockRejectedValueOnce(timeout)
    .mockResolvedValue('rows');
  const result = whenIndexed(request);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await result).toBe('rows');
  expect(request).toHaveBeenCalledTimes(3);
  vi.useRealTimers();
});

it('does not come again after other errors, or when nobody waits', async () => {
  const request = vi.fn().mockRejectedValue(other);
  await expect(whenIndexed(request)).rejects.toBe(other);
  const aborted = AbortSignal.abort();
  const late = vi.fn().mockRejectedValue(timeout);
  await expect(whenIndexed(late, aborted)).rejects.toBe(timeout);
  expect(request).toHaveBeenCalledTimes(1);
  expect(late).toHaveBeenCalledTimes(1);
});
