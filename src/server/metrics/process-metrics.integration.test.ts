import { PerformanceObserver } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { parseTextFormat } from '../fixtures/metric-families.ts';
import { Metrics } from './metrics.ts';
import { processMetricNames } from './process-metrics.ts';

it('the process has a sample of each of its metrics, and nobody watches garbage collections', async () => {
  const observe = PerformanceObserver.prototype.observe;
  const watched: unknown[] = [];
  PerformanceObserver.prototype.observe = function (options) {
    watched.push(options);
    observe.call(this, options);
  };
  try {
    const { text } = await new Metrics().render('text');
    const families = parseTextFormat(text);
    const empty = processMetricNames.filter((name) => (families.get(name)?.samples.size ?? 0) === 0);
    expect(empty).toEqual([]);
    expect(watched).toEqual([]);
  } finally {
    PerformanceObserver.prototype.observe = observe;
  }
});
