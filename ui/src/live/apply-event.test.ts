import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { getKey } from '../api/get-key.ts';
import { applyEvent } from './apply-event.ts';

it('requests again what was on its way for the first time when its scan changed', async () => {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const requests: ((status: string) => void)[] = [];
  const queryFn = () => new Promise<string>((resolve) => requests.push(resolve));
  const queryKey = getKey('/api/v1/scans/{scan_id}', { path: { scan_id: 'a' } });
  const seen = new QueryObserver(cache, { queryKey, queryFn });
  const stop = seen.subscribe(() => undefined);
  expect(requests).toHaveLength(1);
  applyEvent(cache, { event: 'scan', data: { scan_id: 'a', status: 'completed' } } as never);
  requests[0]?.('running');
  await expect.poll(() => requests.length).toBe(2);
  requests[1]?.('completed');
  await expect.poll(() => seen.getCurrentResult().data).toBe('completed');
  stop();
  cache.clear();
});
