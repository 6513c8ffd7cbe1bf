import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isFinal } from '../../../domain/scan.ts';
import { noTraffic } from '../../../domain/traffic.ts';
import { type MetricFamily, parseTextFormat } from '../../fixtures/metric-families.ts';
import { openService, type Service } from '../../fixtures/service.ts';
import { metricCatalog } from '../../metrics/catalog.ts';
import { processMetricNames } from '../../metrics/process-metrics.ts';

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start(flags: Record<string, unknown> = {}, working = false): Promise<Service> {
  const service = await openService(flags, { working });
  open.push(service);
  return service;
}

async function read(service: Service): Promise<Map<string, MetricFamily>> {
  const response = await service.app.inject({ url: '/metrics' });
  expect(response.statusCode).toBe(200);
  expect(response.headers['vary']).toContain('Accept');
  expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parseTextFormat(response.body);
}

const valueOf = (families: Map<string, MetricFamily>, series: string) =>
  families.get(series.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, ''))?.samples.get(series);

describe('GET /metrics', () => {
  it('has every family with HELP and TYPE from the start', async () => {
    const families = await read(await start());
    const types = [...families].map(([name, { type }]) => [name, type]);
    const service = types.filter(([name]) => name?.startsWith('service_'));
    const declared = Object.entries(metricCatalog).map(([name, { type }]) => [name, type]);
    expect(Object.fromEntries(service)).toEqual(Object.fromEntries(declared));
    expect(types.filter(([name]) => !name?.startsWith('service_')).map(([name]) => name)).toEqual([
      ...processMetricNames,
    ]);
    for (const { help } of families.values()) expect(help).toMatch(/^\S.{8,}$/);
    const samples = (name: string) => Object.fromEntries(families.get(name)?.samples ?? []);
    expect(samples('service_scans_total')).toEqual({ service_scans_total: 0 });
    expect(samples('service_scan_duration_seconds')).toEqual({
      'service_scan_duration_seconds_bucket{le="60"}': 0,
      'service_scan_duration_seconds_bucket{le="300"}': 0,
      'service_scan_duration_seconds_bucket{le="900"}': 0,
      'service_scan_duration_seconds_bucket{le="+Inf"}': 0,
      service_scan_duration_seconds_sum: 0,
      service_scan_duration_seconds_count: 0,
    });
    expect(samples('service_queue_length')).toEqual({ service_queue_length: 0 });
    expect(samples('service_worker_utilization')).toEqual({ service_worker_utilization: 0 });
    expect(samples('service_findings_total')['service_findings_total{severity="critical"}']).toBe(0);
    expect(samples('service_build_info')).toEqual({ 'service_build_info{version="0.0.0"}': 1 });
    expect(valueOf(families, 'service_free_space_bytes')).toBeGreaterThan(0);
  });

  it('counts each scan once, however it ended', async () => {
    const service = await start({ 'server.workers': 1, 'scanner.max_resumes': 1 }, true);
    const done = await service.submit('rows 2');
    await service.until(done, ({ status }) => isFinal(status));
    const running = await service.submit('hang');
    const waiting = await service.submit('rows 1');
    await service.until(running, ({ status }) => status === 'running');
    const busy = await read(service);
    expect(valueOf(busy, 'service_queue_length')).toBe(1);
    expect(valueOf(busy, 'service_worker_utilization')).toBe(1);
    for (const id of [waiting, waiting, running, running]) {
      await service.app.inject({ method: 'POST', url: `/api/v1/scans/${id}/cancel` });
    }
    const dead = await service.submit('crash');
    await service.until(dead, ({ status }) => isFinal(status));
    await expect.poll(async () => valueOf(await read(service), 'service_scans_total')).toBe(4);
    const families = await read(service);
    expect(valueOf(families, 'service_scans_finished_total{status="completed"}')).toBe(1);
    expect(valueOf(families, 'service_scans_finished_total{status="failed"}')).toBe(3);
    // The scan canceled while waiting has no running time.
    expect(valueOf(families, 'service_scan_duration_seconds_count')).toBe(3);
    expect(valueOf(families, 'service_scan_duration_seconds_bucket{le="60"}')).toBe(3);
    expect(valueOf(families, 'service_queue_length')).toBe(0);
    expect(valueOf(families, 'service_workspace_bytes')).toBeGreaterThan(0);
  });

  it('adds up what scans report', async () => {
    const { metrics, store } = (await start()).context;
    const service = open[0] as Service;
    const id = await service.submit('rows 1');
    const scan = await store.scans.get(id);
    if (!scan) throw new Error('no scan');
    const stage = {
      instance_id: 'a',
      module_type: 'connect_scanner',
      status: 'completed' as const,
      started_at: '2026-10-06T14:30:00.000Z',
      completed_at: '2026-10-06T14:30:05.000Z',
      items_in: 0,
      items_out: 0,
      error: null,
    };
    metrics.scanEnded({
      ...scan,
      status: 'completed',
      started_at: '2026-10-06T14:30:00.000Z',
      completed_at: '2026-10-06T14:40:00.000Z',
      severity_counts: { critical: 1, high: 2, medium: 0, low: 0, info: 4 },
      stages: [stage, { ...stage, module_type: 'ssh_parser', started_at: null, completed_at: null }],
    });
    const raw = { sent: 5, received: 4, dropped: 3, retransmitted: 2 };
    metrics.countTraffic({ ...noTraffic(), sent: 7, raw });
    metrics.countTraffic({ ...noTraffic(), sent: 3, errors: { ...noTraffic().errors, tls: 6 } });
    metrics.notificationEnded('slack', 'delivered');
    metrics.resultsMoved('stored');
    const families = await read(service);
    expect(valueOf(families, 'service_scan_duration_seconds_bucket{le="300"}')).toBe(0);
    expect(valueOf(families, 'service_scan_duration_seconds_bucket{le="900"}')).toBe(1);
    expect(valueOf(families, 'service_scan_duration_seconds_sum')).toBe(600);
    expect(valueOf(families, 'service_findings_total{severity="high"}')).toBe(2);
    expect(valueOf(families, 'service_findings_total{severity="info"}')).toBe(4);
    expect(valueOf(families, 'service_packets_sent_total')).toBe(10);
    const node = families.get('service_node_duration_seconds')?.samples;
    expect(node?.get('service_node_duration_seconds_sum{module_type="connect_scanner"}')).toBe(5);
    expect([...(node?.keys() ?? [])].join()).not.toContain('ssh_parser');
    expect(valueOf(families, 'service_raw_packets_sent_total')).toBe(5);
    expect(valueOf(families, 'service_raw_packets_received_total')).toBe(4);
    expect(valueOf(families, 'service_raw_packets_dropped_total')).toBe(3);
    expect(valueOf(families, 'service_raw_packets_retransmitted_total')).toBe(2);
    expect(valueOf(families, 'service_probe_errors_total{kind="tls"}')).toBe(6);
    expect(valueOf(families, 'service_probe_errors_total{kind="refused"}')).toBe(0);
    expect(valueOf(families, 'service_notifications_total{type="slack",status="delivered"}')).toBe(1);
    expect(valueOf(families, 'service_result_store_moves_total{status="stored"}')).toBe(1);
  });

  it('labels requests by the pattern of their route and by nothing that a client chose', async () => {
    const service = await start({ 'server.api.auth': true });
    const token = await service.token('scan:read');
    const headers = { authorization: `Bearer ${token}` };
    for (let index = 0; index < 50; index++) {
      await service.app.inject({ url: `/api/v1/scans/20260101-000000-abcd${index + 10}`, headers });
      await service.app.inject({ url: `/invented-${index}`, headers });
      await service.app.inject({ url: `/ui/invented-${index}.js` });
    }
    await service.app.inject({ method: 'HEAD', url: '/health' });
    await service.app.inject({ url: '/health' });
    await service.app.inject({ url: '/api/v1/%' });
    const families = await read(service);
    const counted = (route: string, status: number) =>
      families
        .get('service_http_requests_total')
        ?.samples.get(`service_http_requests_total{route="${route}",status="${status}"}`);
    expect(counted('/api/v1/scans/:scan_id', 404)).toBe(50);
    expect(counted('unknown', 404)).toBe(50);
    expect(counted('/ui/*', 404)).toBe(50);
    expect(counted('/health', 200)).toBe(2);
    expect(families.get('service_http_requests_total')?.samples.size).toBeLessThan(8);
    expect(valueOf(families, 'service_http_request_duration_seconds_count')).toBeGreaterThan(100);
    const { body } = await service.app.inject({ url: '/metrics' });
    expect(body).not.toMatch(/invented|20260101|svc_|127\.0\.0/);
    expect(body).not.toContain(service.dir);
  });

  it('is open, works with HEAD, knows no other method and counts against no rate', async () => {
    const service = await start({ 'server.api.auth': true, 'server.api.rate_limit': 3 });
    for (let times = 0; times < 10; times++) await read(service);
    const head = await service.app.inject({ method: 'HEAD', url: '/metrics' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'] as const) {
      const response = await service.app.inject({ method, url: '/metrics' });
      expect([method, response.statusCode, response.headers['allow']]).toEqual([method, 405, 'GET, HEAD']);
    }
  });

  it.each([true, false])(
    'demands metrics:read with server.metrics.auth (server.api.auth: %s)',
    async (auth) => {
      const service = await start({
        'server.metrics.auth': true,
        'server.api.auth': auth,
        'server.api.rate_limit': 3,
      });
      const request = async (...scopes: string[]) => {
        const authorization = `Bearer ${await service.token(...scopes)}`;
        return (await service.app.inject({ url: '/metrics', headers: { authorization } })).statusCode;
      };
      expect((await service.app.inject({ url: '/metrics' })).statusCode).toBe(401);
      expect((await service.app.inject({ method: 'HEAD', url: '/metrics' })).statusCode).toBe(401);
      expect([await request('scan:read'), await request('metrics:read'), await request('admin')]).toEqual([
        403, 200, 200,
      ]);
      const headers = { authorization: `Bearer ${await service.token('metrics:read')}` };
      for (let times = 0; times < 10; times++) {
        expect((await service.app.inject({ url: '/metrics', headers })).statusCode).toBe(200);
      }
    },
  );

  it('counts alert rules by state, and those that cannot be evaluated', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'portolan-metrics-'));
    const rules = ['queue_length == 0', 'queue_length > 5', 'queue_length == 0, for: 1h', '1 / 0 == 1'];
    const file = join(dir, 'alerts.yaml');
    const lines = rules.map((rule, at) => `- {name: rule-${at}, action: slack, condition: ${rule}}\n`);
    await writeFile(file, lines.join(''));
    const service = await openService({ 'alerts.file': file }, { dir });
    open.push(service);
    await service.context.alerts.evaluate();
    const families = await read(service);
    const count = (state: string) => valueOf(families, `service_alerts{state="${state}"}`);
    expect([count('firing'), count('pending'), count('inactive')]).toEqual([1, 1, 2]);
    expect(valueOf(families, 'service_alerts_failing')).toBe(1);
    expect(valueOf(families, 'service_outbox_length')).toBe(1);
  });

  it('serves OpenMetrics to those who prefer it, with the same values', async () => {
    const service = await start();
    await service.app.inject({ url: '/health' });
    const request = async (accept: string) =>
      (await service.app.inject({ url: '/metrics', headers: { accept } })) as {
        body: string;
        headers: object;
      };
    const accepts = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
    for (let times = 0; times < 2; times++) {
      const { body, headers } = await request(accepts);
      expect(headers).toMatchObject({
        'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8',
        vary: expect.stringContaining('Accept'),
      });
      expect(body).toMatch(/\n# EOF\n$/);
      expect(body).not.toContain('\n\n');
      expect(body).toContain('# TYPE service_scans counter\nservice_scans_total 0\n');
      expect(body).toContain('# TYPE process_cpu_seconds counter\nprocess_cpu_seconds_total ');
      expect(body).toContain('service_http_requests_total{route="/health",status="200"} 1\n');
      expect(body).not.toMatch(/_total_total|^# TYPE \S+_total /m);
      // Bounds in the only form that strict parsers accept.
      expect(body).toContain('service_scan_duration_seconds_bucket{le="60.0"} 0\n');
      expect(body).toContain('service_scan_duration_seconds_bucket{le="+Inf"} 0\n');
      expect(body).not.toMatch(/le="\d+"/);
      // The text format is not affected by it.
      const families = await read(service);
      expect(valueOf(families, 'service_http_requests_total{route="/health",status="200"}')).toBe(1);
    }
    const types = async (accept: string) => (await request(accept)).headers;
    const plain = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
    for (const accept of ['*/*', 'text/plain', 'application/openmetrics-text;q=0', 'nonsense;;=,', ''])
      expect(await types(accept)).toMatchObject(plain);
  });

  it('omits what cannot be read and reports the rest', async () => {
    const service = await start();
    await service.store.close();
    const families = await read(service);
    expect(families.get('service_queue_length')?.samples.size).toBe(0);
    expect(valueOf(families, 'service_scans_total')).toBe(0);
    open.pop();
    await service.close().catch(() => undefined);
  });
});
