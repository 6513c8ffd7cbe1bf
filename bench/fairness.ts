/**
 * How long a small scan waits for its first packet while large ones run: from the submission to the connection that reaches the
 * target, on one server with its own store, and on several servers with one PostgreSQL, which the bench starts. All on loopback.
 *
 *   npm run bench:fairness [-- --large 50] [-- --servers 4]
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/postgres.ts';
import { ServerProcess } from '../test/program.ts';

const { values: flags } = parseArgs({
  options: { large: { type: 'string', default: '50' }, servers: { type: 'string', default: '4' } },
});
const large = Number(flags.large);
const small = 10;
const host = '127.77.0.1';
/** A scan of 4,000 addresses takes minutes at this rate; a server has a thousand packets a second for all. */
const largeRate = 20;

function row(name: string, waits: number[]): void {
  const [median = Number.NaN, worst = Number.NaN] = [
    waits.toSorted((a, b) => a - b)[waits.length >> 1],
    Math.max(...waits),
  ];
  process.stdout.write(`| ${name} | ${median.toFixed(0)} | ${worst.toFixed(0)} | <= 2000 |\n`);
}

/** Milliseconds from a submission to the first connection; returns when the scan has ended and connects no more. */
async function waitOf(server: ServerProcess, target: Server, ports: string): Promise<number> {
  const reached = once(target, 'connection', { signal: AbortSignal.timeout(120_000) });
  const began = performance.now();
  const id = await server.submit({
    targets: [host],
    ports,
    profile: 'quick',
    options: { discover: false, scan_type: 'connect' },
  });
  await reached;
  const waited = performance.now() - began;
  while ((await server.detail(id)).status !== 'completed') await sleep(50);
  return waited;
}

async function measure(
  name: string,
  servers: readonly ServerProcess[],
  target: Server,
  ports: string,
): Promise<void> {
  const at = (index: number) => servers[index % servers.length] as ServerProcess;
  for (const server of servers) await server.start();
  const idle: number[] = [];
  for (let index = 0; index < small; index++) {
    idle.push(await waitOf(at(index), target, ports));
    await sleep(1000);
  }
  row(`${name}, nothing else`, idle);
  for (let index = 0; index < large; index++) {
    const targets = [`127.78.${(index * 16) % 256}.0/20`];
    await at(index).submit({
      targets,
      ports: '9-12',
      rate: largeRate,
      dag: 'port-scan',
      options: { discover: false },
    });
  }
  await sleep(15_000);
  const busy: number[] = [];
  for (let index = 0; index < small; index++) {
    busy.push(await waitOf(at(index), target, ports));
    await sleep(1000);
  }
  row(`${name}, ${large} large scans`, busy);
}

// A scan resets the connection that found the port.
const target = createServer((socket) => socket.on('error', () => undefined).end()).listen(0, host);
await once(target, 'listening');
const ports = String((target.address() as { port: number }).port);
process.stdout.write(
  `load ${loadavg()[0]?.toFixed(1)}\n| ${small} small scans | median, ms | worst, ms | bar |\n|---|---|---|---|\n`,
);
const alone = new ServerProcess();
try {
  await measure('one server', [alone], target, ports);
} finally {
  await alone.dispose();
}
const postgres = await startPostgres({ fsync: 'off' });
const url = await postgres.database();
const shared = Array.from(
  { length: Number(flags.servers) },
  () => new ServerProcess({ env: { SERVICE_QUEUE__URL: url } }),
);
try {
  await measure(`${shared.length} servers, PostgreSQL`, shared, target, ports);
} finally {
  for (const server of shared) await server.dispose();
  await postgres.remove();
  target.close();
}
