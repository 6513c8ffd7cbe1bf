import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyDigestOf } from '../../../queue/shard-queue.ts';
import { openStore, type Store } from '../../../store/open.ts';
import { ScanFolder } from '../../../workspace/scan-folder.ts';
import { ShardIngest } from '../../shards/shard-ingest.ts';
import type { App } from '../app-type.ts';
import { sendError } from '../errors.ts';
import { shardRowRoutes } from './shard-rows.ts';

const scanId = '20261006-143022-a1b2c3';
const mebibyte = 1024 * 1024;

let dir: string;
let store: Store;
let intake: ShardIngest;
let app: App;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-shard-rows-'));
  store = await openStore(join(dir, 'service.db'));
  await store.execute(`pragma foreign_keys = off`, []);
  const division = { addresses: ['10.0.0.1'], hostnames: {} };
  await store.shards.insert(scanId, 'lab', division, 1);
  const worker = { id: 'w', keyDigest: keyDigestOf('right') };
  await store.shards.claim({ scanId, shard: 0 }, worker, 0, 30_000);
  intake = new ShardIngest(store, scanId, new ScanFolder(dir), () => undefined);
  app = Fastify() as unknown as App;
  app.setErrorHandler((error, incoming, reply) => sendError(error, incoming, reply));
  shardRowRoutes(app, { shards: { intakes: new Map([[scanId, intake]]) } } as never);
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  app.server.closeAllConnections();
  await app.close();
  await intake.close();
  await store.close();
  await rm(dir, { recursive: true });
});

/** Sends the head of a request, with only the given part of its body. @returns status of the response */
async function statusOf(path: string, headers: Record<string, string | number>, body = ''): Promise<number> {
  const { port } = app.server.address() as AddressInfo;
  const call = request({ port, method: 'PUT', path: `/internal/shards/${path}`, headers, agent: false });
  call.flushHeaders();
  if (body !== '') call.write(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  call.destroy();
  return response.statusCode ?? 0;
}

const sender = (key: string, type: string, length: number, attempt = '1') => ({
  authorization: `Bearer ${key}`,
  'x-shard-attempt': attempt,
  'content-type': type,
  'content-length': length,
});

it.each([
  ['checkpoint', 'application/octet-stream'],
  ['rows/0', 'application/x-ndjson'],
])('%s checks the key, then the length, and reads the body last', async (kind, type) => {
  const path = `${scanId}/0/${kind}`;
  // None of these sends any byte of its body: a server that waited for it would not respond.
  expect(await statusOf(path, sender('wrong', type, 3 * mebibyte))).toBe(401);
  expect(await statusOf(path, sender('wrong', type, 900 * mebibyte))).toBe(401);
  expect(await statusOf(path, { 'content-type': type, 'content-length': mebibyte })).toBe(401);
  expect(await statusOf(path, sender('right', type, mebibyte, '2'))).toBe(409);
  const remote = `20261006-143022-zzzzzz/0/${kind}`;
  expect(await statusOf(remote, sender('right', type, mebibyte))).toBe(503);
  expect(await statusOf(path, sender('right', type, 65 * mebibyte))).toBe(413);
});

it('takes the body of who holds the key', async () => {
  const body = '{"nodes":{}}';
  const digest = createHash('sha256').update(body).digest('hex');
  const headers = sender('right', 'application/octet-stream', body.length);
  expect(await statusOf(`${scanId}/0/checkpoint`, { ...headers, 'x-content-sha256': digest }, body)).toBe(
    204,
  );
});
