import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../fixtures/service.ts';
import { checkUiFolder } from './ui.ts';

const home = mkdtempSync(join(tmpdir(), 'portolan-ui-'));
const folder = join(home, 'files');
mkdirSync(join(folder, 'assets'), { recursive: true });
mkdirSync(join(home, 'beside'));
writeFileSync(join(folder, 'index.html'), '<!doctype html><title>the UI</title>');
writeFileSync(join(folder, 'assets', 'app.js'), 'export {};');
writeFileSync(join(folder, 'assets', 'look me.css'), 'p {}');
writeFileSync(join(folder, '.env'), 'SECRET=1');
writeFileSync(join(home, 'beside', 'secret.txt'), 'SECRET=2');
writeFileSync(join(home, 'files-too.txt'), 'SECRET=3');
symlinkSync('/', join(folder, 'root'));
symlinkSync('../beside', join(folder, 'beside'));
symlinkSync('../beside/secret.txt', join(folder, 'secret.txt'));
symlinkSync('.env', join(folder, 'environment.txt'));
symlinkSync('assets', join(folder, 'parts'));
symlinkSync('turns.txt', join(folder, 'turns.txt'));

let service: Service;
let url: string;
beforeAll(async () => {
  service = await openService({
    'server.api.auth': true,
    'server.api.rate_limit': 5,
    'server.ui.static_dir': folder,
  });
  url = await service.listen();
});
afterAll(async () => {
  await service.close();
  rmSync(home, { recursive: true, force: true });
});

/** Sends a path unchanged. */
async function request(
  path: string,
  method = 'GET',
  headers = '',
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`),
    );
    let response = '';
    socket.on('data', (bytes) => (response += bytes));
    socket.on('error', reject).on('close', () => resolve(response));
  });
  return { status: Number(text.split(' ')[1]), text };
}

describe('server.ui.static_dir', () => {
  it('serves its files to everybody, with their types, outside of the rate', async () => {
    for (let times = 0; times < 10; times++) expect((await request('/ui/')).status).toBe(200);
    const page = await request('/ui/');
    expect(page.text).toContain('<title>the UI</title>');
    expect(page.text).toMatch(/^content-type: text\/html; charset=utf-8\r$/im);
    expect(page.text).toMatch(/^content-security-policy: default-src 'none'/im);
    expect(page.text).toMatch(/^cache-control: no-cache\r$/im);
    expect(page.text).toMatch(/^x-content-type-options: nosniff\r$/im);
    const script = await request('/ui/assets/app.js');
    expect([script.status, /^content-type: (.*)\r$/im.exec(script.text)?.[1]]).toEqual([
      200,
      'application/javascript; charset=utf-8',
    ]);
    expect((await request('/ui/assets/look%20me.css?v=1')).text).toMatch(/^content-type: text\/css/im);
    expect((await request('/ui/parts/app.js')).status).toBe(200);
    const moved = await request('/ui?token=x');
    expect([moved.status, /^location: (.*)\r$/im.exec(moved.text)?.[1]]).toEqual([308, '/ui/']);
  });

  it('responds 304 if nothing has changed, and to HEAD without a body', async () => {
    const { text } = await request('/ui/index.html');
    const tag = /^etag: (.*)\r$/im.exec(text)?.[1];
    expect((await request('/ui/index.html', 'GET', `If-None-Match: ${tag}\r\n`)).status).toBe(304);
    const head = await request('/ui/assets/app.js', 'HEAD');
    expect([head.status, head.text.split('\r\n\r\n')[1]]).toEqual([200, '']);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const { status, text: response } = await request('/ui/assets/app.js', method);
      expect([method, status]).toEqual([method, 405]);
      expect(response).toMatch(/^allow: GET, HEAD\r$/im);
    }
  });

  it('gives the pages that the UI makes by itself its index.html', async () => {
    for (const path of ['/ui/scans', '/ui/scans/20260101-000000-abcdef', '/ui/scans/', '/ui/assets']) {
      const { status, text } = await request(path);
      expect([path, status, text.includes('the UI')]).toEqual([path, 200, true]);
    }
    expect((await request('/ui/missing.js')).status).toBe(404);
    for (const path of ['/api/v1/nothing', '/health/nothing', '/metrics/nothing', '/uix', '/scans']) {
      const { status, text } = await request(path);
      expect([path, status, text.includes('the UI')]).toEqual([path, 401, false]);
    }
  });

  it.each([
    '/ui/..%2f..%2fetc/passwd',
    '/ui/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd',
    '/ui/../../../../etc/passwd',
    '/ui/%2e%2e/%2e%2e/etc/passwd',
    '/ui/..%5c..%5cetc%5cpasswd',
    '/ui/..\\..\\etc\\passwd',
    '/ui/%252e%252e/secret.txt',
    '/ui//etc/passwd',
    '/ui/%2fetc/passwd',
    '/ui/./index.html',
    '/ui/index.html%00.txt',
    '/ui/%00',
    '/ui/%',
    '/ui/%ff',
    '/ui/.env',
    '/ui/%2eenv',
    '/ui/environment.txt',
    '/ui/../files-too.txt',
    '/ui/root',
    '/ui/root/',
    '/ui/root/etc/passwd',
    '/ui/root/etc/',
    '/ui/root/no-such-place',
    '/ui/root/etc/no-such-place',
    '/ui/beside/secret.txt',
    '/ui/beside/nothing',
    '/ui/secret.txt',
    '/ui/turns.txt',
    `/ui/${'a'.repeat(300)}.js`,
    `/ui/${'a/'.repeat(3000)}b.js`,
  ])('has nothing at %s', async (path) => {
    const { status, text } = await request(path);
    expect(status).toBe(404);
    expect(text).not.toMatch(/root:x:|SECRET|the UI/);
    expect(text).toContain('"not_found"');
    expect(text).not.toContain(home);
  });

  it('serves under the allowed host names only', async () => {
    const response = await service.app.inject({ url: '/ui/', headers: { host: 'evil.example' } });
    expect([response.statusCode, response.json().error.code]).toEqual([403, 'forbidden_origin']);
  });

  it('is no path at all when the UI is off', async () => {
    const off = await openService({ 'server.ui.enabled': false, 'server.ui.static_dir': folder });
    const status = async (path: string) => (await off.app.inject({ url: path })).statusCode;
    expect([await status('/ui'), await status('/ui/'), await status('/')]).toEqual([404, 404, 404]);
    await off.close();
  });

  it('may lie in another folder', async () => {
    const other = await openService({
      'server.ui.path': '/console/v2',
      'server.ui.static_dir': folder,
      'server.api.enabled': false,
    });
    expect((await other.app.inject({ url: '/console/v2/scans' })).body).toContain('the UI');
    expect((await other.app.inject({ url: '/ui/' })).statusCode).toBe(404);
    await other.close();
  });

  it('is where the root of the server leads', async () => {
    const { text, status } = await request('/');
    expect([status, /^location: (.*)\r$/im.exec(text)?.[1]]).toEqual([302, '/ui/']);
    const behind = await openService({
      'server.public_url': 'https://scanner.example.net/portolan',
      'server.ui.path': '/console',
    });
    const headers = { host: 'scanner.example.net' };
    const moved = await behind.app.inject({ url: '/', headers });
    expect([moved.statusCode, moved.headers.location]).toEqual([
      302,
      'https://scanner.example.net/portolan/console/',
    ]);
    expect((await behind.app.inject({ url: '/', headers: { host: 'evil.example' } })).statusCode).toBe(403);
    await behind.close();
  });
});

describe('the folder of the UI', () => {
  const check = async (path: string, more: Record<string, unknown> = {}) => {
    const { context } = service;
    const ui = { ...context.config.server.ui, static_dir: path, ...more };
    const config = { ...context.config, server: { ...context.config.server, ui } };
    await checkUiFolder({ config, origins: new Map([['server.ui.static_dir', 'flag']]) });
  };

  it('is checked before the server starts', async () => {
    await check(folder);
    await check('');
    await check(join(home, 'nowhere'), { enabled: false });
    for (const [path, reason] of [
      [join(home, 'nowhere'), 'does not exist'],
      [join(folder, 'index.html'), 'is not a directory'],
      [service.dir, 'contains the workspace'],
      ['/', 'contains the workspace'],
    ] as const) {
      await expect(check(path)).rejects.toMatchObject({ code: 'configuration' });
      await expect(check(path)).rejects.toThrow(`flag server.ui.static_dir: ${path} ${reason}`);
    }
  });

  it('must be readable', () => {
    const closed = join(home, 'closed');
    mkdirSync(join(closed, 'in'), { recursive: true });
    chmodSync(closed, 0);
    const args = ['server', 'start', '--bind', '127.0.0.1:0', '--workspace-dir', join(home, 'ws')];
    const command = [
      process.execPath,
      fileURLToPath(new URL('../../../../bin/portolan', import.meta.url)),
      ...args,
    ];
    // Root can open every folder, unless it drops that capability (capabilities(7), CAP_DAC_OVERRIDE).
    const drop = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all', '--'];
    const [program = '', ...rest] = process.getuid?.() === 0 ? [...drop, ...command] : command;
    const ended = spawnSync(program, rest, {
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        // Compiled code of earlier runs.
        XDG_CACHE_HOME: join(homedir(), '.cache'),
        SERVICE_SERVER__UI__STATIC_DIR: join(closed, 'in'),
      },
      encoding: 'utf8',
      timeout: 120_000,
    });
    chmodSync(closed, 0o700);
    expect([ended.status, ended.stderr]).toEqual([
      3,
      expect.stringMatching(/server\.ui\.static_dir: .*closed\/in cannot be read \(EACCES\)/),
    ]);
  });
});
