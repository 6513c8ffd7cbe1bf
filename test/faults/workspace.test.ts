import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, lstat, mkdir, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storedScanId, storeScan } from '../../src/actions/fixtures/stored-scan.ts';
import { openStore } from '../../src/store/open.ts';
import type { ScanFolder } from '../../src/workspace/scan-folder.ts';
import { openWorkspace } from '../../src/workspace/workspace.ts';
import { Home, launcher } from '../cli/command.ts';
import { InProcessServer } from '../cli/in-process-server.ts';
import { ServerProcess } from '../program.ts';

const asRoot = process.geteuid?.() === 0;
// Every test runs several programs.

let home: Home;
let listener: Server;
let port: number;

beforeAll(async () => {
  home = new Home();
  listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('SSH-2.0-OpenSSH_9.2p1\r\n');
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  port = (listener.address() as { port: number }).port;
});

afterAll(() => {
  listener.close();
  home.remove();
});

const servers: (ServerProcess | InProcessServer)[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.dispose();
});

function opened<T extends ServerProcess | InProcessServer>(server: T): T {
  servers.push(server);
  return server;
}

const smallScan = () => ({ targets: ['127.0.0.1'], ports: String(port) });

/** Every entry below a folder with its permission bits. */
async function* modesBelow(folder: string): AsyncGenerator<{ path: string; folder: boolean; mode: number }> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const entry = await lstat(path);
    yield { path, folder: entry.isDirectory(), mode: entry.mode & 0o777 };
    if (entry.isDirectory()) yield* modesBelow(path);
  }
}

it('with umask 000 every file is 0600 and every folder 0700', async () => {
  const server = opened(new InProcessServer({ config: home.file('modes.yaml') }));
  const config = 'workspace: { scans: { compress: true, keep_artifacts: true } }\n';
  await writeFile(home.file('modes.yaml'), config, { mode: 0o600 });
  const before = process.umask(0);
  try {
    await server.start();
    await server.waitForEnd(await server.submit(smallScan()));
    const place = ['--workspace-dir', server.workspace];
    const token = await home.run([
      'server',
      'token',
      'create',
      '--name',
      'ci',
      '--scopes',
      'scan:read',
      ...place,
    ]);
    expect(token.code, token.stderr).toBe(0);
    expect(
      (
        await home.run([
          'scan',
          '127.0.0.1',
          '--ports',
          String(port),
          '-q',
          '--workspace-dir',
          home.file('own'),
        ])
      ).code,
    ).toBe(0);
  } finally {
    process.umask(before);
  }
  await server.stop();
  const wrong: string[] = [];
  let files = 0;
  for (const place of [server.workspace, home.file('own')]) {
    for await (const { path, folder, mode } of modesBelow(place)) {
      files++;
      if (mode !== (folder ? 0o700 : 0o600)) wrong.push(`${path} ${mode.toString(8)}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(files).toBeGreaterThan(30);
});

describe('the place of the workspace', () => {
  async function refusal(dir: string): Promise<string> {
    const { code, stderr } = await home.run([
      'server',
      'start',
      '--workspace-dir',
      dir,
      '--bind',
      '127.0.0.1:0',
    ]);
    expect(code, stderr).toBe(3);
    expect(stderr).not.toMatch(/\bat .*\.ts:\d/);
    return stderr;
  }

  it('a file, a file above it, a link to one', async () => {
    await writeFile(home.file('file'), '');
    await symlink(home.file('file'), home.file('to-file'));
    for (const path of ['file', 'file/below', 'to-file'])
      expect(await refusal(home.file(path))).toContain('a file of that name exists');
  });

  it('a read-only folder, also for root', async () => {
    await mkdir(home.file('read-only'));
    await chmod(home.file('read-only'), 0o500);
    expect(await refusal(home.file('read-only'))).toContain('read-only');
  });

  it.runIf(asRoot)('a folder of another user', async () => {
    await mkdir(home.file('foreign'));
    await chown(home.file('foreign'), 12345, 12345);
    expect(await refusal(home.file('foreign'))).toContain('belongs to another user');
  });

  it('a missing one is made for its owner only, through a link too', async () => {
    await mkdir(home.file('real'), { mode: 0o755 });
    await symlink(home.file('real'), home.file('link'));
    for (const path of ['missing/deep', 'link']) {
      const { code } = await home.run(['workspace', 'init', home.file(path)]);
      expect(code).toBe(0);
    }
    for (const path of ['missing', 'missing/deep', 'real']) {
      expect((await lstat(home.file(path))).mode & 0o777).toBe(0o700);
    }
    expect(await readdir(home.file('real'))).toContain('service.db');
  });
});

it('a second server names the first and leaves; a lock left by kill -9 is taken over', async () => {
  const server = opened(new ServerProcess());
  await server.start();
  const args = ['server', 'start', '--workspace-dir', server.workspace, '--bind', '127.0.0.1:0'];
  const second = await home.run(args);
  expect(second.code).toBe(3);
  expect(second.stderr).toContain(`process ${server.pid} on ${hostname()}`);
  const scan = await server.submit(smallScan());
  await server.waitForEnd(scan);
  await server.stop('SIGKILL');
  expect(await readdir(server.workspace)).toContain('workspace.lock');
  await server.start();
  expect(await server.detail(scan)).toMatchObject({ status: 'completed' });
});

describe('a newer workspace is refused with clear text', () => {
  it.each<[string, string, (dir: string) => Promise<void>]>([
    ['layout', 'install a newer portolan', (dir) => writeFile(join(dir, 'workspace.version'), '99\n')],
    [
      'store',
      'newer version of portolan',
      async (dir) => {
        const store = new DatabaseSync(join(dir, 'service.db'));
        store.exec("insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00.000Z')");
        store.close();
      },
    ],
  ])('%s', async (name, text, change) => {
    const dir = home.file(`newer-${name}`);
    await home.run(['workspace', 'init', dir]);
    await change(dir);
    for (const command of [
      ['workspace', 'list'],
      ['workspace', 'migrate'],
      ['server', 'start', '--bind', '127.0.0.1:0'],
    ]) {
      const { code, stderr } = await home.run([...command, '--workspace-dir', dir]);
      expect(code, stderr).toBe(3);
      expect(stderr).toContain(text);
    }
  });
});

it('a damaged scan is skipped: the server starts, lists all and serves the others', async () => {
  const server = opened(new InProcessServer());
  const workspace = await openWorkspace(server.workspace);
  const store = await openStore(workspace.storeFile);
  const rules = (number: number) => ({ compress: number % 2 === 0, keep_artifacts: false });
  const folders: ScanFolder[] = [];
  for (let number = 0; number < 16; number++)
    folders.push(await storeScan({ store, workspace }, number, 30, rules(number)));
  await store.close();
  const files = (number: number, ...names: string[]) =>
    names.map((name) => join((folders[number] as ScanFolder).path, name));
  const damage: Record<number, () => Promise<unknown>> = {
    0: () => each(files(0, 'request.json', 'status.json'), (file) => writeFile(file, '{"torn')),
    1: () => each(files(1, 'request.json', 'status.json'), (file) => rm(file)),
    2: () => each(files(2, 'results.jsonl.gz'), (file) => writeFile(file, 'no gzip')),
    3: () => each(files(3, 'results.jsonl'), (file) => truncate(file, 777)),
    4: () => each(files(4, 'results.members', 'results.sequence'), (file) => writeFile(file, '\0\0{"')),
    5: () => each(files(5, 'results.index', 'results.sequence'), (file) => writeFile(file, '\0\0{"')),
    6: () => each(files(6, 'results.jsonl.gz'), (file) => truncate(file, 100)),
    7: () => each(files(7, 'results.jsonl'), (file) => writeFile(file, Buffer.alloc(5000, 0xff))),
    8: () => rm((folders[8] as ScanFolder).path, { recursive: true }),
    9: () => each(files(9, 'results.jsonl'), (file) => rm(file)),
    10: () => each(files(10, 'results.jsonl.gz'), (file) => writeFile(file, Buffer.alloc(900, 0x1f))),
    11: () => each(files(11, 'results.jsonl'), (file) => truncate(file, 0)),
  };
  for (const spoil of Object.values(damage)) await spoil();
  // Of all others the rows are whole: requests and indexes are no results.
  const lost = new Set([2, 3, 6, 7, 8, 9, 10, 11]);

  await server.start();
  const list = (await server.request('/api/v1/scans?limit=100')).body as { data: { total: number } };
  expect(list.data.total).toBe(16);
  for (let number = 0; number < 16; number++) {
    const id = storedScanId(number);
    expect((await server.detail(id)).status).toBe('completed');
    for (const format of ['json', 'jsonl', 'csv']) {
      const { status, body } = await server.request(`/api/v1/scans/${id}/results?format=${format}`);
      // CSV has no place to say that rows are lost.
      const expected = lost.has(number) && format === 'csv' ? 500 : 200;
      expect(status, `${id} ${format}: ${JSON.stringify(body).slice(0, 300)}`).toBe(expected);
    }
    const { body } = await server.request(`/api/v1/scans/${id}/results`);
    const { results, partial } = (body as { data: { results: { ports: unknown[] }[]; partial: boolean } })
      .data;
    expect(partial, id).toBe(lost.has(number));
    const rows = results.reduce((sum, host) => sum + host.ports.length, 0);
    if (!(number in damage) || number < 2 || number === 4) expect(rows, id).toBe(30);
    const events = await server.request(`/api/v1/scans/${id}/events`);
    expect(events.status, id).toBe(200);
  }
  await server.waitForEnd(await server.submit(smallScan()));
  const info = await server.request('/api/v1/workspace/info');
  expect(info.body).toMatchObject({ data: { scan_count: 17 } });
  const checked = await home.run([
    'workspace',
    'check',
    '--format',
    'json',
    '--workspace-dir',
    server.workspace,
  ]);
  expect(checked.code).toBe(1);
  const { problems } = JSON.parse(checked.stdout) as { problems: { path: string }[] };
  for (const number of Object.keys(damage)) {
    expect(
      problems.some(({ path }) => path.includes(storedScanId(Number(number)))),
      `scan ${number}`,
    ).toBe(true);
  }
  expect(
    (
      await server.request('/api/v1/workspace/gc', {
        method: 'POST',
        body: '{"keep_last":0}',
        headers: { 'content-type': 'application/json' },
      })
    ).body,
  ).toMatchObject({
    data: { deleted_count: 17, errors: [] },
  });
});

async function each(paths: string[], work: (path: string) => Promise<unknown>): Promise<void> {
  for (const path of paths) await work(path);
}

it('without a workspace scans live in a temporary folder until SIGTERM', async () => {
  const temporary = home.file('tmp');
  await mkdir(temporary, { recursive: true });
  const start = async () => {
    const args = [
      launcher,
      'server',
      'start',
      '--no-workspace',
      '--bind',
      '127.0.0.1:0',
      '--log-format',
      'json',
    ];
    const child = spawn(process.execPath, args, { env: { ...home.env, TMPDIR: temporary } });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    child.stdout.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    for (let tries = 0; tries < 1200 && !/"url":"(http[^"]+)"/.test(log); tries++) await sleep(50);
    return { child, url: /"url":"(http[^"]+)"/.exec(log)?.[1] ?? `no url in ${log}` };
  };
  const first = await start();
  const submitted = await fetch(`${first.url}/api/v1/scans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(smallScan()),
  });
  const { data } = (await submitted.json()) as { data: { scan_id: string } };
  const scan = `/api/v1/scans/${data.scan_id}`;
  const state = async () =>
    ((await (await fetch(first.url + scan)).json()) as { data: { status: string } }).data.status;
  for (let tries = 0; tries < 600 && (await state()) !== 'completed'; tries++) await sleep(100);
  expect(await state()).toBe('completed');
  expect(await readdir(temporary)).toHaveLength(1);
  first.child.kill('SIGTERM');
  await once(first.child, 'exit');
  expect(await readdir(temporary)).toEqual([]);

  const second = await start();
  for (const path of [scan, `${scan}/results`, `/api/v1/workspace/scans/${data.scan_id}/export`])
    expect((await fetch(second.url + path)).status).toBe(404);
  second.child.kill('SIGTERM');
  await once(second.child, 'exit');
  expect(await readdir(temporary)).toEqual([]);
});
