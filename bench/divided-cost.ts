/**
 * What dividing a scan costs: 32 addresses of loopback x 20 ports, nine times, embedded and with PostgreSQL, as one shard and as
 * eight. From the submission to the end.
 *
 *     node bench/divided-cost.ts     two minutes
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../test/postgres.ts';

const launcher = resolve(import.meta.dirname, '../bin/portolan');
const address = '127.0.0.1:18081';
const api = `http://${address}/api/v1/scans`;
const body = JSON.stringify({ targets: ['127.0.0.1-127.0.0.32'], ports: '1-20', profile: 'standard' });
const scans = 9;
const longestMs = 60_000;

interface Scan {
  scan_id: string;
  status: string;
  progress: { shards: { total: number } };
}

async function ask(url: string, init: RequestInit = {}): Promise<Scan> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return ((await response.json()) as { data: Scan }).data;
}

/** @returns seconds, and the number of shards */
async function timedScan(): Promise<{ seconds: number; shards: number }> {
  const began = performance.now();
  const headers = { 'content-type': 'application/json' };
  const { scan_id: id } = await ask(api, { method: 'POST', headers, body });
  for (;;) {
    const { status, progress } = await ask(`${api}/${id}`);
    const ms = performance.now() - began;
    if (status === 'completed') return { seconds: ms / 1000, shards: progress.shards.total };
    if (status === 'failed' || ms > longestMs) throw new Error(`${id} did not complete`);
    await sleep(20);
  }
}

async function measure(name: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const server = spawn(process.execPath, [launcher, 'server', 'start', '--bind', address], {
    env: {
      ...process.env,
      XDG_CONFIG_HOME: folder,
      SERVICE_WORKSPACE__DIR: join(folder, name.replaceAll(' ', '-')),
      SERVICE_SERVER__API__AUTH: 'false',
      SERVICE_SERVER__API__RATE_LIMIT: '0',
      SERVICE_SCANNER__SCOPE__ALLOW: '127.0.0.0/8',
      ...env,
    },
    stdio: 'ignore',
  });
  try {
    const isReady = () =>
      fetch(`http://${address}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    for (let tries = 0; !(await isReady()); tries++) {
      if (tries > 300) throw new Error('the server did not start');
      await sleep(100);
    }
    const times: number[] = [];
    let shards = 0;
    for (let count = 0; count < scans; count++) {
      const timed = await timedScan();
      times.push(timed.seconds);
      shards = timed.shards;
      await sleep(500);
    }
    const sorted = times.toSorted((one, other) => one - other);
    const shown = [sorted[(scans - 1) / 2], sorted[0], sorted.at(-1)].map((time = 0) => time.toFixed(2));
    console.log(`| ${name} | ${shards} | ${shown.join(' | ')} |`);
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}

const folder = mkdtempSync(join(tmpdir(), 'portolan-divided-cost-'));
const postgres = await startPostgres({ fsync: 'off' });
try {
  console.log('| store | shards | median s | best | worst |\n|---|---|---|---|---|');
  await measure('embedded', folder, {});
  await measure('PostgreSQL', folder, { SERVICE_QUEUE__URL: await postgres.database() });
  await measure('PostgreSQL in eight', folder, {
    SERVICE_QUEUE__URL: await postgres.database(),
    SERVICE_WORKERS__SHARD_SIZE: '4',
  });
} finally {
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
