import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { type Cluster, Lab, longLease, type Pool, until } from './cluster.ts';

/** Tests that run at the same time have addresses of their own. */
const hosts = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => `127.86.3.${first + index}`);
const later = hosts(1, 4);
const [changed, paused, canceled] = [hosts(11, 2), hosts(21, 2), hosts(31, 2)] as const;
const [away, held] = [hosts(41, 4), hosts(51, 3)] as const;
const portCount = 100;

describe.skipIf(postgresObstacle() !== null)('what a server wants of a scan in shards', () => {
  let lab: Lab;
  let cluster: Cluster;
  let server: ServerProcess;
  let database: pg.Client;
  /** A name server that never answers. */
  let silent: Socket;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-orders-'));
  const file = join(folder, 'portolan.yaml');
  const denied: string[] = [];

  const configure = (freeze = '') => {
    const { address, port } = silent.address() as AddressInfo;
    const dns = `dns: {servers: ["${address}:${port}"], timeout: 2s}`;
    const scope = `scope: {deny: [${denied.map((ip) => `${ip}/32`).join()}]}`;
    writeFileSync(file, `scanner: {${dns}, ${scope}, freeze: [${freeze}]}\n`);
  };
  const deny = (address = '') => {
    denied.push(address);
    configure();
  };
  const reload = () => process.kill(server.pid, 'SIGHUP');

  beforeAll(async () => {
    lab = await Lab.open([...later, ...changed, ...paused, ...canceled, ...away, ...held], portCount);
    silent = createSocket('udp4');
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
    configure();
    // Shards of two addresses take half as many processes as shards of one.
    const env = { SERVICE_CONFIG: file, SERVICE_WORKERS__SHARD_SIZE: '2', ...longLease };
    cluster = await lab.cluster(env);
    server = cluster.server;
    database = new pg.Client({ connectionString: cluster.url });
    await database.connect();
  });

  afterAll(async () => {
    silent?.close();
    await database?.end();
    await lab?.dispose();
    rmSync(folder, { recursive: true });
  });

  const counts = (from: number, of: readonly string[]) => of.map((address) => lab.count(from, address));
  const total = (from: number, of: readonly string[]) => lab.asked(from, of).length;
  const begun = (from: number, of: readonly string[], count: number) =>
    until(`${count} connections`, () => total(from, of) > count);
  const post = async (to: ServerProcess, scanId: string, verb: string) =>
    expect((await to.request(`/api/v1/scans/${scanId}/${verb}`, { method: 'POST' })).status).toBe(200);
  const ended = async (scanId: string) => {
    const detail = await server.waitForEnd(scanId);
    expect(detail.status, JSON.stringify(detail)).toBe('completed');
    return detail;
  };

  it.concurrent('rules that came meanwhile hold for shards that begin later, beside those of the worker', async ({
    onTestFinished,
  }) => {
    // The second shard has the second address and the fourth.
    const [, second, , fourth] = later;
    const pool = cluster.pool(lab.field, onTestFinished);
    await pool.worker(['--concurrency', '1'], { SERVICE_SCANNER__BLOCKLIST: second });
    const from = performance.now();
    const scanId = await pool.sweep(later, 60);
    await begun(from, later, 20);
    deny(fourth);
    reload();
    await ended(scanId);
    expect(counts(from, later)).toEqual([portCount, 0, portCount, 0]);
  });

  describe('while names are resolved, before there are shards', () => {
    const resolving = async (pool: Pool, of: readonly string[], name: string) => {
      await pool.worker();
      const from = performance.now();
      const queried = new Promise<void>((resolve) =>
        silent.on('message', (message) => message.includes(name) && resolve()),
      );
      const scanId = await pool.sweep([...of, `${name}.example.net`], 60);
      await queried;
      expect(total(from, of)).toBe(0);
      return { scanId, from };
    };

    it.concurrent('the rules change', async ({ onTestFinished }) => {
      const pool = cluster.pool(lab.field, onTestFinished);
      const { scanId, from } = await resolving(pool, changed, 'changed');
      deny(changed[1]);
      reload();
      await ended(scanId);
      expect(counts(from, changed)).toEqual([portCount, 0]);
    });

    it.concurrent('it is paused and goes on', async ({ onTestFinished }) => {
      const pool = cluster.pool(lab.field, onTestFinished);
      const { scanId, from } = await resolving(pool, paused, 'paused');
      await post(server, scanId, 'pause');
      const laidOut = 'select 1 from portolan.shards where scan_id = $1';
      await until('shards', async () => (await database.query(laidOut, [scanId])).rowCount !== 0);
      // Workers look several times meanwhile.
      await sleep(1500);
      expect(total(from, paused)).toBe(0);
      await post(server, scanId, 'resume');
      await ended(scanId);
      expect(counts(from, paused)).toEqual([portCount, portCount]);
    });

    it.concurrent('it is canceled', async ({ onTestFinished }) => {
      const pool = cluster.pool(lab.field, onTestFinished);
      const { scanId, from } = await resolving(pool, canceled, 'canceled');
      await post(server, scanId, 'cancel');
      expect(await server.detail(scanId)).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
      await sleep(1500);
      expect(total(from, canceled)).toBe(0);
    });
  });

  it('what changes while the server is away holds when it is back: rules for what is left, and a freeze until it ends', async ({
    onTestFinished,
  }) => {
    const both = [...away, ...held];
    const [one, two] = [
      cluster.pool(lab.field, onTestFinished),
      cluster.pool(lab.field, onTestFinished),
    ] as const;
    await Promise.all([one.worker(['--concurrency', '1']), two.worker(['--concurrency', '2'])]);
    const other = await lab.server({ SERVICE_QUEUE__URL: cluster.url, ...longLease });
    const from = performance.now();
    const narrowed = await one.sweep(away, 30);
    const frozen = await two.sweep(held, 30);
    await Promise.all([begun(from, away, 20), begun(from, held, 30)]);
    await server.stop();
    deny(away[1]);
    configure('{from: "2020-01-01", to: "2099-01-01"}');
    await server.start();
    await lab.silence(both);
    const still = performance.now();
    expect(total(from, held)).toBeLessThan(held.length * portCount);
    // Nor does another server let it go on.
    for (const verb of ['pause', 'resume']) await post(other, frozen, verb);
    await sleep(1500);
    expect(lab.count(still)).toBe(0);
    await server.stop();
    configure();
    await server.start();
    expect((await ended(frozen)).warnings).toEqual([]);
    expect(lab.asked(from, held)).toEqual(lab.pairs(held));
    await ended(narrowed);
    expect(away.map((address) => lab.asked(from, [address]).length)).toEqual([
      portCount,
      0,
      portCount,
      portCount,
    ]);
    // What a hold cuts off is asked for anew, and that is no more than what was under way.
    expect(lab.count(from) - total(from, both)).toBeLessThan(30);
  });
});
