import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, postgresObstacle } from '../postgres.ts';
import { hasPrometheus, rulesWithin, TestPrometheus } from '../prometheus.ts';
import { Lab, longLease, sweep, until } from './cluster.ts';

const host = '127.86.7.1';

describe.skipIf(postgresObstacle() !== null || !hasPrometheus)('the shipped alert rules', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.open([host], 300);
  });
  afterAll(() => lab?.dispose());

  it('report a pool whose only worker was killed, once for two servers, until a worker is back, over a restart too', async ({
    onTestFinished,
  }) => {
    // The place of the server stays the same over its restart.
    const bind = `127.0.0.1:${await freePort()}`;
    const cluster = await lab.cluster(longLease, ['--bind', bind]);
    const { server, url } = cluster;
    const second = await lab.server({ SERVICE_QUEUE__URL: url, ...longLease });
    const targets = [server, second].map((one) => new URL(one.url).host);
    const prometheus = await TestPrometheus.start(targets, rulesWithin(2));
    onTestFinished(() => prometheus.dispose());
    const named = async () =>
      (await prometheus.alerts()).filter(({ labels }) => labels['alertname'] === 'PortolanNoWorkers');
    const valueOf = async (expression: string) => (await prometheus.query(expression))[0]?.value;

    const worker = await cluster.worker(['--concurrency', '1']);
    const from = performance.now();
    // So slow that both outlast the test.
    for (let scans = 0; scans < 2; scans++) await sweep(server, lab.field, [host], 1);
    await lab.begun(from, 1);
    await until('both servers are scraped', async () => (await valueOf('sum(up)')) === 2);
    await until('a scan waits', async () => (await valueOf('max(service_queue_length)')) === 1);
    expect(await named()).toEqual([]);

    await worker.stop('SIGKILL');
    await until('the alert fires', async () => (await named()).some(({ state }) => state === 'firing'));
    expect(await named()).toEqual([
      expect.objectContaining({
        labels: { alertname: 'PortolanNoWorkers', job: 'portolan', severity: 'critical' },
        annotations: expect.objectContaining({ summary: '2 scans wait for a worker, and none is alive' }),
      }),
    ]);
    expect(await valueOf('max(service_queue_oldest_seconds)')).toBeGreaterThan(1);

    const [fired] = await named();
    await server.stop('SIGKILL');
    await until('one server is left', async () => (await valueOf('sum(up)')) === 1);
    await server.start();
    await until('it is back', async () => (await valueOf('sum(up)')) === 2);
    expect(await named()).toEqual([expect.objectContaining({ state: 'firing', activeAt: fired?.activeAt })]);

    await cluster.worker(['--concurrency', '1']);
    await until('the alert is resolved', async () => (await named()).length === 0);
    expect(await valueOf('max(service_queue_unserved_scans)')).toBe(0);
  });
});
