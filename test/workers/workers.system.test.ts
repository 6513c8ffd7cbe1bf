import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../src/server/fixtures/certificates.ts';
import { isAlive } from '../../src/workspace/process-identity.ts';
import { postgresObstacle, startPostgres, type TestPostgres } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { type Cluster, Lab, leaseMs, longLease, rowsOf, slackMs, sweep, until } from './cluster.ts';

const addresses = [1, 2, 3].map((last) => `127.86.0.${last}`);
const [first, second, third] = addresses.map((address) => [address]) as [string[], string[], string[]];
/** Of the test that takes turns. */
const [lengthy, brief] = [['127.86.0.4'], ['127.86.0.5']] as const;
const portCount = 300;

describe.skipIf(postgresObstacle() !== null)('workers on other machines', () => {
  /** A test stops it. */
  let postgres: TestPostgres;
  let lab: Lab;
  let shared: Cluster;
  let server: ServerProcess;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-workers-'));
  const file = join(folder, 'portolan.yaml');
  const deny = (list: string) => writeFileSync(file, `scanner: {scope: {deny: ${list}}}\n`);

  beforeAll(async () => {
    deny('[]');
    postgres = await startPostgres({ fsync: 'off' });
    lab = await Lab.open([...addresses, ...lengthy, ...brief], portCount, () => postgres.database());
    shared = await lab.cluster({ SERVICE_SCANNER__MAX_RATE: '1000', SERVICE_CONFIG: file });
    server = shared.server;
  });

  afterAll(async () => {
    await lab?.dispose();
    await postgres?.remove();
    rmSync(folder, { recursive: true });
  });

  /** The scan has come to its end, and has each port of these hosts once. */
  const foundAll = async (scanId: string, hosts: readonly string[], at = server) => {
    expect(await at.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    const ports = (await rowsOf(at, scanId)).filter(({ type }) => type === 'port');
    expect(ports.map(({ host, port }) => `${host}:${port}`).sort()).toEqual(lab.pairs(hosts));
  };
  /** Connections that a scan of this rate makes in a time, with those that were under way. */
  const most = (rate: number, ms: number) => (rate * (ms + slackMs)) / 1000;

  /** More connections than a rate allows, of those that came within a time; the first one may have been noted late. */
  const beyondRate = (rate: number, from: number, until: number) => {
    const times = lab.field
      .connects(from)
      .map(({ at }) => at)
      .filter((at) => at < until)
      .sort((a, b) => a - b);
    const [begin = 0] = times;
    return times.filter((at, count) => count >= most(rate * 1.05, at - begin));
  };

  it('obey pause, resume and cancel, and keep the rate of the scan together', async ({ onTestFinished }) => {
    const rate = 150;
    const total = addresses.length * portCount;
    const pool = shared.pool(lab.field, onTestFinished);
    const workers = [await pool.worker(), await pool.worker(), await pool.worker()];
    const from = performance.now();
    const scanId = await pool.sweep(addresses, rate);
    await lab.begun(from, 2 * rate);
    const post = async (verb: string) => {
      const asked = performance.now();
      expect((await server.request(`/api/v1/scans/${scanId}/${verb}`, { method: 'POST' })).status).toBe(200);
      return asked;
    };
    const paused = await post('pause');
    await lab.silence(addresses);
    expect(lab.count(from)).toBeLessThan(total);
    const resumed = await post('resume');
    await lab.begun(resumed, rate);
    const detail = await server.detail(scanId);
    expect(detail.progress).toMatchObject({ shards: { total: 3, done: 0, running: 3 } });
    const health = (await server.request('/api/v1/health')).body as { workers: object };
    // The server's own workers count too.
    expect(health.workers).toMatchObject({ active: 3 });
    const canceled = await post('cancel');
    await lab.silence(addresses);
    expect(lab.count(from)).toBeLessThan(total);
    expect(await server.waitForEnd(scanId)).toMatchObject({
      status: 'failed',
      error: { code: 'canceled' },
    });
    expect(beyondRate(rate, from, paused)).toEqual([]);
    expect(beyondRate(rate, resumed, canceled)).toEqual([]);
    // One waits for the next shard.
    for (const worker of workers)
      await expect.poll(() => worker.shards().length, { timeout: 20_000 }).toBeLessThanOrEqual(1);
  });

  it.concurrent('one with a single place gives it to a scan that has none, after half a minute, and goes on afterwards', async ({
    onTestFinished,
  }) => {
    const pool = shared.pool(lab.field, onTestFinished);
    await pool.worker(['--concurrency', '1']);
    const from = performance.now();
    // Takes more than a minute.
    const scanId = await pool.sweep(lengthy, 4);
    await lab.begun(from, 8, lengthy[0]);
    const asked = performance.now();
    const other = await pool.sweep(brief, 60);
    await foundAll(other, brief);
    const [given = 0] = lab.field.connects(asked, `${brief[0]}:`).map(({ at }) => at);
    expect(lab.count(from, lengthy[0])).toBeLessThan(portCount);
    await foundAll(scanId, lengthy);
    expect(lab.probedAgain(from, lengthy, given, 4)).toEqual([]);
  });

  it.concurrent('one killed with -9: another goes on, and asks for no pair again beyond the last second', async ({
    onTestFinished,
  }) => {
    const pool = shared.pool(lab.field, onTestFinished);
    const victim = await pool.worker();
    const from = performance.now();
    const scanId = await pool.sweep(first, 60);
    await lab.begun(from, 150, first[0]);
    const processes = victim.shards();
    expect(processes.length).toBeGreaterThan(0);
    await victim.stop('SIGKILL');
    const killed = performance.now();
    await until('the end of its processes', () => !processes.some(isAlive));
    // It did not go on until the end of its lease.
    expect(lab.count(killed, first[0])).toBeLessThan(most(60, 300));
    await pool.worker();
    await foundAll(scanId, first);
    expect(lab.probedAgain(from, first, killed, 60)).toEqual([]);
  });

  it.concurrent('one that stands still longer than its lease: its process falls silent, its writes are refused', async ({
    onTestFinished,
  }) => {
    const pool = shared.pool(lab.field, onTestFinished);
    const frozen = await pool.worker();
    const from = performance.now();
    const scanId = await pool.sweep(second, 50);
    await lab.begun(from, 80, second[0]);
    frozen.signal('SIGSTOP');
    const stopped = performance.now();
    await lab.silence(second);
    expect(lab.count(stopped, second[0])).toBeLessThan(most(50, leaseMs));
    const other = await pool.worker();
    await lab.begun(performance.now(), 5, second[0]);
    frozen.signal('SIGCONT');
    await foundAll(scanId, second);
    await until('its shard is lost', () => /shard ended.*lost/.test(frozen.log));
    await until('the shard is done', () => /shard ended.*done/.test(other.log));
    await until('the end of its process', () => frozen.shards().length <= 1);
  });

  it.concurrent('one that is stopped gives its shard back, and does not leave it to its lease', async ({
    onTestFinished,
  }) => {
    const pool = shared.pool(lab.field, onTestFinished);
    const stopped = await pool.worker();
    const from = performance.now();
    const scanId = await pool.sweep(third, 60);
    await lab.begun(from, 100, third[0]);
    const other = await pool.worker();
    const asked = performance.now();
    expect(await stopped.stop('SIGTERM')).toBe(0);
    expect(stopped.log).toMatch(/shard ended.*released/);
    await until('the other one takes it', () => /shard started/.test(other.log));
    await foundAll(scanId, third);
    expect(lab.probedAgain(from, third, asked, 60)).toEqual([]);
  });

  it('the server killed with -9: workers go on, and the next one takes in all they found', async ({
    onTestFinished,
  }) => {
    const two = addresses.slice(0, 2);
    const cluster = await lab.cluster(longLease);
    const { server } = cluster;
    onTestFinished(() => cluster.dispose());
    const pool = cluster.pool(lab.field, onTestFinished);
    await pool.worker(['--concurrency', '2']);
    const from = performance.now();
    const scanId = await pool.sweep(two, 100);
    await lab.begun(from, 150);
    await server.stop('SIGKILL');
    await lab.begun(performance.now(), 100);
    await server.start();
    await foundAll(scanId, two, server);
    expect(lab.probedAgain(from, two, Number.POSITIVE_INFINITY, 0)).toEqual([]);
  });

  it('leave an address alone after the server took it out of the scope', async ({ onTestFinished }) => {
    const [kept, denied] = addresses as [string, string];
    deny('[]');
    const pool = shared.pool(lab.field, onTestFinished);
    await pool.worker(['--concurrency', '2']);
    const from = performance.now();
    const scanId = await pool.sweep([kept, denied], 60);
    await lab.begun(from, 60);
    deny(`[${denied}/32]`);
    process.kill(server.pid, 'SIGHUP');
    await lab.silence([denied]);
    expect(lab.count(from, denied)).toBeLessThan(portCount);
    await lab.begun(performance.now(), 5, kept);
    expect(lab.count(performance.now() - slackMs, denied)).toBe(0);
    const detail = await server.waitForEnd(scanId);
    expect(detail.warnings.map(({ code }) => code)).toContain('scope_narrowed');
    expect(lab.asked(from, [kept]).length).toBe(portCount);
    // A worker that stood still for longer than its lease repeats what came after its last checkpoint.
    expect(lab.count(from, kept)).toBeLessThan(portCount + 30);
  });

  it('the database away for a while: everybody waits for it, and nothing is lost', async ({
    onTestFinished,
  }) => {
    const pool = shared.pool(lab.field, onTestFinished);
    const worker = await pool.worker();
    const from = performance.now();
    const scanId = await pool.sweep(third, 60);
    await lab.begun(from, 60);
    await postgres.stop();
    const gone = performance.now();
    await lab.silence(third);
    expect(lab.count(gone)).toBeLessThan(most(60, leaseMs));
    await postgres.start();
    await foundAll(scanId, third);
    expect(worker.log.match(/queue unreachable|heartbeat failed, retrying; the shard/g)?.length).toBeLessThan(
      4,
    );
  });

  describe('of a server with TLS, which lets a shard be tried once', () => {
    let secure: Cluster;
    const keys = mkdtempSync(join(tmpdir(), 'portolan-authority-'));
    const { cert_file, key_file } = makeCertificate(keys, {
      subject: 'portolan.test',
      alternative: 'IP:127.0.0.1',
    });

    beforeAll(async () => {
      setDefaultCACertificates([...getCACertificates('default'), readFileSync(cert_file, 'utf8')]);
      await lab.clear();
      secure = await lab.cluster({
        SERVICE_SERVER__TLS__ENABLED: 'true',
        SERVICE_SERVER__TLS__CERT_FILE: cert_file,
        SERVICE_SERVER__TLS__KEY_FILE: key_file,
        SERVICE_WORKERS__MAX_ATTEMPTS: '1',
      });
      server = secure.server;
    });
    afterAll(() => rmSync(keys, { recursive: true }));

    it.concurrent('reach it with --ca-file when a private authority vouches for it, and its own ones without', async ({
      onTestFinished,
    }) => {
      expect(server.url).toMatch(/^https:/);
      const pool = secure.pool(lab.field, onTestFinished);
      await pool.worker(['--ca-file', cert_file, '--tags', 'dmz']);
      const own = await sweep(server, lab.field, first, 1000, { pool: 'default' });
      const theirs = await pool.sweep(first, 1000);
      await foundAll(own, first);
      await foundAll(theirs, first);
    });

    it.concurrent('a shard that is lost too often is not covered: the scan says so, or fails with worker_lost', async ({
      onTestFinished,
    }) => {
      const pool = secure.pool(lab.field, onTestFinished);
      const two = addresses.slice(1);
      const victim = await pool.worker(['--concurrency', '1', '--ca-file', cert_file]);
      const from = performance.now();
      const scanId = await pool.sweep(two, 100);
      await until('60 connections', () => lab.asked(from, two).length > 60);
      await victim.stop('SIGKILL');
      await pool.worker(['--ca-file', cert_file]);
      const detail = await server.waitForEnd(scanId);
      expect(detail.status).toBe('completed');
      expect(detail.warnings).toEqual([expect.objectContaining({ code: 'worker_lost' })]);
    });
  });
});
