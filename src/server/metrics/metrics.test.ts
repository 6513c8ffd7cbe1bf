import { describe, expect, it } from 'vitest';
import type { Scan } from '../../domain/scan.ts';
import { noTraffic } from '../../domain/traffic.ts';
import { parseTextFormat } from '../fixtures/metric-families.ts';
import { metricCatalog } from './catalog.ts';
import { Metrics } from './metrics.ts';
import { processMetricNames } from './process-metrics.ts';

/** Limit of all series of a server. */
const seriesLimit = 2000;

const endedScan = (...modules: string[]) =>
  ({
    status: 'completed',
    started_at: '2026-10-06T14:30:00.000Z',
    completed_at: '2026-10-06T14:40:00.000Z',
    severity_counts: { critical: 1, high: 0, medium: 0, low: 0, info: 0 },
    stages: modules.map((module_type) => ({
      module_type,
      started_at: '2026-10-06T14:30:00.000Z',
      completed_at: '2026-10-06T14:30:05.000Z',
    })),
  }) as unknown as Scan;

async function familiesOf(metrics: Metrics) {
  return parseTextFormat((await metrics.render('text')).text);
}

describe('Metrics', () => {
  it('stays below 2,000 series, whatever routes, statuses, modules and kinds occur', async () => {
    const metrics = new Metrics();
    for (let route = 0; route < 500; route++)
      for (const status of [200, 201, 400, 401, 403, 404, 409, 429, 500, 503])
        metrics.countResponse({ route: `/route-${route}`, status, milliseconds: 1 });
    for (let module = 0; module < 500; module++) metrics.scanEnded(endedScan(`plugin_${module}`));
    const invented = { ...noTraffic().errors, invented: 7 };
    metrics.countTraffic({ ...noTraffic(), errors: invented });
    const families = await familiesOf(metrics);
    const series = [...families.values()].reduce((sum, { samples }) => sum + samples.size, 0);
    expect(series).toBeGreaterThan(1000);
    expect(series).toBeLessThan(seriesLimit);
    // No event is lost.
    const requests = families.get('service_http_requests_total')?.samples ?? new Map<string, number>();
    expect([...requests.values()].reduce((sum, count) => sum + count)).toBe(5000);
    expect(requests.get('service_http_requests_total{route="other",status="500"}')).toBeGreaterThan(0);
    const nodes = families.get('service_node_duration_seconds')?.samples;
    expect(nodes?.get('service_node_duration_seconds_count{module_type="plugin_0"}')).toBe(1);
    expect(nodes?.get('service_node_duration_seconds_count{module_type="other"}')).toBeGreaterThan(400);
    expect([...(families.get('service_probe_errors_total')?.samples.keys() ?? [])].join()).not.toContain(
      'invented',
    );
  });

  it.each(['127.0.0.1', 'a"} 1\n', 'UPPER', '', 'x'.repeat(65), 'ä'])(
    'counts a module named %j as other',
    async (name) => {
      const metrics = new Metrics();
      metrics.scanEnded(endedScan(name));
      const nodes = (await familiesOf(metrics)).get('service_node_duration_seconds')?.samples;
      expect([...(nodes?.keys() ?? [])].every((series) => series.includes('module_type="other"'))).toBe(true);
      expect(nodes?.get('service_node_duration_seconds_count{module_type="other"}')).toBe(1);
    },
  );

  it('starts counters with known labels at 0, so that their first event is an increase', async () => {
    const families = await familiesOf(new Metrics());
    const zeros = (name: string) => [...(families.get(name)?.samples ?? [])];
    expect(zeros('service_scans_finished_total')).toHaveLength(2);
    expect(zeros('service_probe_errors_total')).toHaveLength(7);
    expect(zeros('service_notifications_total')).toHaveLength(9);
    expect(zeros('service_result_store_moves_total')).toHaveLength(2);
    for (const name of ['service_probe_errors_total', 'service_notifications_total'])
      expect(zeros(name).every(([, value]) => value === 0)).toBe(true);
  });

  it('exports the same metrics of the process from every instance', async () => {
    for (const metrics of [new Metrics(), new Metrics()]) {
      const families = await familiesOf(metrics);
      for (const name of processMetricNames) expect([name, families.has(name)]).toEqual([name, true]);
      expect(families.get('process_resident_memory_bytes')?.samples.values().next().value).toBeGreaterThan(0);
    }
  });

  it('labels no series with anything but the labels of the catalog', async () => {
    const metrics = new Metrics();
    metrics.countResponse({ route: '/health', status: 200, milliseconds: 1 });
    metrics.scanEnded(endedScan('connect_scanner'));
    const allowed = new Map<string, readonly string[]>(
      Object.entries(metricCatalog).map(([name, { labels }]) => [name, labels]),
    );
    for (const [name, { type, samples }] of await familiesOf(metrics)) {
      if (!name.startsWith('service_')) continue;
      const labels = [...(allowed.get(name) ?? []), ...(type === 'histogram' ? ['le'] : [])];
      for (const series of samples.keys())
        for (const [, label] of series.matchAll(/([a-z_]+)="/g))
          expect([series, labels]).toEqual([series, expect.arrayContaining([label])]);
    }
  });
});
