import dns from 'node:dns';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../../test/postgres.ts';
import { openStore } from '../open.ts';
import { shownUrl } from './postgres-url.ts';

describe('the URL of a store', () => {
  it.each([
    ['postgres://user:secret@host:1/db', 'postgres://user@host:1/db'],
    ['postgres://user:sec:r@et@host/db', 'postgres://user@host/db'],
    ['postgres://:secret@host', 'postgres://@host'],
    [
      'postgres://user@host/db?password=secret&sslmode=verify-full',
      'postgres://user@host/db?password=***&sslmode=verify-full',
    ],
    ['postgres://user@host/db', 'postgres://user@host/db'],
  ])('is shown without the password: %s', (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
  });

  it('that names a missing certificate is a mistake; a name server that is away is not', async () => {
    const missing = openStore(
      'postgres://portolan@127.0.0.1:1/db?sslmode=verify-full&sslrootcert=/nowhere.pem',
    );
    await expect(missing).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('nowhere.pem'),
    });
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((...given: unknown[]) => {
      const tell = given.at(-1) as (error: Error) => void;
      tell(Object.assign(new Error('getaddrinfo EAI_AGAIN db.example'), { code: 'EAI_AGAIN' }));
    }) as typeof dns.lookup);
    await expect(openStore('postgres://portolan@db.example/db')).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(lookup).toHaveBeenCalled();
    lookup.mockRestore();
  });
});

describe.skipIf(postgresObstacle() !== null)('a store in PostgreSQL', () => {
  let url: string;
  let proxy: Server;
  let cut = false;
  const clients = new Set<Socket>();

  beforeAll(async () => {
    url = await storeDatabase();
    proxy = createServer((client) => {
      const server = connect(Number(new URL(url).port), '127.0.0.1');
      clients.add(client);
      client.on('data', (bytes) => cut || server.write(bytes));
      server.on('data', (bytes) => cut || client.write(bytes));
      client.on('error', () => undefined).on('close', () => server.destroy());
      server.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    proxy.close();
  });

  it('says so when a connection breaks under a question, and goes on with another', async () => {
    const { port } = proxy.address() as { port: number };
    const store = await openStore(url.replace(/:\d+\//, `:${port}/`));
    cut = true;
    const answer = store.hosts.workers(0);
    const refused = expect(answer).rejects.toMatchObject({ code: 'unavailable' });
    await sleep(200);
    for (const client of clients) client.resetAndDestroy();
    await refused;
    cut = false;
    expect(await store.hosts.workers(0)).toEqual([]);
    await store.close();
  });
});
