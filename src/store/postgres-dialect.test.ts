import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle, startPostgres, type TestPostgres } from '../../test/postgres.ts';
import { openStore } from './open.ts';

describe.skipIf(postgresObstacle() !== null)('a store in PostgreSQL', () => {
  let postgres: TestPostgres;
  let proxy: Server;
  let cut = false;
  const clients = new Set<Socket>();

  beforeAll(async () => {
    postgres = await startPostgres({ fsync: 'off' });
    proxy = createServer((client) => {
      const server = connect(postgres.port, '127.0.0.1');
      clients.add(client);
      client.on('data', (bytes) => cut || server.write(bytes));
      server.on('data', (bytes) => cut || client.write(bytes));
      client.on('error', () => undefined).on('close', () => server.destroy());
      server.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  }, 60_000);
  afterAll(async () => {
    for (const client of clients) client.destroy();
    proxy.close();
    await postgres.remove();
  }, 60_000);

  it('says so when a connection breaks under a question, and goes on with another', async () => {
    const { port } = proxy.address() as { port: number };
    const url = (await postgres.database()).replace(`:${postgres.port}/`, `:${port}/`);
    const store = await openStore(url);
    cut = true;
    const answer = store.hosts.workers(0);
    const refused = expect(answer).rejects.toMatchObject({ code: 'unavailable' });
    await sleep(200);
    for (const client of clients) client.resetAndDestroy();
    await refused;
    cut = false;
    expect(await store.hosts.workers(0)).toEqual([]);
    await store.close();
  }, 30_000);
});
