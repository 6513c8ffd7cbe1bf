import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseTextFormat } from '../fixtures/metric-families.ts';
import { MetricRegistry } from './metric-registry.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('leaves out gauges that fail, have no value or do not come in time, at this scrape only', async () => {
  const registry = new MetricRegistry();
  let isDown = true;
  const read = (failure: () => Promise<never>) => () => (isDown ? failure() : Promise.resolve(7));
  const never = () => new Promise<never>(() => undefined);
  registry.gauge('service_queue_length', read(never));
  registry.gauge(
    'service_outbox_length',
    read(() => Promise.reject(new Error('no store'))),
  );
  registry.gauge('service_vulndb_age_seconds', () => (isDown ? null : 7));
  registry.gaugeBy('service_workers', 'state', () => (isDown ? never() : { idle: 7 }));
  registry.gauge('service_worker_utilization', () => 0.5);
  const scrape = async () => {
    const rendered = registry.render('text');
    await vi.advanceTimersByTimeAsync(3000);
    return new Map(
      [...parseTextFormat((await rendered).text).values()].flatMap(({ samples }) => [...samples]),
    );
  };
  expect([...(await scrape())]).toEqual([['service_worker_utilization', 0.5]]);
  isDown = false;
  expect(Object.fromEntries(await scrape())).toEqual({
    service_queue_length: 7,
    service_outbox_length: 7,
    service_vulndb_age_seconds: 7,
    'service_workers{state="idle"}': 7,
    service_worker_utilization: 0.5,
  });
  isDown = true;
  expect([...(await scrape())]).toHaveLength(1);
});
