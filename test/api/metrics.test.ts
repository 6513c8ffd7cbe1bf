import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InProcessServer } from '../cli/in-process-server.ts';

const server = new InProcessServer();
beforeAll(() => server.start());
afterAll(() => server.dispose());

async function samples(): Promise<Map<string, number>> {
  const { status, body } = await server.request('/metrics');
  expect(status).toBe(200);
  const lines = String(body)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]));
}

describe('the metrics of a server', () => {
  it('tell of a scan that ran', async () => {
    const ports = '20001-20040';
    const target = { targets: ['127.0.0.9'], ports, options: { discover: false } };
    const scanId = await server.submit(target);
    await server.waitForEnd(scanId);
    await expect.poll(async () => (await samples()).get('service_scans_total')).toBe(1);
    const found = await samples();
    expect(found.get('service_scans_finished_total{status="completed"}')).toBe(1);
    expect(found.get('service_scan_duration_seconds_count')).toBe(1);
    expect(found.get('service_scan_duration_seconds_sum')).toBeGreaterThan(0);
    expect(found.get('service_packets_sent_total')).toBeGreaterThanOrEqual(40);
    expect(found.get('service_packets_sent_total')).toBeLessThan(200);
    expect(found.get('service_probe_errors_total{kind="refused"}')).toBeGreaterThanOrEqual(38);
    // This machine is scanned by connections.
    expect(found.get('service_raw_packets_sent_total')).toBe(0);
    expect(found.get('service_packet_rate')).toBe(0);
    expect(found.get('service_queue_oldest_seconds')).toBe(0);
    expect(found.get('service_workers{state="idle"}')).toBeGreaterThan(0);
    expect(found.get('service_outbox_length')).toBe(0);
    expect(found.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(found.get('service_node_duration_seconds_count{module_type="syn_scanner"}')).toBe(1);
    expect(found.get('service_queue_length')).toBe(0);
    expect(found.get('service_worker_utilization')).toBe(0);
    expect(found.get('service_workspace_bytes')).toBeGreaterThan(0);
    expect(found.get('service_http_requests_total{route="/api/v1/scans",status="201"}')).toBe(1);
    expect([...found.keys()].filter((name) => /127\.|20001|portolan-test/.test(name))).toEqual([]);
  });

  it('show the rate of a scan while it runs', async () => {
    const slow = { targets: ['127.0.0.8'], ports: '20001-22000', rate: 40, options: { discover: false } };
    const scanId = await server.submit(slow);
    const rate = async () => (await samples()).get('service_packet_rate');
    await expect.poll(rate).toBeGreaterThan(0);
    expect((await samples()).get('service_workers{state="active"}')).toBe(1);
    await server.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    await server.waitForEnd(scanId);
    await expect.poll(rate).toBe(0);
  });
});
