import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ApiError } from '../../api/api-error.ts';
import { untilIndexed, whenIndexed } from './when-indexed.ts';

const built = (index_share: number) =>
  new ApiError({
    status: 504,
    code: 'timeout',
    message: 'The index is being built.',
    details: { index_share },
  });
const slow = new ApiError({ status: 504, code: 'timeout', message: 'The query takes too long.' });
const other = new ApiError({ status: 404, code: 'not_found', message: 'There is no such scan.' });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('comes again while the index is built, and says how far that is', async () => {
  const onWait = vi.fn();
  const request = vi.fn().mockRejectedValueOnce(built(0)).mockRejectedValueOnce(built(0.42));
  request.mockResolvedValue('rows');
  const result = whenIndexed(request, { onWait });
  await vi.advanceTimersByTimeAsync(5000);
  expect(await result).toBe('rows');
  expect(request).toHaveBeenCalledTimes(3);
  expect(onWait.mock.calls).toEqual([[0], [0.42]]);
});

it.each([slow, other])('does not come again after other errors', async (error) => {
  const request = vi.fn().mockRejectedValue(error);
  await expect(whenIndexed(request)).rejects.toBe(error);
  expect(request).toHaveBeenCalledTimes(1);
});

it('does not come again when nobody waits', async () => {
  const request = vi.fn().mockRejectedValue(built(0.1));
  await expect(whenIndexed(request, { signal: AbortSignal.abort() })).rejects.toMatchObject({ status: 504 });
  expect(request).toHaveBeenCalledTimes(1);
});

it('looks at an index until it stands', async () => {
  const onWait = vi.fn();
  const look = vi.fn().mockResolvedValueOnce(0.5).mockRejectedValueOnce(built(0.7)).mockResolvedValue(null);
  const end = untilIndexed(look, { onWait });
  await vi.advanceTimersByTimeAsync(20_000);
  await end;
  expect(look).toHaveBeenCalledTimes(3);
  expect(onWait.mock.calls).toEqual([[0.5], [0.7]]);
});
