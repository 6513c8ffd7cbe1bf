import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseTextFormat } from '../fixtures/metric-families.ts';
import { Metrics } from './metrics.ts';
import { processMetricNames } from './process-metrics.ts';

it('the process has a sample of each of its metrics', async () => {
  const { text } = await new Metrics().render('text');
  const families = parseTextFormat(text);
  const empty = processMetricNames.filter((name) => (families.get(name)?.samples.size ?? 0) === 0);
  expect(empty).toEqual([]);
});

// A new process: observers of this one may have been set by another test.
it('metrics observe no garbage collections, which costs a busy server a seventh of its requests', () => {
  const program = `
    import { PerformanceObserver } from 'node:perf_hooks';
    const { observe } = PerformanceObserver.prototype;
    PerformanceObserver.prototype.observe = function (options) {
      console.log(JSON.stringify(options));
      observe.call(this, options);
    };
    const { Metrics } = await import(${JSON.stringify(join(import.meta.dirname, 'metrics.ts'))});
    await new Metrics().render('text');
    console.log('rendered');
    process.exit();`;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('rendered\n');
});
