import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launcher } from '../cli/command.ts';

const run = promisify(execFile);
const canMakeNamespaces = spawnSync('unshare', ['--net', 'true']).status === 0;

const folder = mkdtempSync(join(tmpdir(), 'portolan-door-'));
const outside = { 4: '192.0.2.1', 6: '2001:db8::1' };
let holder: ChildProcess;
/** Runs a program inside the namespace. */
const inside = (...command: string[]) => ['-t', String(holder.pid), '-n', ...command];

beforeAll(async () => {
  if (!canMakeNamespaces) return;
  holder = spawn('unshare', ['--net', 'sleep', '120'], { stdio: 'ignore' });
  const addresses = [`addr add ${outside[4]}/24 dev lo`, `addr add ${outside[6]}/64 dev lo nodad`];
  for (let tries = 0; ; tries++) {
    // Until unshare has made it, this would still be the namespace of the machine.
    const { stdout } = await run('nsenter', inside('ip', '-o', 'link'));
    if (stdout.trim().split('\n').length === 1 && stdout.includes('lo:') && !stdout.includes('UP')) break;
    if (tries > 50) throw new Error(`no namespace: ${stdout}`);
    await sleep(50);
  }
  for (const change of ['link set lo up', ...addresses]) {
    await run('nsenter', inside('ip', ...change.split(' ')));
  }
});
afterAll(() => {
  holder?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

/** Serves inside the namespace until the work is done. */
async function served(
  bind: string,
  more: string[],
  work: (port: number, log: () => string) => Promise<void>,
) {
  const args = [
    'server',
    'start',
    '--bind',
    bind,
    '--workspace-dir',
    join(folder, `ws-${Date.now()}`),
    ...more,
  ];
  const env = { PATH: process.env['PATH'], HOME: folder, SERVICE_SERVER__API__AUTH: 'false' };
  const server = spawn('nsenter', inside(process.execPath, launcher, ...args), { env });
  let log = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk));
  try {
    await expect.poll(() => log).toMatch(/portolan serves/);
    const port = Number(/https?:\/\/(?:\[[^\]]*\]|[^:\s]+):(\d+)/.exec(log)?.[1]);
    await work(port, () => log);
  } finally {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
  }
}

/** Status and body of an answer; a client that asks for an address of its own machine comes from that address. */
async function ask(host: string, port: number, path: string): Promise<{ status: number; body: string }> {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  const script = `fetch(${JSON.stringify(url)}).then(async (a) => console.log(JSON.stringify({ status: a.status, body: await a.text() })))`;
  const { stdout } = await run('nsenter', inside(process.execPath, '-e', script));
  return JSON.parse(stdout) as { status: number; body: string };
}

describe.runIf(canMakeNamespaces)('a server that is open to everybody, in a namespace of root', () => {
  it.each(['0.0.0.0:0', '[::]:0'])(
    'on %s serves this machine only',
    async (bind) => {
      await served(bind, [], async (port, log) => {
        expect(log()).toContain('PROTECTED MODE');
        for (const path of ['/health', '/api/v1/scans', '/api/v1/docs']) {
          expect((await ask('127.0.0.1', port, path)).status).toBe(200);
          const refused = await ask(outside[4], port, path);
          expect([path, refused.status]).toEqual([path, 403]);
          expect(refused.body).toMatch(/forbidden_origin.*server\.api\.auth.*server\.allow_insecure/);
        }
        if (bind.startsWith('0')) return;
        expect((await ask('::1', port, '/api/v1/scans')).status).toBe(200);
        expect((await ask(outside[6], port, '/api/v1/scans')).status).toBe(403);
      });
    },
    60_000,
  );

  it('serves everybody once the operator insists', async () => {
    await served('0.0.0.0:0', ['--allow-insecure'], async (port, log) => {
      expect(log()).toContain('server.allow_insecure is set');
      for (const host of ['127.0.0.1', outside[4]]) {
        expect([host, (await ask(host, port, '/api/v1/scans')).status]).toEqual([host, 200]);
      }
    });
  });
});
