import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { HttpReceiver } from '../receivers.ts';
import { type Cluster, Lab, until } from './cluster.ts';
import type { WorkerProcess } from './worker-process.ts';

const address = '127.86.9.1';
/** Ports of the target: a scan of all of them at one a second goes on until its worker is killed. */
const portCount = 300;

interface Notice {
  state: string;
  fired_at: string;
  values: Record<string, number>;
}

const rules = `alerts:
  - name: waiting
    condition: oldest_queued_seconds > 2
    for: 1s
    action: webhook:ops
    message: A scan waits for a worker
`;

describe.skipIf(postgresObstacle() !== null)('an alert about a pool without workers', () => {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-alert-rules-'));
  const receiver = new HttpReceiver();
  let lab: Lab;
  let cluster: Cluster;
  let first: ServerProcess;
  let second: ServerProcess;
  let worker: WorkerProcess;
  let database: pg.Client;

  beforeAll(async () => {
    const hook = await receiver.listen();
    writeFileSync(join(dir, 'alerts.yaml'), rules);
    lab = await Lab.open([address], portCount);
    const env = {
      SERVICE_ALERTS: join(dir, 'alerts.yaml'),
      SERVICE_ALERTS__INTERVAL: '1s',
      SERVICE_NOTIFICATIONS__WEBHOOKS: JSON.stringify([{ name: 'ops', url: hook }]),
    };
    cluster = await lab.cluster(env);
    first = cluster.server;
    second = await lab.server({ ...env, SERVICE_QUEUE__URL: cluster.url });
    worker = await cluster.worker();
    database = new pg.Client({ connectionString: cluster.url });
    await database.connect();
  });

  afterAll(async () => {
    await database?.end();
    await lab?.dispose();
    await receiver.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const notices = () => receiver.received.map(({ body }) => JSON.parse(body) as Notice);
  const states = () => notices().map(({ state }) => state);
  /** When the lease of whoever evaluates ends: later with each round. */
  const leaseEnd = async () => {
    const { rows } = await database.query("select lease_until from portolan.leases where name = 'alerts'");
    return Number((rows[0] as { lease_until: string } | undefined)?.lease_until ?? 0);
  };
  /** Resolves when the alerts were evaluated so many times more, by whichever server. */
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round++) {
      const before = await leaseEnd();
      await until('an evaluation', async () => (await leaseEnd()) > before);
    }
  };
  const submit = (rate: number) =>
    first.submit({
      targets: [address],
      ports: lab.field.ports,
      rate,
      pool: 'lab',
      dag: 'port-scan',
      options: { discover: false, retries: 0, timeout: '1s' },
    });
  const alertOf = async (server: ServerProcess) => {
    const { body } = await server.request('/api/v1/alerts');
    return (body as { data: { alerts: { state: string; since: string }[] } }).data.alerts[0];
  };

  it('fires once when its only worker is killed, across servers and restarts, and resolves once when one is back', async () => {
    const begun = performance.now();
    const running = await submit(1);
    await lab.begun(begun, 1);
    worker.signal('SIGKILL');
    const queued = await submit(100_000);
    await until('the notice', () => receiver.received.length > 0);
    expect(notices()[0]).toMatchObject({
      event: 'alert',
      name: 'waiting',
      state: 'firing',
      condition: 'oldest_queued_seconds > 2',
      message: 'A scan waits for a worker',
    });
    expect(notices()[0]?.values['oldest_queued_seconds']).toBeGreaterThan(2);

    // The state goes on where it was, whichever server evaluates.
    const since = (await alertOf(second))?.since;
    expect(await alertOf(first)).toMatchObject({ state: 'firing', since });
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      for (const server of [first, second]) {
        await server.stop(signal);
        await rounds(2);
        await server.start();
      }
    }
    expect(states()).toEqual(['firing']);
    expect(await alertOf(second)).toMatchObject({ state: 'firing', since });

    await cluster.worker();
    await until('the second notice', () => receiver.received.length > 1);
    await first.request(`/api/v1/scans/${running}/cancel`, { method: 'POST' });
    expect((await first.waitForEnd(queued)).status).toBe('completed');
    await rounds(3);
    expect(states()).toEqual(['firing', 'resolved']);
    expect(notices()[1]?.fired_at).toBe(notices()[0]?.fired_at);
  });
});
