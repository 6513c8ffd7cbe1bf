import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { launcher } from '../cli/command.ts';

const run = promisify(execFile);

/** A file system of its own size needs root; in a mount namespace nobody else sees it. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' });
    return true;
  } catch {
    console.log('skipped: full disk: mounting a small file system needs root');
    return false;
  }
}

let listener: Server;
let port: number;
let dir: string;
let server: ChildProcess;
let url = '';
let log = '';

beforeAll(async () => {
  listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(`220 ${'x'.repeat(3000)}\r\n`);
  });
  await new Promise<void>((resolve) => listener.listen(0, '0.0.0.0', resolve));
  port = (listener.address() as { port: number }).port;
});

afterAll(() => {
  listener.close();
});

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-full-'));
});

afterEach(async () => {
  if (server.exitCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  await rm(dir, { recursive: true, force: true });
});

/** A server whose workspace is a tmpfs of its own; `unshare` and `sh` become the server. */
async function startServer(limit: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const script = `mount -t tmpfs -o ${limit} tmpfs "$0" && exec "$@"`;
  const args = [
    process.execPath,
    launcher,
    'server',
    'start',
    '--bind',
    '127.0.0.1:0',
    '--log-format',
    'json',
  ];
  server = spawn(
    'unshare',
    ['--mount', 'sh', '-c', script, dir, ...args, '--workspace-dir', join(dir, 'ws')],
    {
      env: {
        ...process.env,
        XDG_CONFIG_HOME: dir,
        // As shipped, on a disk that is smaller: no scan may go for it.
        SERVICE_WORKSPACE__RETENTION__ENABLED: 'true',
        SERVICE_WORKSPACE__RETENTION__MIN_FREE_SPACE: '20GB',
        SERVICE_WORKSPACE__RETENTION__PROTECT: '0',
        ...env,
      },
    },
  );
  log = '';
  for (const stream of [server.stdout, server.stderr])
    stream?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
  for (let tries = 0; tries < 1200; tries++) {
    url = /"url":"(http[^"]+)"/.exec(log)?.[1] ?? '';
    if (url !== '') return;
    await sleep(50);
  }
  throw new Error(`the server did not begin to serve:\n${log}`);
}

/** Runs a command where the server's file system is to be seen. */
async function inside(command: string): Promise<void> {
  await run('nsenter', ['--mount', '--target', String(server.pid), 'sh', '-c', command]);
}

/** Writes until nothing more goes. */
const fill = () =>
  inside(
    `cat /dev/zero > ${dir}/ballast 2>/dev/null || true; cat /dev/zero > ${dir}/crumbs 2>/dev/null || true`,
  );
const empty = () => inside(`rm -f ${dir}/ballast ${dir}/crumbs`);

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Answer }> {
  const response = await fetch(url + path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  // Half an answer is a failure of the test.
  return { status: response.status, body: (await response.json()) as Answer };
}

interface Answer {
  data: {
    scan_id: string;
    status: string;
    error: { code: string } | null;
    total: number;
    progress: { percent: number };
    deleted_count: number;
    errors: { message: string }[];
    checks: { name: string; message: string }[];
    results: unknown[];
  };
  error: { code: string };
}

const submit = (more: object = {}) =>
  call('POST', '/api/v1/scans', { targets: ['127.0.0.1'], ports: String(port), ...more });

async function ended(scanId: string): Promise<Answer['data']> {
  for (let tries = 0; tries < 1200; tries++) {
    const { body } = await call('GET', `/api/v1/scans/${scanId}`);
    if (['completed', 'failed'].includes(body.data.status)) return body.data;
    await sleep(100);
  }
  throw new Error(`${scanId} does not end`);
}

it.runIf(canMount())(
  'a full disk at submit, while scanning and in gc has its code, and all works again with space',
  async () => {
    await startServer('size=24m');
    const first = (await submit()).body.data.scan_id;
    expect(await ended(first)).toMatchObject({ status: 'completed' });

    await fill();
    const refused = await submit();
    expect(refused.status).toBe(507);
    expect(refused.body.error.code).toBe('insufficient_storage');
    expect((await call('GET', '/api/v1/scans')).body.data.total).toBe(1);
    expect((await call('GET', `/api/v1/scans/${first}/results`)).body.data.results).toHaveLength(1);
    expect((await call('GET', '/api/v1/health')).status).toBeLessThan(504);

    await empty();
    const scanned = await submit({ targets: ['127.83.0.0/25'], rate: 20, options: { discover: false } });
    expect(scanned.status).toBe(201);
    const hurt = scanned.body.data.scan_id;
    await expect
      .poll(async () => (await call('GET', `/api/v1/scans/${hurt}`)).body.data.progress.percent, {
        timeout: 20_000,
      })
      .toBeGreaterThan(10);
    await fill();
    await sleep(2500);
    expect((await call('GET', `/api/v1/scans/${first}`)).status).toBe(200);
    // It does not wait for space to return.
    expect(await ended(hurt)).toMatchObject({ status: 'failed', error: { code: 'insufficient_storage' } });
    const check = [process.execPath, launcher, 'workspace', 'check', '--workspace-dir', join(dir, 'ws')];
    await inside(`XDG_CONFIG_HOME=${dir} ${check.join(' ')}`);
    await empty();
    const kept = await call('GET', `/api/v1/scans/${hurt}/results`);
    expect(kept.status).toBe(200);
    expect(kept.body.data).toMatchObject({ scan_id: hurt, status: 'failed', partial: true });

    expect(await ended((await submit()).body.data.scan_id)).toMatchObject({ status: 'completed' });
    await fill();
    const collected = await call('POST', '/api/v1/workspace/gc', { keep_last: 1 });
    expect(collected.status).toBe(200);
    expect([collected.body.data.errors, collected.body.data.deleted_count]).toEqual([[], 2]);
    await empty();
    expect((await call('POST', '/api/v1/workspace/gc', { keep_last: 1 })).status).toBe(200);
    expect((await call('GET', '/api/v1/scans')).body.data.total).toBe(1);
    expect(await ended((await submit()).body.data.scan_id)).toMatchObject({ status: 'completed' });
    expect(log.match(/cannot reach workspace.retention.min_free_space/g)).toHaveLength(1);
    expect(server.exitCode).toBeNull();
    expect(log).not.toContain('"level":60');
  },
  90_000,
);

it.runIf(canMount())(
  'a file system without inodes ends scans, is named by the health, and all works again with some',
  async () => {
    await startServer('size=64m,nr_inodes=3000', { SERVICE_SERVER__WORKERS: '1' });
    const large = { targets: ['127.83.0.0/25'], rate: 20, options: { discover: false } };
    const running = (await submit(large)).body.data.scan_id;
    await expect
      .poll(async () => (await call('GET', `/api/v1/scans/${running}`)).body.data.progress.percent, {
        timeout: 20_000,
      })
      .toBeGreaterThan(5);
    const waiting = (await submit(large)).body.data.scan_id;
    await inside(`mkdir ${dir}/many && cd ${dir}/many && seq 4000 | xargs touch 2>/dev/null || true`);

    const rejected = await submit();
    expect([rejected.status, rejected.body.error.code]).toEqual([507, 'insufficient_storage']);
    expect((await call('GET', '/api/v1/health')).body.data.checks).toContainEqual({
      name: 'disk_inodes',
      status: 'degraded',
      // A file of the server may have gone meanwhile.
      message: expect.stringMatching(/^\d of 3000 inodes free on the disk of the workspace, less than 1000$/),
    });
    // The one that waits has no record yet.
    await call('POST', `/api/v1/scans/${running}/cancel`);
    const full = { status: 'failed', error: { code: 'insufficient_storage' } };
    expect(await ended(waiting)).toMatchObject(full);
    expect((await ended(running)).status).toBe('failed');

    await inside(`rm -rf ${dir}/many`);
    expect(await ended((await submit()).body.data.scan_id)).toMatchObject({ status: 'completed' });
    const { checks } = (await call('GET', '/api/v1/health')).body.data;
    expect(checks.map(({ name }) => name)).not.toContain('disk_inodes');
    expect(log).not.toContain('uncaught error');
  },
  90_000,
);
