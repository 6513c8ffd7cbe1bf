import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromProto, GrpcClient } from '../../src/server/fixtures/grpc-client.ts';
import { freePort, postgresObstacle, startPostgres, type TestPostgres } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { rounds } from '../rounds.ts';

const obstacle = postgresObstacle();

/** How long the database is away in the middle of a scan, milliseconds. */
const awayMs = rounds(30_000, 5000);
/** Shorter than that, so that every shard loses its worker meanwhile. */
const lease = { SERVICE_WORKERS__LEASE: '3s', SERVICE_WORKERS__HEARTBEAT: '1s' };

/** What clients of the gRPC API see. */
class Clients {
  readonly scans: GrpcClient;
  readonly health: GrpcClient;

  constructor(address: string) {
    this.scans = new GrpcClient(fromProto('service.proto'), 'service.api.v1.ScanService', address);
    this.health = new GrpcClient(fromProto('grpc/health/v1/health.proto'), 'grpc.health.v1.Health', address);
  }

  /** As the standard health protocol tells it; null when nobody answers. */
  async state(): Promise<string | null> {
    return (await this.health.call<{ status: string }>('Check')).value?.status ?? null;
  }

  /** How a call is refused. */
  async refusal() {
    const { error } = await this.scans.call('ListScans');
    const status = error?.metadata.get('grpc-status-details-bin')[0] as Buffer | undefined;
    return {
      code: error?.code,
      retryAfter: error?.metadata.get('retry-after')[0],
      retryInfo: status?.includes('type.googleapis.com/google.rpc.RetryInfo') ?? false,
    };
  }

  close(): void {
    this.scans.close();
    this.health.close();
  }
}

/** UNAVAILABLE, and when to come again. */
const refusedForNow = { code: 14, retryAfter: '5', retryInfo: true };

/** A port for the gRPC API of a server, and clients of it. */
async function grpcApi() {
  const address = `127.0.0.1:${await freePort()}`;
  const env = { SERVICE_SERVER__GRPC__ENABLED: 'true', SERVICE_SERVER__GRPC__BIND: address };
  return { env, clients: new Clients(address) };
}

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('220 ready\r\n'));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return server;
}

describe.skipIf(obstacle !== null)(`a store on PostgreSQL that is away ${obstacle ?? ''}`, () => {
  let postgres: TestPostgres;
  let server: ServerProcess;
  let clients: Clients;
  const services: Server[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.database();
    for (const last of [7, 90, 200]) services.push(await listen(`127.86.0.${last}`, 2525));
    const grpc = await grpcApi();
    clients = grpc.clients;
    server = new ServerProcess({
      env: { SERVICE_QUEUE__URL: url, SERVICE_WORKERS__SHARD_SIZE: '64', ...lease, ...grpc.env },
    });
  });
  afterAll(async () => {
    clients?.close();
    await server?.dispose();
    for (const service of services) service.close();
    await postgres?.remove();
  });

  it('at the start keeps the server waiting, which says so', async () => {
    await postgres.stop();
    const bind = `127.0.0.1:${await freePort()}`;
    const grpc = await grpcApi();
    const env = { SERVICE_QUEUE__URL: `postgres://portolan@127.0.0.1:${postgres.port}/test_1`, ...grpc.env };
    const waiting = new ServerProcess({ args: ['--bind', bind], env });
    try {
      const started = waiting.start();
      started.catch(() => undefined);
      await expect
        .poll(
          () =>
            fetch(`http://${bind}/api/v1/scans`).then(
              (r) => r.status,
              () => 0,
            ),
          { timeout: 120_000 },
        )
        .toBe(503);
      const answer = await fetch(`http://${bind}/api/v1/scans`);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(await answer.json()).toMatchObject({ error: { code: 'unavailable' } });
      expect((await fetch(`http://${bind}/livez`)).status).toBe(200);
      expect((await fetch(`http://${bind}/readyz`)).status).toBe(503);
      await expect.poll(() => grpc.clients.state()).toBe('NOT_SERVING');
      expect(await grpc.clients.refusal()).toEqual(refusedForNow);
      const watch = grpc.clients.health.all<{ status: string }>('Watch', {});
      await postgres.start();
      await started;
      expect((await waiting.request('/api/v1/scans')).status).toBe(200);
      expect(await watch).toMatchObject({ messages: [{ status: 'NOT_SERVING' }], error: { code: 14 } });
      await expect.poll(() => grpc.clients.state()).toBe('SERVING');
      expect((await grpc.clients.scans.get('ListScans'))['total']).toBe(0);
    } finally {
      grpc.clients.close();
      await waiting.dispose();
      // The next test needs it, whatever became of this one.
      await postgres.start();
    }
  });

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
      .poll(async () => (await server.detail(ids[0] as string)).progress.percent)
      .toBeGreaterThan(3);
    expect(await clients.state()).toBe('SERVING');
    const watched = clients.scans.all<{ sequence: number }>('WatchScan', { scan_id: ids[0] });
    const health = clients.health.all<{ status: string }>('Watch', {});
    await sleep(500);
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
    const away = sleep(awayMs);
    expect(await clients.refusal()).toEqual(refusedForNow);
    await expect.poll(() => clients.state()).toBe('NOT_SERVING');
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    // The stream ends, and says that it is worth coming again with the last sequence.
    const { messages, error } = await watched;
    expect(error).toMatchObject({ code: 14 });
    await away;
    await postgres.start();
    await expect.poll(() => fetch(`${server.url}/api/v1/scans`).then((r) => r.status)).toBe(200);
    ids.push(await server.submit(submission));
    await expect.poll(() => clients.state()).toBe('SERVING');
    const rest = await clients.scans.all<{ type: string }>('WatchScan', {
      scan_id: ids[0],
      after_sequence: messages.at(-1)?.sequence ?? 0,
    });
    expect(rest).toMatchObject({ error: null });
    expect(rest.messages.at(-1)?.type).toBe('end');
    for (const id of ids) expect(await server.waitForEnd(id)).toMatchObject({ status: 'completed' });
    for (const id of ids) {
      const { body } = await server.request(`/api/v1/scans/${id}/results`);
      const { results } = (body as { data: { results: { host: string; ports: { port: number }[] }[] } }).data;
      const open = results.flatMap(({ host, ports }) => ports.map(({ port }) => `${host}:${port}`));
      expect(open.sort()).toEqual(['127.86.0.200:2525', '127.86.0.7:2525', '127.86.0.90:2525']);
    }
    const { body } = await server.request('/api/v1/scans');
    expect((body as { data: { total: number } }).data.total).toBe(ids.length);
    await server.stop();
    const states = (await health).messages.map(({ status }) => status);
    expect(states).toEqual(['SERVING', 'NOT_SERVING', 'SERVING', 'NOT_SERVING']);
  }, 400_000);
});
