import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle } from '../postgres.ts';
import { type Cluster, Lab, sweep, until } from './cluster.ts';

const address = '127.86.21.1';

describe.skipIf(postgresObstacle() !== null)('a pool with tags', () => {
  let lab: Lab;
  let cluster: Cluster;

  beforeAll(async () => {
    lab = await Lab.open([address], 20);
    cluster = await lab.cluster({ SERVICE_WORKERS__POOLS: '{"lab": {"tags": ["gpu", "dmz"]}}' });
  });
  afterAll(() => lab?.dispose());

  it('has its scans wait for a worker that has all of them', async () => {
    const { server } = cluster;
    const lacking = await cluster.worker(['--tags', 'gpu']);
    const scanId = await sweep(server, lab.field, [address], 1000);
    await until('it waits', async () =>
      (await server.detail(scanId)).warnings.some(({ code }) => code === 'pool_without_workers'),
    );
    expect((await server.detail(scanId)).status).toBe('pending');
    expect(lacking.log).toMatch(/pools need workers with other tags/);
    const fitting = await cluster.worker(['--tags', 'dmz,fast,gpu']);
    expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    expect([lacking.log.includes(scanId), fitting.log.includes(scanId)]).toEqual([false, true]);
    // What is in another pool is not concerned.
    const other = await sweep(server, lab.field, [address], 1000, { pool: 'default' });
    expect(await server.waitForEnd(other)).toMatchObject({ status: 'completed' });
  });
});
