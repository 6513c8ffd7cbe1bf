import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresObstacle, startPostgres, type TestPostgres } from '../postgres.ts';
import {
  ended,
  type NamespaceProcess,
  ports,
  serverAddress,
  TestNetwork,
  targets,
  truth,
} from './network.ts';

const launcher = resolve(import.meta.dirname, '../../bin/portolan');
const leaseMs = 10_000;
/** Packets per second of the scan, and of one worker at the most. */
const rate = 12_000;
const workerRate = 5000;
/** Packets per second of the scan whose packets are counted one by one. */
const sweepRate = 2000;

const obstacle =
  process.getuid?.() === 0 && spawnSync('which', ['nft']).status === 0
    ? postgresObstacle()
    : 'needs root and nftables (network namespaces)';

interface Scan {
  status: string;
  started_at: string;
  completed_at: string;
  progress: { percent: number; shards: { total: number; done: number; running: number } };
  warnings: { code: string; message: string }[];
}

interface Result {
  host: string;
  ports: { port: number; state: string; service: { product: string; version: string } | null }[];
  port_counts: Record<string, number>;
}

describe.skipIf(obstacle !== null)(`one server and four workers ${obstacle ?? ''}`, () => {
  const net = new TestNetwork(4);
  const folder = mkdtempSync(join(tmpdir(), 'portolan-distributed-'));
  const started: ChildProcess[] = [];
  let home: NamespaceProcess;
  let postgres: TestPostgres;
  let url: string;
  const base = `http://${serverAddress}:8080`;
  const workers: ChildProcess[] = [];

  beforeAll(async () => {
    await net.up();
    home = net.inside(net.home);
    postgres = await startPostgres(
      { fsync: 'off' },
      {
        prefix: ['ip', 'netns', 'exec', net.home],
        address: serverAddress,
        trusted: '10.90.0.0/24',
        query: (place, text) => home.ask({ kind: 'sql', url: place, text }),
      },
    );
    url = await postgres.database();
    const server = program(
      net.home,
      ['server', 'start', '--bind', `${serverAddress}:8080`, '--allow-insecure'],
      'home',
    );
    await until(async () => (await get('/readyz').catch(() => null)) !== null, 20_000);
    expect(server.exitCode).toBeNull();
    for (const [index, name] of net.workers.entries()) {
      const args = ['worker', 'start', '--pool', 'field', '--queue', url, '--concurrency', '1'];
      workers.push(program(name, args, `worker-${index}`));
    }
    await until(async () => (await sql('select worker_id from portolan.workers')).length >= 4, 20_000);
  }, 90_000);

  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    await Promise.all(started.map(ended));
    await postgres?.remove();
    net.down();
    rmSync(folder, { recursive: true, force: true });
  });

  function program(namespace: string, args: string[], name: string): ChildProcess {
    const child = net.spawn(namespace, process.execPath, [launcher, ...args], {
      SERVICE_WORKSPACE__DIR: join(folder, name),
      XDG_CONFIG_HOME: folder,
      SERVICE_QUEUE__URL: url,
      SERVICE_SERVER__API__AUTH: 'false',
      SERVICE_WORKERS__LEASE: `${leaseMs}ms`,
      SERVICE_WORKERS__HEARTBEAT: '2s',
      SERVICE_WORKERS__SHARD_SIZE: '256',
      SERVICE_SCANNER__SCOPE__ALLOW: targets,
      SERVICE_SCANNER__MAX_RATE: String(name === 'home' ? rate : workerRate),
    });
    started.push(child);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text: Buffer) => process.env['SHOW_LOGS'] && console.log(`${name}: ${text}`));
    return child;
  }

  async function get<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
    const answer = await home.ask<{ status: number; text: string }>({
      kind: 'http',
      method,
      url: `${base}${path}`,
      ...(body === undefined ? {} : { body }),
    });
    if (answer.status >= 400) throw new Error(`${answer.status} ${answer.text}`);
    return (JSON.parse(answer.text) as { data: T }).data;
  }

  async function sql(text: string): Promise<Record<string, unknown>[]> {
    return await home.ask<Record<string, unknown>[]>({ kind: 'sql', url, text });
  }

  const submit = async (more: object = {}) =>
    await get<{ scan_id: string }>('/api/v1/scans', 'POST', {
      targets: [targets],
      ports,
      profile: 'standard',
      pool: 'field',
      rate,
      ...more,
    });

  async function finished(id: string, ms: number): Promise<Scan> {
    let scan: Scan | null = null;
    await until(async () => {
      scan = await get<Scan>(`/api/v1/scans/${id}`);
      return scan.status === 'completed' || scan.status === 'failed';
    }, ms);
    return scan as unknown as Scan;
  }

  async function resultsOf(id: string): Promise<Result[]> {
    const { results } = await get<{ results: { results: Result[] } | Result[] }>(
      `/api/v1/scans/${id}/results?limit=100000`,
    ).then((data) => data as unknown as { results: Result[] });
    return results;
  }

  it('keeps the rate of a scan together on the wire, and is silent within 2 s of pause and cancel', async () => {
    const wire = await net.capture();
    const options = { discover: false, scan_type: 'syn', retries: 0 };
    const { scan_id: id } = await submit({ profile: undefined, dag: 'port-scan', rate: sweepRate, options });
    const between = (from: number, to: number) =>
      wire.times().filter((time) => time > from && time < to).length;
    const sent = (from: number) => until(async () => between(from, Date.now()) > 3 * sweepRate, 30_000);
    const tell = async (what: string) => {
      const asked = Date.now();
      await get(`/api/v1/scans/${id}/${what}`, 'POST');
      return asked;
    };
    await sent(0);
    expect((await get<Scan>(`/api/v1/scans/${id}`)).progress.shards.running).toBe(4);
    const paused = await tell('pause');
    await sleep(4000);
    const resumed = await tell('resume');
    await sent(resumed);
    const canceled = await tell('cancel');
    await sleep(4000);
    await wire.stop();
    expect(between(paused + 2000, resumed)).toBe(0);
    expect(between(canceled + 2000, Date.now())).toBe(0);
    const times = wire.times();
    const busiest = Math.max(...times.map((start, at) => countWithin(times, at, start + 1000)));
    console.log(`rate ${sweepRate} over 4 workers: ${times.length} SYNs, the busiest second had ${busiest}`);
    expect(busiest).toBeLessThanOrEqual(sweepRate * 1.05);
  });

  it('a worker that is cut off from the database is silent before its lease ends, and another one goes on', async () => {
    const wire = await net.capture();
    const options = { discover: false, scan_type: 'syn', retries: 0 };
    const { scan_id: id } = await submit({ profile: undefined, dag: 'port-scan', rate: sweepRate, options });
    const [name = ''] = net.workers;
    const source = net.addressOf(name);
    const sentSince = (from: number) => wire.times(source).filter((time) => time > from).length;
    await until(async () => sentSince(0) > sweepRate / 4, 30_000);
    const attempts = async () =>
      Number((await sql(`select sum(attempt) from portolan.shards where scan_id = '${id}'`))[0]?.['sum']);
    const before = await attempts();
    const cutAt = Date.now();
    net.cut(name);
    try {
      await until(async () => (await attempts()) > before, 60_000);
      const takenAt = Date.now();
      // With its lease the shard changes hands, and the rate is given on with it.
      await sleep(3000);
      expect(sentSince(cutAt)).toBeGreaterThan(0);
      expect(sentSince(Math.min(takenAt, cutAt + leaseMs))).toBe(0);
    } finally {
      net.cut(name, false);
    }
    // It works again by itself.
    const healedAt = Date.now();
    await until(async () => sentSince(healedAt) > 0, 30_000);
    await get(`/api/v1/scans/${id}/cancel`, 'POST');
    await finished(id, 20_000);
    await wire.stop();
  });

  it('scans 4096 addresses, one worker killed and one stopped, and finds what one process finds', async () => {
    const { scan_id: id } = await submit();
    await until(async () => (await get<Scan>(`/api/v1/scans/${id}`)).progress.shards.running === 4, 20_000);
    await sleep(3000);
    const shardOf = async (worker: ChildProcess) => {
      const pid = processOf(worker);
      const rows = await sql(
        `select shard, attempt from portolan.shards where scan_id = '${id}' and state = 'running' and worker like '%:${pid}:%'`,
      );
      return rows[0] as { shard: number; attempt: number };
    };
    const [first, second] = workers as [ChildProcess, ChildProcess];
    const lost = await shardOf(first);
    process.kill(processOf(first), 'SIGKILL');
    const paused = await shardOf(second);
    process.kill(processOf(second), 'SIGSTOP');
    const stoppedAt = performance.now();
    const attemptOf = async (shard: number) =>
      Number(
        (await sql(`select attempt from portolan.shards where scan_id = '${id}' and shard = ${shard}`))[0]?.[
          'attempt'
        ],
      );
    await until(async () => (await attemptOf(lost.shard)) > lost.attempt, 30_000);
    await until(async () => (await attemptOf(paused.shard)) > paused.attempt, 30_000);
    const wait = 60_000 - (performance.now() - stoppedAt);
    const early = finished(id, 200_000);
    await sleep(Math.max(0, wait));
    process.kill(processOf(second), 'SIGCONT');
    const scan = await early;
    expect(scan).toMatchObject({ status: 'completed', progress: { shards: { total: 16, done: 16 } } });

    const alone = execFileSync(
      'ip',
      [
        ...`netns exec ${net.home} ${process.execPath} ${launcher} scan ${targets} --ports ${ports}`.split(
          ' ',
        ),
        ...`--profile standard --rate ${rate} --format json --quiet`.split(' '),
      ],
      {
        env: {
          ...process.env,
          SERVICE_WORKSPACE__DIR: join(folder, 'alone'),
          XDG_CONFIG_HOME: folder,
          SERVICE_SCANNER__MAX_RATE: String(rate),
        },
        maxBuffer: 1 << 28,
      },
    );
    const results = await resultsOf(id);
    const single = (JSON.parse(alone.toString()) as { results: Result[] }).results;
    expect(openOf(results)).toEqual(truth());
    expect(comparable(results)).toEqual(comparable(single));
    console.log(`distributed: scan ${seconds(scan).toFixed(1)} s, hosts ${results.length}`);
  });
});

/** What `ip netns exec` became. */
function processOf(child: ChildProcess): number {
  return child.pid as number;
}

function openOf(results: Result[]): string[] {
  return results.flatMap(({ host, ports: open }) => open.map(({ port }) => `${host} ${port}`)).sort();
}

/** What does not differ from run to run. */
function comparable(results: Result[]): unknown[] {
  return results
    .map(({ host, ports: open, port_counts }) => ({
      host,
      port_counts,
      ports: open
        .map(({ port, state, service }) => [port, state, service?.product, service?.version])
        .sort((a, b) => Number(a[0]) - Number(b[0])),
    }))
    .sort((a, b) => (a.host < b.host ? -1 : 1));
}

/** How many of the ascending times, from the one at a place on, come before another one. */
function countWithin(times: readonly number[], from: number, before: number): number {
  let to = from;
  while (to < times.length && (times[to] as number) < before) to++;
  return to - from;
}

function seconds({ started_at, completed_at }: Scan): number {
  return (Date.parse(completed_at) - Date.parse(started_at)) / 1000;
}

async function until(holds: () => Promise<boolean>, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it did not come to pass in time');
    await sleep(100);
  }
}
