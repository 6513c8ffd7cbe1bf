import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ 'scanner.scope.deny': ['10.0.0.128/25'] });
});
afterAll(() => service.close());

function post(payload: object, url = '/api/v1/scans/plan') {
  return service.app.inject({ method: 'POST', url, payload });
}

describe('POST /api/v1/scans/plan', () => {
  it('returns what a submission would do, and does nothing', async () => {
    const response = await post({
      targets: ['10.0.0.0/24', 'db-1.example.net'],
      exclude: ['10.0.0.1-5'],
      ports: '22,80',
      rate: 100,
      vuln: true,
      options: { retries: 0, exclude_ports: '80', discovery_retries: 1 },
    });
    expect(response.statusCode).toBe(200);
    const { data } = response.json();
    expect(data).toMatchObject({
      graph: 'standard',
      profile: 'standard',
      vuln: true,
      targets: ['10.0.0.0/24', 'db-1.example.net'],
      addresses: 122,
      hostnames: 1,
      excluded: 132,
      ports: { tcp: 1, udp: 0 },
      rate: 100,
    });
    expect(data.warnings).toContainEqual({ code: 'out_of_scope', message: expect.stringContaining('127') });
    const node = (type: string) =>
      data.nodes.find(({ module_type }: { module_type: string }) => module_type === type);
    expect(node('syn_scanner')).toMatchObject({
      skipped: null,
      options: { ports: '22,80', exclude_ports: '80', retries: 0, rate: 100, timeout: '3s' },
    });
    // 80 is also removed from the four ports of the probe.
    expect(node('tcp_probe_discovery').options).toMatchObject({ ports: '22,25,443', retry: 1 });
    // Per host: ICMP and ARP twice, three ports twice, one port once.
    expect(data.packets_estimate).toBe(123 * (2 + 2 + 6 + 1));
    expect(data.duration_estimate_seconds).toBeGreaterThanOrEqual(Math.floor(data.packets_estimate / 100));
    expect(data.duration_estimate_basis).toMatch(/^all are up and silent; /);
    // 13 hosts are up and respond to the first of each probe.
    expect(data.packets_probable).toBe(110 * (2 + 2 + 6) + 13 * (1 + 1 + 3 + 1));
    expect(data.duration_probable).toMatchObject({
      basis: expect.stringMatching(/^1 address in 10 is up; /),
      scan_id: null,
    });

    expect((await service.app.inject('/api/v1/scans')).json().data.total).toBe(0);
    expect(await readdir(join(service.workspace.dir, 'scans'))).toEqual([]);
  });

  it('says of each target what is left out of it, and by whom', async () => {
    const { data } = (
      await post({
        targets: ['10.0.0.0/24', '10.0.0.0/24,10.0.1.9', 'db-1.example.net'],
        exclude: ['10.0.0.0-5', '192.0.2.1'],
      })
    ).json();
    expect(data.target_list).toEqual([
      {
        target: '10.0.0.0/24',
        kind: 'target',
        addresses: 254,
        note: 'network and broadcast address left out',
      },
      { target: '10.0.1.9', kind: 'target', addresses: 1, note: null },
      {
        target: 'db-1.example.net',
        kind: 'target',
        addresses: 1,
        note: 'name, looked up when the scan starts',
      },
      { target: '10.0.0.0-10.0.0.5', kind: 'excluded', addresses: 5, note: 'by the request' },
      { target: '192.0.2.1', kind: 'excluded', addresses: 0, note: 'not among the targets' },
      { target: '10.0.0.128-10.0.0.254', kind: 'out_of_scope', addresses: 127, note: 'by scanner.scope' },
    ]);
    expect(data.target_list_left).toBe(0);
    const many = Array.from({ length: 300 }, (_, k) => `10.1.${Math.floor(k / 100)}.${(k % 100) + 1}`);
    const long = (await post({ targets: many })).json().data;
    expect(long.target_list).toHaveLength(200);
    expect(long.target_list_left).toBe(100);
  });

  it('applies the options that choose the nodes', async () => {
    const options = { discover_profile: 'tcp', fingerprint: false, max_protocols: 2 };
    const { data } = (await post({ targets: ['10.0.0.1'], profile: 'quick', options })).json();
    const states = data.nodes.map((node: { module_type: string; skipped: string | null }) => [
      node.module_type,
      node.skipped,
    ]);
    expect(states).toEqual([
      ['tcp_probe_discovery', null],
      ['syn_scanner', null],
      ['banner_grabber', 'only ports were requested'],
      ['fingerprint_coordinator', 'only ports were requested'],
      ['asset_profiler', 'no running node provides service_fingerprints'],
      ['os_classifier', 'no running node provides service_fingerprints'],
      ['device_classifier', 'no running node provides service_fingerprints'],
      ['json_reporter', null],
    ]);
    expect(data.nodes[3].options.max_protocols).toBe(2);
    expect(data.nodes[1].depends_on).toEqual(['tcp_probe_discovery']);
    const off = (await post({ targets: ['10.0.0.1'], options: { discover: false } })).json().data;
    expect(off.nodes[0].skipped).toBe('discovery is off');
  });

  it('rejects what a submission rejects, with the same response', async () => {
    for (const body of [
      {},
      { targets: [] },
      { targets: ['10.0.0.300'] },
      { targets: ['10.0.0.200'] },
      { targets: ['10.0.0.1'], profile: 'nope' },
      { targets: ['10.0.0.1'], options: { exclude_ports: '0' } },
      { targets: ['10.0.0.1'], options: { discovery_timeout: '3' } },
      { targets: ['10.0.0.1'], options: { timeout: '1h', discovery_timeout: '1ms' } },
      { targets: ['10.0.0.1'], options: { discover_profile: 'loud' } },
      { targets: ['10.0.0.0/8'] },
      { targets: ['10.0.0.1'], options: { interface: 'no such' } },
      { targets: ['10.0.0.1'], options: { source_ip: 'eth0' } },
      { targets: ['10.0.0.1'], options: { source_ip: '192.0.2.77' } },
      { targets: ['10.0.0.1'], options: { interface: 'nosuch0' } },
    ]) {
      const [planned, submitted] = [await post(body), await post(body, '/api/v1/scans')];
      const shape = (response: typeof planned) => {
        const { error } = response.json();
        delete error.details.request_id;
        return [response.statusCode, error];
      };
      expect(shape(planned)).toEqual(shape(submitted));
      expect(planned.statusCode).not.toBe(200);
    }
  });

  it('names the option that asks for what this machine does not have', async () => {
    const options = { source_ip: '192.0.2.77', source_port: 40_001 };
    const { error } = (await post({ targets: ['10.0.0.1'], options })).json();
    const reason = '192.0.2.77 is not an address of this machine';
    expect([error.code, error.details.fields]).toEqual([
      'invalid_request',
      [{ field: 'options.source_ip', reason }],
    ]);
  });

  it('takes no file name over the API', async () => {
    const options = { fingerprint_rules: '/etc/passwd' };
    const { data, meta } = (await post({ targets: ['10.0.0.1'], options })).json();
    expect(meta.warnings).toEqual(['unknown field: options.fingerprint_rules']);
    expect(JSON.stringify(data)).not.toContain('passwd');
  });

  it('leaves the paths of scans as they were', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE'] as const) {
      const plan = await service.app.inject({ method, url: '/api/v1/scans/plan' });
      const other = await service.app.inject({ method, url: '/api/v1/scans/nonsense' });
      expect([method, plan.statusCode]).toEqual([method, 404]);
      expect(plan.statusCode).toBe(other.statusCode);
    }
    expect((await service.app.inject({ method: 'PUT', url: '/api/v1/scans/plan' })).statusCode).toBe(405);
  });
});
