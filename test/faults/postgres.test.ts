import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle, startPostgres, type TestPostgres } from '../postgres.ts';
import { ServerProcess } from '../program.ts';

const obstacle = postgresObstacle();

/** How long the database is away in the middle of a scan, milliseconds. */
const awayMs = 5000;

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('220 ready\r\n'));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return server;
}

describe.skipIf(obstacle !== null)(`a store on PostgreSQL that is away ${obstacle ?? ''}`, () => {
  let postgres: TestPostgres;
  let server: ServerProcess;
  const services: Server[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.database();
    for (const last of [7, 90, 200]) services.push(await listen(`127.86.0.${last}`, 2525));
    server = new ServerProcess({ env: { SERVICE_QUEUE__URL: url, SERVICE_WORKERS__SHARD_SIZE: '64' } });
  }, 60_000);
  afterAll(async () => {
    await server?.dispose();
    for (const service of services) service.close();
    await postgres?.remove();
  });

  it('at the start keeps the server waiting, which says so', async () => {
    await postgres.stop();
    const bind = '127.0.0.1:18473';
    const env = { SERVICE_QUEUE__URL: `postgres://portolan@127.0.0.1:${postgres.port}/test_1` };
    const waiting = new ServerProcess({ args: ['--bind', bind], env });
    try {
      const started = waiting.start();
      await expect
        .poll(
          () =>
            fetch(`http://${bind}/api/v1/scans`).then(
              (r) => r.status,
              () => 0,
            ),
          { timeout: 15_000 },
        )
        .toBe(503);
      const answer = await fetch(`http://${bind}/api/v1/scans`);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(await answer.json()).toMatchObject({ error: { code: 'unavailable' } });
      expect((await fetch(`http://${bind}/livez`)).status).toBe(200);
      await postgres.start();
      await started;
      expect((await waiting.request('/api/v1/scans')).status).toBe(200);
    } finally {
      await waiting.dispose();
    }
  }, 60_000);

  it('in the middle loses nothing, and work goes on by itself', async () => {
    await server.start();
    const submission = {
      targets: ['127.86.0.0/24'],
      ports: [2525],
      rate: 150,
      options: { timeout: '500ms', retries: 0 },
    };
    const ids = [await server.submit(submission)];
    await expect
      .poll(async () => (await server.detail(ids[0] as string)).progress.percent, { timeout: 20_000 })
      .toBeGreaterThan(3);
    await postgres.stop();
    const refused = await fetch(`${server.url}/api/v1/scans`);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const submit = await fetch(`${server.url}/api/v1/scans`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(submission),
    });
    expect(submit.status).toBe(503);
    await sleep(awayMs);
    await postgres.start();
    await expect
      .poll(() => fetch(`${server.url}/api/v1/scans`).then((r) => r.status), { timeout: 15_000 })
      .toBe(200);
    ids.push(await server.submit(submission));
    for (const id of ids) expect(await server.waitForEnd(id, 90_000)).toMatchObject({ status: 'completed' });
    for (const id of ids) {
      const { body } = await server.request(`/api/v1/scans/${id}/results`);
      const { results } = (body as { data: { results: { host: string; ports: { port: number }[] }[] } }).data;
      const open = results.flatMap(({ host, ports }) => ports.map(({ port }) => `${host}:${port}`));
      expect(open.sort()).toEqual(['127.86.0.200:2525', '127.86.0.7:2525', '127.86.0.90:2525']);
    }
    const { body } = await server.request('/api/v1/scans');
    expect((body as { data: { total: number } }).data.total).toBe(ids.length);
  }, 200_000);
});
