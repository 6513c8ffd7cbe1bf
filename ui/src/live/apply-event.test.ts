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

it('brings the detail of a scan anew with its progress: its stages and warnings are in no event', async () => {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 60_000 } } });
  const queryKey = getKey('/api/v1/scans/{scan_id}', { path: { scan_id: 'b' } });
  const history = { values: [1] };
  const detail = {
    scan_id: 'b',
    status: 'running',
    targets: ['192.0.2.1', '192.0.2.2'],
    stages: ['first'],
    error: null,
    progress: { percent: 1, rate_history: history },
  };
  cache.setQueryData(queryKey, detail);
  const requests: ((scan: object) => void)[] = [];
  const queryFn = () => new Promise<object>((resolve) => requests.push(resolve));
  const seen = new QueryObserver<object>(cache, { queryKey, queryFn });
  const stop = seen.subscribe(() => undefined);
  const event = (percent: number, status = 'running') => ({
    event: 'scan',
    data: {
      scan_id: 'b',
      status,
      targets: ['192.0.2.1'],
      error: null,
      warnings_total: 7,
      progress: { percent },
    },
  });
  applyEvent(cache, event(2) as never);
  await expect.poll(() => requests.length).toBe(1);
  requests[0]?.(detail);
  await expect.poll(() => seen.getCurrentResult().isFetching).toBe(false);
  applyEvent(cache, event(3) as never);
  applyEvent(cache, event(4) as never);
  expect(cache.getQueryData(queryKey)).toEqual({
    ...detail,
    progress: { percent: 4, rate_history: history },
  });
  await expect.poll(() => requests.length).toBe(2);
  requests[1]?.({ ...detail, stages: ['second'] });
  await expect.poll(() => seen.getCurrentResult().data).toMatchObject({ stages: ['second'] });
  expect(requests).toHaveLength(2);
  stop();
  cache.clear();
});

it('shows how a scan failed before its message comes', () => {
  const cache = new QueryClient();
  const queryKey = getKey('/api/v1/scans/{scan_id}', { path: { scan_id: 'c' } });
  cache.setQueryData(queryKey, { scan_id: 'c', status: 'running', error: null, progress: {} });
  const data = { scan_id: 'c', status: 'failed', error: { code: 'canceled' }, progress: {} };
  applyEvent(cache, { event: 'scan', data } as never);
  expect(cache.getQueryData(queryKey)).toMatchObject({
    status: 'failed',
    error: { code: 'canceled', message: '' },
  });
  cache.clear();
});
