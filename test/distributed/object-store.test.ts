import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { S3Store } from '../../src/workspace/result-store/s3-store.ts';
import { postgresObstacle, storeDatabase } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { startSwift, swiftObstacle, type TestSwift } from '../swift.ts';
import { Lab, longLease, rowsOf, sweep, until } from '../workers/cluster.ts';
import { type ProxyFault, proxyFaults, ServiceProxy } from './service-proxy.ts';

const hosts = ['127.86.32.1', '127.86.32.2'];
const portCount = 60;
const [bucket, prefix] = ['results', 'lab'];
const { 'is slow': slow, 'breaks in the middle of a download': tornDownload, ...uploadFaults } = proxyFaults;
const isManifest: ProxyFault['befalls'] = ({ method, url = '' }) =>
  method === 'PUT' && url.endsWith('/manifest.json');
const obstacle = postgresObstacle() ?? swiftObstacle();

describe.skipIf(obstacle !== null)('two servers whose result store is a bucket', () => {
  let swift: TestSwift;
  let proxy: ServiceProxy;
  let lab: Lab;
  let database: pg.Client;
  let home: ServerProcess;
  let other: ServerProcess;
  /** Reads past the proxy. */
  let objects: S3Store;

  beforeAll(async () => {
    swift = await startSwift();
    await swift.bucket(bucket);
    objects = new S3Store({ ...swift, region: 'us-east-1', bucket, prefix });
    proxy = await ServiceProxy.open(swift.endpoint);
    lab = await Lab.open(hosts, portCount);
    const url = await storeDatabase();
    const env = {
      ...longLease,
      SERVICE_QUEUE__URL: url,
      SERVICE_WORKERS__SHARD_SIZE: '1',
      SERVICE_SERVER__API__RATE_LIMIT: '0',
      SERVICE_WORKSPACE__RESULT_STORE__URL: `s3://${bucket}/${prefix}`,
      SERVICE_WORKSPACE__RESULT_STORE__S3__ENDPOINT: proxy.endpoint,
      SERVICE_WORKSPACE__RESULT_STORE__S3__ACCESS_KEY: swift.accessKey,
      SERVICE_WORKSPACE__RESULT_STORE__S3__SECRET_KEY: swift.secretKey,
    };
    home = await lab.server(env);
    other = await lab.server(env);
    database = new pg.Client({ connectionString: url });
    await database.connect();
  });
  afterEach(async () => {
    proxy.fault = null;
    for (const server of [home, other]) if (!server.isRunning) await server.start();
  });
  afterAll(async () => {
    await database?.end();
    await lab?.dispose();
    proxy?.close();
    await swift?.remove();
  });

  const sweepOf = (server: ServerProcess) => sweep(server, lab.field, hosts, 2000, { pool: 'default' });
  /** Its results have left the database. */
  const isMoved = async (scanId: string): Promise<boolean> => {
    const text = 'select 1 from portolan.result_objects where starts_with(name, $1)';
    const { rows } = await database.query(text, [`_/${scanId}/`]);
    return rows.length === 0;
  };
  const namesOf = (scanId: string) => swift.names(bucket, `${prefix}/_/${scanId}/`);
  const bytesOf = async (scanId: string, name: string): Promise<Buffer> => {
    const found = await objects.read(`_/${scanId}/${name}`, 0);
    if (found === null) throw new Error(`${name} of ${scanId} is not there`);
    return Buffer.concat(await Array.fromAsync(found));
  };
  const resultsOf = (server: ServerProcess, scanId: string) =>
    server.request(`/api/v1/scans/${scanId}/results?format=jsonl`);
  const hasFault = async (server: ServerProcess): Promise<boolean> => {
    const { body } = await server.request('/api/v1/health');
    const { checks } = (body as { data: { checks: { name: string }[] } }).data;
    return checks.some(({ name }) => name === 'result_store');
  };

  /** A server responds with each row, once. */
  const expectRows = async (server: ServerProcess, scanId: string) => {
    const ports = (await rowsOf(server, scanId)).filter(({ type }) => type === 'port');
    expect(ports.map(({ host, port }) => `${host}:${port}`).toSorted()).toEqual(lab.pairs(hosts));
  };
  /** The bucket has what the manifest says, byte for byte, and nothing besides. */
  const expectWhole = async (scanId: string) => {
    const manifest = JSON.parse((await bytesOf(scanId, 'manifest.json')).toString()) as {
      files: { name: string; size: number; sha256: string }[];
    };
    expect(manifest.files.map(({ name }) => name)).toContain('status.json');
    for (const { name, size, sha256 } of manifest.files) {
      const bytes = await bytesOf(scanId, name);
      expect(bytes.length, name).toBe(size);
      expect(createHash('sha256').update(bytes).digest('hex'), name).toBe(sha256);
    }
    const names = [...manifest.files.map(({ name }) => name), 'contents.json', 'manifest.json'];
    expect(await namesOf(scanId)).toEqual(names.map((name) => `${prefix}/_/${scanId}/${name}`).toSorted());
  };
  const expectUnavailable = async (server: ServerProcess, scanId: string) => {
    const response = await resultsOf(server, scanId);
    expect(response).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    expect(response.headers.get('retry-after')).toBe('5');
  };
  const remove = async (scanId: string) => {
    const path = `/api/v1/scans/${scanId}`;
    expect((await other.request(path, { method: 'DELETE' })).status).toBe(200);
    expect(await namesOf(scanId)).toEqual([]);
  };

  it.each(Object.entries<ProxyFault>({ ...uploadFaults, 'is slow': slow }))(
    'lose nothing while it %s, and store it afterwards',
    async (_what, fault) => {
      proxy.fault = fault;
      const scans = [];
      for (const server of [home, other]) scans.push({ server, scanId: await sweepOf(server) });
      for (const { server, scanId } of scans) {
        expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
        for (const reader of [home, other]) await expectRows(reader, scanId);
      }
      if (fault !== slow) {
        for (const { server, scanId } of scans) {
          await until('a failed attempt', () => hasFault(server));
          expect(await isMoved(scanId)).toBe(false);
          expect(await namesOf(scanId)).not.toContain(`${prefix}/_/${scanId}/manifest.json`);
        }
        proxy.fault = null;
      }
      for (const { server, scanId } of scans) {
        await until('its results in the bucket', () => isMoved(scanId));
        await expectWhole(scanId);
        expect(await hasFault(server)).toBe(false);
      }
      proxy.fault = null;
      const [ofHome, ofOther] = scans.map(({ scanId }) => scanId) as [string, string];
      await expectRows(home, ofOther);
      await home.stop();
      await expectRows(other, ofHome);
      await home.start();
      for (const { scanId } of scans) await remove(scanId);
    },
  );

  it('move a scan whose server dies just before its manifest is in the bucket', async () => {
    proxy.fault = { ...uploadFaults['is silent'], befalls: isManifest };
    const scanId = await sweepOf(home);
    expect(await home.waitForEnd(scanId)).toMatchObject({ status: 'completed' });
    await until('all but its manifest', () => proxy.befallen > 0);
    expect(await namesOf(scanId)).toContain(`${prefix}/_/${scanId}/status.json`);
    expect(await isMoved(scanId)).toBe(false);
    await home.stop('SIGKILL');
    await expectRows(other, scanId);
    proxy.fault = null;
    await until('its results in the bucket, moved by the other server', () => isMoved(scanId));
    await expectWhole(scanId);
    await expectRows(other, scanId);
    await home.start();
    await remove(scanId);
  });

  it('move a scan whose manifest is there although no response said so', async () => {
    proxy.fault = {
      ...uploadFaults['breaks after an upload, before its response'],
      befalls: isManifest,
    };
    const scanId = await sweepOf(home);
    await home.waitForEnd(scanId);
    await until('its results in the bucket', () => isMoved(scanId));
    expect(proxy.befallen).toBeGreaterThan(0);
    await expectWhole(scanId);
    await remove(scanId);
  });

  it('respond with all of a stored scan or with 503, and keep no part of what they could not fetch', async () => {
    const scanId = await sweepOf(home);
    await home.waitForEnd(scanId);
    await until('its results in the bucket', () => isMoved(scanId));
    await home.stop();
    for (const fault of [uploadFaults['is away'], uploadFaults['is overloaded'], tornDownload]) {
      proxy.fault = fault;
      await expectUnavailable(other, scanId);
      expect(proxy.befallen).toBeGreaterThan(0);
    }
    const cache = join(other.workspace, 'cache/results');
    expect(existsSync(cache) ? readdirSync(cache) : []).not.toContain(scanId);
    proxy.fault = slow;
    await expectRows(other, scanId);
    expect(readdirSync(cache).filter((name) => name.startsWith('.'))).toEqual([]);
    proxy.fault = null;
    await home.start();
    await remove(scanId);
  });

  it('delete a scan in the bucket first, and not at all while that is away', async () => {
    const scanId = await sweepOf(home);
    await home.waitForEnd(scanId);
    await until('its results in the bucket', () => isMoved(scanId));
    proxy.fault = uploadFaults['is away'];
    const rejected = await other.request(`/api/v1/scans/${scanId}`, { method: 'DELETE' });
    expect(rejected).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    await expectRows(home, scanId);
    proxy.fault = null;
    await remove(scanId);
    for (const server of [home, other])
      expect((await server.request(`/api/v1/scans/${scanId}`)).status).toBe(404);
  });

  it('delete a scan of which only a part is in the bucket', async () => {
    proxy.fault = { ...uploadFaults['is silent'], befalls: isManifest };
    const scanId = await sweepOf(home);
    await home.waitForEnd(scanId);
    await until('all but its manifest', () => proxy.befallen > 0);
    expect(await namesOf(scanId)).not.toEqual([]);
    await remove(scanId);
  });
});
