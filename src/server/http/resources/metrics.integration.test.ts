import { afterEach, describe, expect, it } from 'vitest';
import { isFinal } from '../../../domain/scan.ts';
import { openService, type Service } from '../../fixtures/service.ts';

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start(flags: Record<string, unknown> = {}, working = false): Promise<Service> {
  const service = await openService(flags, { working });
  open.push(service);
  return service;
}

interface Family {
  type: string;
  help: string;
  /** By name and labels as they stand. */
  samples: Map<string, number>;
}

/** Reads the text format 0.0.4 strictly: every sample belongs to a family that has its HELP and TYPE before it. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let name = '';
  let help = '';
  for (const line of text.split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment?.[1] === 'HELP') help = comment[3] as string;
    else if (comment) {
      name = comment[2] as string;
      expect(families.has(name)).toBe(false);
      families.set(name, { type: comment[3] as string, help, samples: new Map() });
    } else if (line !== '') {
      const [, series = '', base = '', value = ''] =
        /^(([a-z_]+)(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})?) (\S+)$/.exec(line) ?? [];
      const family = families.get(name);
      expect([line, base.replace(/_(bucket|sum|count)$/, '').startsWith(name) || base === name]).toEqual([
        line,
        true,
      ]);
      expect([line, Number.isFinite(Number(value))]).toEqual([line, true]);
      family?.samples.set(series, Number(value));
    }
  }
  return families;
}

async function read(service: Service): Promise<Map<string, Family>> {
  const answer = await service.app.inject({ url: '/metrics' });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parse(answer.body);
}

const valueOf = (families: Map<string, Family>, series: string) =>
  families.get(series.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, ''))?.samples.get(series);

describe('GET /metrics', () => {
  it('has every family with HELP and TYPE from the start', async () => {
    const families = await read(await start());
    expect(Object.fromEntries([...families].map(([name, { type }]) => [name, type]))).toEqual({
      service_scans_total: 'counter',
      service_scan_duration_seconds: 'histogram',
      service_scans_finished_total: 'counter',
      service_packets_sent_total: 'counter',
      service_findings_total: 'counter',
      service_http_requests_total: 'counter',
      service_http_request_duration_seconds: 'histogram',
      service_node_duration_seconds: 'histogram',
      service_notifications_total: 'counter',
      service_queue_length: 'gauge',
      service_worker_utilization: 'gauge',
      service_workspace_bytes: 'gauge',
      service_free_space_bytes: 'gauge',
      service_build_info: 'gauge',
    });
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
    // The one that was canceled while it waited has no running time.
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
    metrics.packetsSent(7);
    metrics.packetsSent(3);
    metrics.notificationEnded('slack', 'sent');
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
    expect(valueOf(families, 'service_notifications_total{type="slack",status="sent"}')).toBe(1);
  });

  it('labels requests by the pattern of their route and by nothing that a client chose', async () => {
    const service = await start({ 'server.api.auth': true });
    const token = await service.token('scan:read');
    const headers = { authorization: `Bearer ${token}` };
    for (let index = 0; index < 50; index++) {
      await service.app.inject({ url: `/api/v1/scans/20260101-000000-abcd${index + 10}`, headers });
      await service.app.inject({ url: `/invented-${index}`, headers });
      await service.app.inject({ url: `/ui/invented-${index}` });
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
      const answer = await service.app.inject({ method, url: '/metrics' });
      expect([method, answer.statusCode, answer.headers['allow']]).toEqual([method, 405, 'GET, HEAD']);
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
      const ask = async (...scopes: string[]) => {
        const authorization = `Bearer ${await service.token(...scopes)}`;
        return (await service.app.inject({ url: '/metrics', headers: { authorization } })).statusCode;
      };
      expect((await service.app.inject({ url: '/metrics' })).statusCode).toBe(401);
      expect((await service.app.inject({ method: 'HEAD', url: '/metrics' })).statusCode).toBe(401);
      expect([await ask('scan:read'), await ask('metrics:read'), await ask('admin')]).toEqual([
        403, 200, 200,
      ]);
      const headers = { authorization: `Bearer ${await service.token('metrics:read')}` };
      for (let times = 0; times < 10; times++) {
        expect((await service.app.inject({ url: '/metrics', headers })).statusCode).toBe(200);
      }
    },
  );

  it('leaves out what cannot be read and tells the rest', async () => {
    const service = await start();
    await service.store.close();
    const families = await read(service);
    expect(families.get('service_queue_length')?.samples.size).toBe(0);
    expect(valueOf(families, 'service_scans_total')).toBe(0);
    open.pop();
    await service.close().catch(() => undefined);
  });
});
