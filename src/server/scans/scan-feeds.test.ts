import { expect, it } from 'vitest';
import { endedScan } from '../../../test/receivers.ts';
import { ScanFeeds } from './scan-feeds.ts';

it('all who follow a scan share one look at it, until the last of them has gone', async () => {
  const scan = endedScan({ status: 'running', completed_at: null });
  let looks = 0;
  const get = async () => {
    looks += 1;
    return scan;
  };
  const changed = (_scanId: string, signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const feeds = new ScanFeeds({ changed, freshen: (fresh: unknown) => fresh } as never);
  const follow = (scanId: string) =>
    feeds.follow({ store: { scans: { get } } } as never, scanId, { place: { folder: scanId } } as never);

  const sources = Array.from({ length: 50 }, () => follow('a'));
  expect(await Promise.all(sources.map((source) => source.scan()))).toEqual(Array(50).fill(scan));
  expect([feeds.size, looks]).toEqual([1, 1]);
  const other = follow('b');
  await other.scan();
  expect([feeds.size, looks]).toEqual([2, 2]);
  other.close();
  for (const source of sources) {
    expect(feeds.size).toBe(1);
    source.close();
  }
  expect(feeds.size).toBe(0);
});
