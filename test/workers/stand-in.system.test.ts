import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { numberFrom, postgresObstacle, runStatements, storeDatabase } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { Lab, rowsOf, sweep, until } from './cluster.ts';
import { WorkerProcess } from './worker-process.ts';

const [address, forbidden] = ['127.86.31.1', '127.86.31.2'] as const;
const portCount = 300;

describe.skipIf(postgresObstacle() !== null)('a worker without any server', () => {
  let lab: Lab;
  let url: string;
  let server: ServerProcess;
  let worker: WorkerProcess;

  beforeAll(async () => {
    lab = await Lab.open([address, forbidden], portCount);
  });
  afterAll(() => lab?.dispose());
  beforeEach(async () => {
    url = await storeDatabase();
  });
  afterEach(async () => {
    await worker?.dispose();
    await lab.clear();
  });

  const env = () => ({
    SERVICE_QUEUE__URL: url,
    SERVICE_WORKERS__LEASE: '5s',
    SERVICE_WORKERS__HEARTBEAT: '1s',
  });
  const startBoth = async (ofServer: NodeJS.ProcessEnv = {}, ofWorker: NodeJS.ProcessEnv = {}) => {
    const args = ['--pool', 'lab,default', '--concurrency', '1', '--queue', url];
    worker = new WorkerProcess(args, { ...env(), ...ofWorker });
    [server] = await Promise.all([lab.server({ ...env(), ...ofServer }), worker.start()]);
  };
  /** Its last heartbeat ages at once, so that the test need not wait until it has. */
  const kill = async () => {
    await server.stop('SIGKILL');
    await runStatements(url, ['update portolan.servers set last_seen = last_seen - 15000']);
  };
  const begun = (from: number, count: number) =>
    until(`${count} connections`, () => lab.count(from, address) > count);
  const completed = (scanId: string) =>
    until('it is completed', async () => {
      const text = `select count(*) from portolan.scans where scan_id = '${scanId}' and status = 'completed'`;
      return (await numberFrom(url, text)) === 1;
    });
  const portsOf = async (scanId: string) =>
    (await rowsOf(server, scanId))
      .filter(({ type }) => type === 'port')
      .map(({ host, port }) => `${host}:${port}`)
      .sort();

  it('completes the scans of a killed one, divided, undivided and not begun: it finds every row when it is back', async () => {
    await startBoth();
    const from = performance.now();
    const divided = await sweep(server, lab.field, [address], 25);
    await begun(from, 40);
    const undivided = await sweep(server, lab.field, [address], 25, { pool: 'default' });
    await until('rows of both are stored', async () => {
      const shards = await numberFrom(
        url,
        `select count(*) from portolan.shards where scan_id = '${divided}'`,
      );
      const text = `select count(*) from portolan.result_blocks where scan_id = '${undivided}'`;
      return shards === 1 && (await numberFrom(url, text)) > 0;
    });
    // The worker has one place.
    const waiting = await sweep(server, lab.field, [address], 200);
    // One of them completes it all, or both share it.
    const second = await new WorkerProcess(['--pool', 'field', '--queue', url], env()).start();
    try {
      await kill();
      await Promise.all([divided, undivided, waiting].map(completed));
      const begun = [worker, second].filter(({ log }) => /no server is there/.test(log));
      expect(begun.length).toBeGreaterThan(0);
      for (const one of begun) {
        // As soon as nothing is left to do, it is a worker like any other.
        await until('it has ended that', () => /completes no more scans/.test(one.log));
        const folder = join(one.workspace, 'worker');
        const names = existsSync(folder) ? readdirSync(folder) : [];
        expect(names.filter((name) => name.includes('server'))).toEqual([]);
      }
    } finally {
      await second.dispose();
    }
    await server.start();
    for (const scanId of [divided, undivided, waiting])
      expect(await portsOf(scanId)).toEqual(lab.pairs([address]));
  });

  const denied = { SERVICE_SCANNER__SCOPE__DENY: forbidden };

  it.each([
    { who: 'the killed one', ofServer: denied, ofWorker: {} },
    { who: 'itself', ofServer: {}, ofWorker: denied },
  ])('sends to no address that is forbidden by $who', async ({ ofServer, ofWorker }) => {
    await startBoth(ofServer, ofWorker);
    const from = performance.now();
    // A server rejects an address that it forbids, but not a network.
    const targets = ['127.86.31.0/30'];
    const running = await sweep(server, lab.field, targets, 25, { pool: 'default' });
    await begun(from, 20);
    // The worker has one place.
    const other = await sweep(server, lab.field, [address], 25);
    const waiting = await sweep(server, lab.field, targets, 100);
    await kill();
    const moment = performance.now() + 1500;
    await Promise.all([running, other, waiting].map(completed));
    expect(lab.count(moment, forbidden)).toBe(0);
    expect(lab.count(moment, address)).toBeGreaterThan(portCount);
    if (ofServer === denied) expect(lab.count(from, forbidden)).toBe(0);
  });

  it('leaves scans alone while there is a server', async () => {
    await startBoth();
    const other = await lab.server(env());
    const from = performance.now();
    const scanId = await sweep(server, lab.field, [address], 25);
    await begun(from, 40);
    await server.stop('SIGKILL');
    await runStatements(url, [
      `update portolan.servers set last_seen = last_seen - 15000 where url = '${server.url}'`,
    ]);
    expect(await other.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    expect(worker.log).not.toMatch(/no server is there/);
  });
});
