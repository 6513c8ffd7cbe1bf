/**
 * Reads of the API with 5000 finished scans in the workspace, 32 clients, against a bare fastify route that answers
 * with the same object, in turns within one run; then the same reads while a scan runs at full rate, and the pages and
 * the export of a record of a million rows. Needs `wrk` (Debian package).
 *
 *   npm run bench:api
 */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { residentBytes, ServerProcess } from '../test/program.ts';
import { fillWorkspace, recordOfRows } from './workspace-fixture.ts';

const run = promisify(execFile);
const clients = 32;
const seconds = 5;
const rounds = 3;
const scans = 5000;
const rows = 1_000_000;

interface Load {
  requestsPerSecond: number;
  p99Ms: number;
}

/** Thirty-two connections as fast as they go. @throws when an answer is no 2xx */
async function load(url: string, forSeconds = seconds): Promise<Load> {
  const { stdout } = await run('wrk', ['-t1', `-c${clients}`, `-d${forSeconds}s`, '--latency', url]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  const [, amount = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    p99Ms: Number(amount) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's'],
  };
}

/** Waits until the server has done what it does after a start: it counts the sizes of all scans anew. */
async function idle(pid: number): Promise<void> {
  for (let before = Number.NaN, now = processorMs(pid); now !== before; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    [before, now] = [now, processorMs(pid)];
    if (now - before < 20) return;
  }
}

/** Processor time of a process so far, milliseconds (proc_pid_stat(5), fields 14 and 15). */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

function row(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(62)}${value}\n`);
}

/** A process with nothing but fastify, which answers with the given objects. */
async function startBare(answers: Record<string, unknown>): Promise<{ url: string; end: () => void }> {
  const child = fork(join(import.meta.dirname, 'bare-fastify.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(answers);
  const [url] = (await once(child, 'message')) as [string];
  return { url, end: () => child.kill() };
}

async function againstBare(server: ServerProcess, paths: Record<string, string>): Promise<void> {
  const answers: Record<string, unknown> = { '/trivial': { status: 'healthy' } };
  for (const [name, path] of Object.entries(paths)) answers[`/${name}`] = (await server.request(path)).body;
  const bare = await startBare(answers);
  try {
    const trivial: number[] = [];
    for (const [name, path] of Object.entries(paths)) {
      const own: Load[] = [];
      const peer: Load[] = [];
      for (let round = 0; round < rounds; round++) {
        peer.push(await load(`${bare.url}/${name}`));
        own.push(await load(`${server.url}${path}`));
        trivial.push((await load(`${bare.url}/trivial`, 2)).requestsPerSecond);
      }
      const ours = median(own.map((one) => one.requestsPerSecond));
      const theirs = median(peer.map((one) => one.requestsPerSecond));
      const kib = (JSON.stringify(answers[`/${name}`]).length / 1024).toFixed(1);
      row(
        `${name}: requests/s, bare route with the same ${kib} KiB, ratio`,
        `${Math.round(ours)}  ${Math.round(theirs)}  ${(ours / theirs).toFixed(2)}  (bar 0.60)`,
      );
      row(`${name}: p99`, `${median(own.map((one) => one.p99Ms)).toFixed(1)} ms`);
    }
    row('a bare route with a trivial answer: requests/s', String(Math.round(median(trivial))));
  } finally {
    bare.end();
  }
}

async function whileScanning(server: ServerProcess, paths: Record<string, string>): Promise<void> {
  const listener = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => listener.listen(0, '127.77.0.1', resolve));
  const scanId = await server.submit({
    targets: ['127.77.0.0/16'],
    ports: '1-50',
    rate: 100_000,
    options: { discover: false, concurrency: 1000 },
  });
  for (let tries = 0; tries < 100 && (await server.detail(scanId)).progress.percent === 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const [name, path] of Object.entries(paths)) {
    const own = await load(`${server.url}${path}`);
    const { status } = await server.detail(scanId);
    row(
      `${name} while a scan runs at full rate: requests/s, p99`,
      `${Math.round(own.requestsPerSecond)}  ${own.p99Ms.toFixed(1)} ms  (bar 100 ms; the scan is ${status})`,
    );
  }
  await server.request(`/api/v1/scans/${scanId}`, { method: 'DELETE' });
  listener.close();
}

interface Download {
  firstByteMs: number;
  totalMs: number;
  bytes: number;
}

function download(url: string): Promise<Download> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    request(url, (response) => {
      let bytes = 0;
      let firstByteMs = 0;
      response.on('data', (chunk: Buffer) => {
        if (bytes === 0) firstByteMs = performance.now() - startedAt;
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ firstByteMs, totalMs: performance.now() - startedAt, bytes }));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

async function bigRecord(server: ServerProcess, scanId: string): Promise<void> {
  const results = `${server.url}/api/v1/scans/${scanId}/results`;
  const records = `${server.url}/api/v1/scans/${scanId}/records`;
  for (const offset of [0, rows / 2, rows - 50]) {
    const times: number[] = [];
    for (let i = 0; i < 11; i++) times.push((await download(`${records}?limit=50&offset=${offset}`)).totalMs);
    row(
      `page of 50 from record ${offset} of ${rows}: median, slowest`,
      `${median(times).toFixed(1)} ms  ${Math.max(...times).toFixed(1)} ms  (bar 50 ms)`,
    );
  }
  for (const format of ['json', 'jsonl', 'csv']) {
    const before = residentBytes(server.pid);
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, residentBytes(server.pid));
    }, 50);
    const { firstByteMs, totalMs, bytes } = await download(`${results}?format=${format}`);
    clearInterval(watch);
    row(
      `export of ${rows} records as ${format}: first byte, all, size`,
      `${firstByteMs.toFixed(0)} ms (bar 1000)  ${(totalMs / 1000).toFixed(1)} s  ${Math.round(bytes / 1e6)} MB`,
    );
    row(`  growth of the server's memory`, `${Math.round((most - before) / 1e6)} MB  (bar 100 MB)`);
  }
}

const server = new ServerProcess({ env: { SERVICE_LOG_LEVEL: 'warn' } });
try {
  const newest = await fillWorkspace(server.workspace, scans);
  // As on every start but the first: the compiled code is kept when a server stops.
  await server.start();
  await server.stop();
  const startedAt = performance.now();
  await server.start();
  await server.request('/api/v1/scans?limit=50');
  row(
    `start with ${scans} scans to the first served list`,
    `${((performance.now() - startedAt) / 1000).toFixed(2)} s  (bar 2 s)`,
  );
  const paths = { detail: `/api/v1/scans/${newest}`, list: '/api/v1/scans?limit=50' };
  await idle(server.pid);
  await againstBare(server, paths);
  await whileScanning(server, paths);
  await server.stop();
  const big = await recordOfRows(server.workspace, rows);
  await server.start();
  await bigRecord(server, big);
} finally {
  await server.dispose();
}
