/**
 * How much faster a scan gets with workers on more hosts, and what dividing it costs. Each worker may send so many
 * packets a second and no more, so the wall time is that of the packets. Root; PostgreSQL; makes network namespaces of
 * its own and takes them away.
 *
 *     node bench/distributed.ts [PORTS [RATE]]     160 ports at 1000 packets/s a worker by default: twenty minutes
 *
 * Four workers at the default rate take all of two slow processors, which then are what is measured: `40 250` is the same scan
 * with a quarter of the packets, in the same time.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ended,
  type NamespaceProcess,
  serverAddress,
  TestNetwork,
  targets,
} from '../test/distributed/network.ts';
import { startPostgres } from '../test/postgres.ts';

const launcher = resolve(import.meta.dirname, '../bin/portolan');
/** A scan that takes longer hangs, milliseconds. */
const longestScanMs = 600_000;
/** Packets per second of one worker. */
const workerRate = Number(process.argv[3] ?? 1000);
/** Starts, the last step and the names of services take the same time whatever this is. */
const portCount = Number(process.argv[2] ?? 160);
const ports = `8001-${8000 + portCount}`;
const base = `http://${serverAddress}:8080`;

interface Scan {
  status: string;
  started_at: string;
  completed_at: string;
  results: { live_hosts: number; open_ports: number };
}

const net = new TestNetwork(4);
const folder = mkdtempSync(join(tmpdir(), 'portolan-distributed-'));
const running: ChildProcess[] = [];
let home: NamespaceProcess;

function program(namespace: string, args: string[], name: string, env: NodeJS.ProcessEnv): ChildProcess {
  const child = net.spawn(namespace, process.execPath, [launcher, ...args], {
    SERVICE_WORKSPACE__DIR: join(folder, name),
    XDG_CONFIG_HOME: folder,
    SERVICE_SERVER__API__AUTH: 'false',
    SERVICE_WORKERS__SHARD_SIZE: '512',
    SERVICE_SCANNER__SCOPE__ALLOW: targets,
    ...env,
  });
  child.stdout?.resume();
  child.stderr?.resume();
  running.push(child);
  return child;
}

async function call<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
  const answer = await home.ask<{ status: number; text: string }>({
    kind: 'http',
    method,
    url: `${base}${path}`,
    ...(body === undefined ? {} : { body }),
  });
  if (answer.status >= 400) throw new Error(`${answer.status} ${answer.text}`);
  return (JSON.parse(answer.text) as { data: T }).data;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + longestScanMs;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error('it did not come to pass in time');
    await sleep(50);
  }
}

async function end(children: ChildProcess[]): Promise<void> {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map(ended));
}

/** @returns seconds from the submission to the end */
async function scan(rate: number, pool: string): Promise<number> {
  const began = performance.now();
  const { scan_id: id } = await call<{ scan_id: string }>('/api/v1/scans', 'POST', {
    targets: [targets],
    ports,
    profile: 'standard',
    pool,
    rate,
  });
  let found: Scan | null = null;
  await until(async () => {
    found = await call<Scan>(`/api/v1/scans/${id}`);
    return found.status === 'completed' || found.status === 'failed';
  });
  const { status, results } = found as unknown as Scan;
  if (status !== 'completed' || results.live_hosts !== 2047 || results.open_ports !== 4094)
    throw new Error(`${id} ended ${status} with ${JSON.stringify(results)}`);
  return (performance.now() - began) / 1000;
}

async function serve(name: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const args = ['server', 'start', '--bind', `${serverAddress}:8080`, '--allow-insecure'];
  const server = program(net.home, args, name, { SERVICE_SCANNER__MAX_RATE: '100000', ...env });
  await until(async () => (await call('/readyz')) !== null);
  return server;
}

async function embedded(): Promise<number> {
  const server = await serve('embedded', {});
  const seconds = await scan(workerRate, 'default');
  await end([server]);
  return seconds;
}

async function divided(url: string, count: number): Promise<number> {
  const env = { SERVICE_QUEUE__URL: url };
  const server = await serve(`home-${count}`, env);
  const workers = net.workers.slice(0, count).map((name, index) => {
    const args = ['worker', 'start', '--pool', 'field', '--concurrency', '2'];
    return program(name, args, `worker-${count}-${index}`, {
      ...env,
      SERVICE_SCANNER__MAX_RATE: String(workerRate),
    });
  });
  await until(async () => {
    const rows = await home.ask<unknown[]>({
      kind: 'sql',
      url,
      text: 'select 1 from portolan.workers where host is not null',
    });
    return rows.length >= count;
  });
  const seconds = await scan(100_000, 'field');
  await end([...workers, server]);
  return seconds;
}

try {
  await net.up();
  home = net.inside(net.home);
  const postgres = await startPostgres(
    { fsync: 'off' },
    {
      prefix: ['ip', 'netns', 'exec', net.home],
      address: serverAddress,
      trusted: '10.90.0.0/24',
      query: (url, text) => home.ask({ kind: 'sql', url, text }),
    },
  );
  try {
    console.log(
      `| one server | ${targets} x ${ports}, ${workerRate} packets/s a worker | seconds | ratio | bar |`,
    );
    console.log('|---|---|---|---|---|');
    const alone = await embedded();
    console.log(`| embedded | one process | ${alone.toFixed(1)} | | |`);
    const bars = [
      [1, '<= 1.10 of embedded'],
      [2, '<= 0.55 of one'],
      [4, '<= 0.30 of one'],
    ] as const;
    let one: number | null = null;
    for (const [count, bar] of bars) {
      const seconds = await divided(await postgres.database(), count);
      const ratio = seconds / (one ?? alone);
      one ??= seconds;
      console.log(`| PostgreSQL | ${count} workers | ${seconds.toFixed(1)} | ${ratio.toFixed(3)} | ${bar} |`);
    }
  } finally {
    await postgres.remove();
  }
} finally {
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(running.map(ended));
  net.down();
  rmSync(folder, { recursive: true, force: true });
}
