import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { Lab, leaseMs, rowsOf, sweep } from './cluster.ts';

const addresses = [1, 2, 3, 4].map((last) => `127.86.2.${last}`);

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

  beforeAll(async () => {
    lab = await Lab.open(addresses, 100);
  }, 60_000);

  afterEach(() => lab.clear(), 60_000);

  afterAll(() => lab?.dispose(), 60_000);

  /** Open ports of each host as the scan has them, each once. */
  const openPorts = async (server: ServerProcess, scanId: string) => {
    const ports = (await rowsOf(server, scanId)).filter(({ type }) => type === 'port');
    expect(new Set(ports.map(({ host, port }) => `${host} ${port}`)).size).toBe(ports.length);
    return Map.groupBy(ports, ({ host }) => host);
  };
  const found = async (server: ServerProcess, scanId: string) =>
    [...(await openPorts(server, scanId))].map(([host, { length }]) => `${host}: ${length}`).sort();

  it('of another major version is refused, and gives back what it takes: no shard is lost', async () => {
    const opened = await lab.cluster();
    const { server, url } = opened;
    const early = await opened.worker();
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
      const late = await opened.worker().then(
        () => null,
        (error: Error) => error.message,
      );
      expect(late).toContain('ended with 3');
      expect(late).toMatch(
        /the server at http\S+ is portolan 9\.4\.1 and this worker is \d+\.\d+\.\d+: install/,
      );
      const from = performance.now();
      const scanId = await sweep(server, lab.field, addresses.slice(0, 2), 1000);
      await expect.poll(() => early.log, { timeout: 10_000 }).toContain('is portolan 9.4.1 and this worker');
      await sleep(leaseMs);
      expect(lab.count(from)).toBe(0);
      expect(early.log.match(/is portolan 9\.4\.1/g)).toHaveLength(1);
      const version = /this worker is (\S+):/.exec(late ?? '')?.[1];
      await database.query('drop trigger later on portolan.servers');
      await database.query('update portolan.servers set version = $1', [version]);
      const detail = await server.waitForEnd(scanId, 30_000);
      expect(detail).toMatchObject({ status: 'completed', warnings: [] });
      expect(await found(server, scanId)).toEqual(addresses.slice(0, 2).map((host) => `${host}: 100`));
    } finally {
      await database.end();
    }
  }, 60_000);

  it('a second Ctrl-C ends it at once: its shard is taken over after its lease, and nothing is lost', async () => {
    const opened = await lab.cluster();
    const { server } = opened;
    const first = await opened.worker();
    const from = performance.now();
    const scanId = await sweep(server, lab.field, addresses.slice(0, 1), 20);
    await lab.begun(from, 20);
    // It cannot hand over what it found.
    process.kill(server.pid, 'SIGSTOP');
    try {
      await sleep(1000);
      first.signal('SIGINT');
      await sleep(700);
      expect(first.ended).toBe(false);
      const asked = performance.now();
      expect(await first.stop('SIGINT')).toBe(1);
      expect(performance.now() - asked).toBeLessThan(500);
      await sleep(300);
      expect(lab.count(asked + 300)).toBe(0);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await opened.worker();
    const detail = await server.waitForEnd(scanId, 30_000);
    expect(detail).toMatchObject({ status: 'completed', warnings: [] });
    expect(await found(server, scanId)).toEqual([`${addresses[0]}: 100`]);
  }, 60_000);

  it('keeps to its own scope and block list beside those of the server', async () => {
    const opened = await lab.cluster();
    const { server } = opened;
    await opened.worker(['--concurrency', '3'], {
      SERVICE_SCANNER__SCOPE__DENY: `${addresses[1]}/32`,
      SERVICE_SCANNER__BLOCKLIST: addresses[2],
    });
    const from = performance.now();
    const scanId = await sweep(server, lab.field, addresses, 1000, { exclude: addresses.slice(0, 1) });
    const detail = await server.waitForEnd(scanId, 30_000);
    expect(addresses.map((address) => lab.count(from, address))).toEqual([0, 0, 0, 100]);
    expect(await found(server, scanId)).toEqual([`${addresses[3]}: 100`]);
    expect(detail.status).toBe('completed');
    expect(detail.warnings.map(({ message }) => message).join()).toMatch(/own scanner\.scope/);
    const none = await server.waitForEnd(await sweep(server, lab.field, addresses.slice(1, 3), 1000), 30_000);
    expect(none).toMatchObject({ status: 'failed', error: { code: 'no_targets' } });
  }, 60_000);

  it('keeps its shards while the clocks of all hosts leap by hours', async () => {
    const opened = await lab.cluster(leapingClock());
    const { server } = opened;
    const worker = await opened.worker(['--concurrency', '2'], leapingClock());
    const from = performance.now();
    const scanId = await sweep(server, lab.field, addresses.slice(0, 2), 30);
    await lab.begun(from, 20);
    const other = await opened.worker([], leapingClock());
    const detail = await server.waitForEnd(scanId, 40_000);
    expect(detail).toMatchObject({ status: 'completed', warnings: [] });
    expect(lab.count(from)).toBe(200);
    expect(worker.log.match(/shard ended.*attempt=1 end=done/g)).toHaveLength(2);
    expect(other.log).not.toContain('shard started');
    // Of that the logs tell, which have lines at both times.
    expect(new Set(`${worker.log}${server.log}`.match(/T\d\d:/g)).size).toBeGreaterThan(1);
  }, 60_000);

  it('of the server itself: there are as many as the work asks for, up to workers.max', async () => {
    const opened = await lab.cluster({
      SERVICE_SERVER__WORKERS: '1',
      SERVICE_WORKERS__MAX: '3',
      SERVICE_WORKERS__AUTO_SCALE: 'true',
    });
    const { server } = opened;
    const workers = async () =>
      ((await server.request('/api/v1/health')).body as { workers: object }).workers;
    await expect.poll(workers, { timeout: 5000 }).toEqual({ active: 0, idle: 1, total: 1 });
    const scanId = await sweep(server, lab.field, addresses, 100, { pool: 'default' });
    let most = 0;
    const look = setInterval(() => (most = Math.max(most, server.scanProcesses().length)), 20);
    await expect.poll(workers, { timeout: 15_000 }).toEqual({ active: 3, idle: 0, total: 3 });
    expect(server.scanProcesses()).toHaveLength(3);
    expect(await server.waitForEnd(scanId, 40_000)).toMatchObject({ status: 'completed', warnings: [] });
    clearInterval(look);
    expect(most).toBe(3);
    await expect.poll(() => server.scanProcesses(), { timeout: 5000 }).toEqual([]);
  }, 60_000);
});
