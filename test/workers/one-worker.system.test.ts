import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '../../src/workspace/process-identity.ts';
import { postgresObstacle } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { type Cluster, Lab, leaseMs, longLease, rowsOf, sweep, until } from './cluster.ts';

const addresses = [1, 2, 3, 4].map((last) => `127.86.2.${last}`);
/** Of the test that runs beside another one. */
const distant = [11, 12].map((last) => `127.86.2.${last}`);

/** Options of Node.js with which the clock of a host leaps to and fro: an hour ahead, an hour behind. */
const leapingClock = () => {
  const leap = `
    const Real = Date;
    let ahead = 3600e3;
    setInterval(() => (ahead = -ahead), 1500).unref();
    globalThis.Date = class Date extends Real {
      constructor(...given) { if (given.length > 0) super(...given); else super(Real.now() + ahead); }
      static now() { return Real.now() + ahead; }
    };`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(leap)}` };
};

describe.skipIf(postgresObstacle() !== null)('a worker', () => {
  let lab: Lab;
  let cluster: Cluster;
  let server: ServerProcess;

  beforeAll(async () => {
    lab = await Lab.open([...addresses, ...distant], 100);
    cluster = await lab.cluster({
      SERVICE_SERVER__WORKERS: '1',
      SERVICE_WORKERS__MAX: '3',
      SERVICE_WORKERS__AUTO_SCALE: 'true',
      // One test waits for its end; in the others a machine that stands still for seconds takes no shard away.
      SERVICE_WORKERS__LEASE: '10s',
    });
    server = cluster.server;
  });

  afterAll(() => lab?.dispose());

  /** Open ports of each host as the scan has them, each once. */
  const openPorts = async (server: ServerProcess, scanId: string) => {
    const ports = (await rowsOf(server, scanId)).filter(({ type }) => type === 'port');
    expect(new Set(ports.map(({ host, port }) => `${host} ${port}`)).size).toBe(ports.length);
    return Map.groupBy(ports, ({ host }) => host);
  };
  const found = async (server: ServerProcess, scanId: string) =>
    [...(await openPorts(server, scanId))].map(([host, { length }]) => `${host}: ${length}`).sort();

  it('of the server itself: there are as many as the work asks for, up to workers.max', async () => {
    const workers = async () =>
      ((await server.request('/api/v1/health')).body as { workers: object }).workers;
    await expect.poll(workers).toEqual({ active: 0, idle: 1, total: 1 });
    const scanId = await sweep(server, lab.field, addresses, 100, { pool: 'default' });
    let most = 0;
    const look = setInterval(() => (most = Math.max(most, server.scanProcesses().length)), 20);
    try {
      await expect.poll(workers).toEqual({ active: 3, idle: 0, total: 3 });
      expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    } finally {
      clearInterval(look);
    }
    // One more may wait for a small scan.
    expect([3, 4]).toContain(most);
    // One waits for the next shard.
    await expect.poll(() => server.scanProcesses().length, { timeout: 20_000 }).toBe(1);
  });

  it('of another major version is refused, and gives back what it takes: no shard is lost', async ({
    onTestFinished,
  }) => {
    const { url } = cluster;
    const pool = cluster.pool(lab.field, onTestFinished);
    const early = await pool.worker();
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    try {
      // As if the server had been replaced by a later one.
      await database.query(`
        create function portolan.later() returns trigger language plpgsql as
          $$ begin new.version := '9.4.1'; return new; end $$;
        create trigger later before insert or update on portolan.servers
          for each row execute function portolan.later();
        update portolan.servers set version = '';`);
      const late = await pool.worker().then(
        () => null,
        (error: Error) => error.message,
      );
      expect(late).toContain('ended with 3');
      expect(late).toMatch(
        /the server at http\S+ is portolan 9\.4\.1 and this worker is \d+\.\d+\.\d+: install/,
      );
      const from = performance.now();
      const scanId = await pool.sweep(addresses.slice(0, 2), 1000);
      await expect.poll(() => early.log).toContain('is portolan 9.4.1 and this worker');
      await sleep(leaseMs);
      expect(lab.count(from)).toBe(0);
      expect(early.log.match(/is portolan 9\.4\.1/g)).toHaveLength(1);
      const version = /this worker is (\S+):/.exec(late ?? '')?.[1];
      await database.query('drop trigger later on portolan.servers');
      await database.query('update portolan.servers set version = $1', [version]);
      const detail = await server.waitForEnd(scanId);
      expect(detail).toMatchObject({ status: 'completed', warnings: [] });
      expect(await found(server, scanId)).toEqual(addresses.slice(0, 2).map((host) => `${host}: 100`));
    } finally {
      await database.end();
    }
  });

  it('a second Ctrl-C ends it at once: its shard is taken over after its lease, and nothing is lost', async ({
    onTestFinished,
  }) => {
    const pool = cluster.pool(lab.field, onTestFinished);
    const first = await pool.worker();
    const from = performance.now();
    const scanId = await pool.sweep(addresses.slice(0, 1), 20);
    await lab.begun(from, 20, addresses[0]);
    // It cannot store what it found.
    const database = new pg.Client({ connectionString: cluster.url });
    await database.connect();
    await database.query('begin; lock table portolan.result_blocks in exclusive mode');
    try {
      await lab.begun(performance.now(), 10, addresses[0]);
      const processes = first.shards();
      expect(processes.length).toBeGreaterThan(0);
      first.signal('SIGINT');
      await sleep(700);
      expect(first.ended).toBe(false);
      expect(await first.stop('SIGINT')).toBe(1);
      await until('the end of its processes', () => !processes.some(isAlive));
    } finally {
      await database.end();
    }
    await pool.worker();
    const detail = await server.waitForEnd(scanId);
    expect(detail).toMatchObject({ status: 'completed', warnings: [] });
    expect(await found(server, scanId)).toEqual([`${addresses[0]}: 100`]);
  });

  it.concurrent('keeps to its own scope and block list beside those of the server', async ({
    onTestFinished,
  }) => {
    const pool = cluster.pool(lab.field, onTestFinished);
    await pool.worker(['--concurrency', '3'], {
      SERVICE_SCANNER__SCOPE__DENY: `${addresses[1]}/32`,
      SERVICE_SCANNER__BLOCKLIST: addresses[2],
    });
    const from = performance.now();
    const scanId = await pool.sweep(addresses, 1000, { exclude: addresses.slice(0, 1) });
    const detail = await server.waitForEnd(scanId);
    expect(addresses.map((address) => lab.count(from, address))).toEqual([0, 0, 0, 100]);
    expect(await found(server, scanId)).toEqual([`${addresses[3]}: 100`]);
    expect(detail.status).toBe('completed');
    expect(detail.warnings.map(({ message }) => message).join()).toMatch(/own scanner\.scope/);
    const none = await server.waitForEnd(await pool.sweep(addresses.slice(1, 3), 1000));
    expect(none).toMatchObject({ status: 'failed', error: { code: 'no_targets' } });
  });

  it.concurrent('keeps its shards while the clocks of all hosts leap by hours', async () => {
    // Only the clocks may cost a shard, not a machine that stands still for a while.
    const opened = await lab.cluster({ ...leapingClock(), ...longLease });
    const { server: leaping } = opened;
    const worker = await opened.worker(['--concurrency', '2'], leapingClock());
    const from = performance.now();
    const scanId = await sweep(leaping, lab.field, distant, 30);
    await until('20 connections', () => lab.asked(from, distant).length > 20);
    const other = await opened.worker([], leapingClock());
    const detail = await leaping.waitForEnd(scanId);
    expect(detail).toMatchObject({ status: 'completed', warnings: [] });
    expect(distant.map((address) => lab.count(from, address))).toEqual([100, 100]);
    expect(worker.log.match(/shard ended.*attempt=1 end=done/g)).toHaveLength(2);
    expect(other.log).not.toContain('shard started');
    // Of that the logs tell, which have lines at both times.
    expect(new Set(`${worker.log}${leaping.log}`.match(/T\d\d:/g)).size).toBeGreaterThan(1);
  });
});
