import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { Lab, sweep } from './cluster.ts';

const addresses = [1, 2, 3].map((last) => `127.86.3.${last}`);
const [, second, third] = addresses as [string, string, string];
const frozen = 'freeze: [{from: "2020-01-01", to: "2099-01-01"}]';

describe.skipIf(postgresObstacle() !== null)('what a server wants of a scan in shards', () => {
  let lab: Lab;
  /** A name server that never answers. */
  let silent: Socket;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-orders-'));
  const file = join(folder, 'portolan.yaml');
  const configure = (scanner: string) => writeFileSync(file, `scanner: {${scanner}}\n`);

  beforeAll(async () => {
    lab = await Lab.open(addresses, 100);
    silent = createSocket('udp4');
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
  }, 60_000);

  afterEach(() => lab.clear(), 60_000);

  afterAll(async () => {
    silent?.close();
    await lab?.dispose();
    rmSync(folder, { recursive: true });
  }, 60_000);

  const cluster = async (scanner: string) => {
    configure(scanner);
    return await lab.cluster({ SERVICE_CONFIG: file });
  };
  const reload = (server: ServerProcess, scanner: string) => {
    configure(scanner);
    process.kill(server.pid, 'SIGHUP');
  };
  const counts = (from: number) => addresses.map((address) => lab.count(from, address));
  const post = (server: ServerProcess, scanId: string, verb: string) =>
    server.request(`/api/v1/scans/${scanId}/${verb}`, { method: 'POST' });

  it('rules that came meanwhile hold for shards that begin later, beside those of the worker', async () => {
    const opened = await cluster('');
    const { server } = opened;
    await opened.worker(['--concurrency', '1'], { SERVICE_SCANNER__BLOCKLIST: second });
    const from = performance.now();
    const scanId = await sweep(server, lab.field, addresses, 40);
    await lab.begun(from, 20);
    reload(server, `scope: {deny: [${third}/32]}`);
    expect(await server.waitForEnd(scanId, 40_000)).toMatchObject({ status: 'completed' });
    expect(counts(from)).toEqual([100, 0, 0]);
  }, 60_000);

  it('rules that changed while the server was away hold for what is left', async () => {
    const opened = await cluster('');
    const { server } = opened;
    await opened.worker(['--concurrency', '1']);
    const from = performance.now();
    const scanId = await sweep(server, lab.field, addresses, 40);
    await lab.begun(from, 20);
    await server.stop();
    configure(`scope: {deny: [${second}/32]}`);
    await server.start();
    expect(await server.waitForEnd(scanId, 40_000)).toMatchObject({ status: 'completed' });
    expect(counts(from)).toEqual([100, 0, 100]);
  }, 60_000);

  describe('while names are resolved, before there are shards', () => {
    const resolving = async () => {
      const { address, port } = silent.address() as AddressInfo;
      const dns = `dns: {servers: ["${address}:${port}"], timeout: 2s}`;
      const opened = await cluster(dns);
      const { server } = opened;
      await opened.worker(['--concurrency', '3']);
      const from = performance.now();
      const queried = once(silent, 'message');
      const scanId = await sweep(server, lab.field, [...addresses, 'name.example.net'], 60);
      await queried;
      expect(lab.count(from)).toBe(0);
      return { server, scanId, from, dns };
    };

    it('the rules change', async () => {
      const { server, scanId, from, dns } = await resolving();
      reload(server, `${dns}, scope: {deny: [${second}/32]}`);
      expect(await server.waitForEnd(scanId, 40_000)).toMatchObject({ status: 'completed' });
      expect(counts(from)).toEqual([100, 0, 100]);
    }, 60_000);

    it('it is paused and goes on', async () => {
      const { server, scanId, from } = await resolving();
      expect((await post(server, scanId, 'pause')).status).toBe(200);
      await sleep(6000);
      expect(lab.count(from)).toBe(0);
      expect((await post(server, scanId, 'resume')).status).toBe(200);
      expect(await server.waitForEnd(scanId, 40_000)).toMatchObject({ status: 'completed' });
      expect(lab.count(from)).toBe(300);
    }, 60_000);

    it('it is canceled', async () => {
      const { server, scanId, from } = await resolving();
      expect((await post(server, scanId, 'cancel')).status).toBe(200);
      expect(await server.detail(scanId)).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
      await sleep(1000);
      expect(lab.count(from)).toBe(0);
    }, 60_000);
  });

  it('what begins to hold, or ends, while the server is away holds when it is back', async () => {
    const opened = await cluster('');
    const { server } = opened;
    await opened.worker(['--concurrency', '3']);
    const other = await lab.server({ SERVICE_QUEUE__URL: opened.url });
    const from = performance.now();
    const scanId = await sweep(server, lab.field, addresses, 30);
    await lab.begun(from, 30);
    await server.stop();
    configure(frozen);
    await server.start();
    await sleep(2000);
    const still = performance.now();
    // Nor does another server let it go on.
    for (const verb of ['pause', 'resume']) expect((await post(other, scanId, verb)).status).toBe(200);
    await sleep(1500);
    expect(lab.count(still)).toBe(0);
    await server.stop();
    configure('');
    await server.start();
    expect(await server.waitForEnd(scanId, 40_000)).toMatchObject({ status: 'completed', warnings: [] });
    expect(lab.count(from)).toBe(300);
  }, 90_000);
});
