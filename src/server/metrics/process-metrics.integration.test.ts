import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { parseTextFormat } from '../fixtures/metric-families.ts';
import { Metrics } from './metrics.ts';

async function collections(metrics: Metrics): Promise<number> {
  const { text } = await metrics.render('text');
  const samples =
    parseTextFormat(text).get('nodejs_gc_duration_seconds')?.samples ?? new Map<string, number>();
  return [...samples].reduce((sum, [series, count]) => sum + (series.includes('_count') ? count : 0), 0);
}

it('counts every garbage collection, also those that are reported together', async () => {
  const metrics = new Metrics();
  await sleep(50);
  const before = await collections(metrics);
  let observed = 0;
  const observer = new PerformanceObserver((list) => {
    observed += list.getEntries().length;
  });
  observer.observe({ entryTypes: ['gc'] });
  // Several collections in one turn of the event loop.
  let garbage: object[] = [];
  for (let index = 0; index < 3e6; index++) {
    garbage.push({ index });
    if (garbage.length > 1e5) garbage = [];
  }
  await expect.poll(() => observed).toBeGreaterThan(3);
  observer.disconnect();
  expect(await collections(metrics)).toBeGreaterThanOrEqual(before + observed);
});
