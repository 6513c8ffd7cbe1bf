import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedOut } from '../../src/cli/build-info.ts';
import { emptyDatabase } from '../postgres.ts';
import { root, ServerProcess } from '../program.ts';
import { MailReceiver } from '../receivers.ts';
import { Home, run } from './command.ts';
import { Listeners } from './listeners.ts';

/** Packs, installs the tarball as a stranger would, and uses what was installed. Needs the registry or npm's cache. */
const wanted = Boolean(process.env['PORTOLAN_TEST_PACKED'] || process.env['CI']);
if (!wanted)
  console.log(
    'skipped: test/cli/packed.system.test.ts (set PORTOLAN_TEST_PACKED=1: it installs from the registry)',
  );

describe.runIf(wanted)('the packed program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-packed-'));
  const home = new Home();
  const listeners = new Listeners();
  // What a person has in PATH: without the Node.js of this checkout.
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((place) => !place.includes('node_modules'))
    .join(delimiter);
  const env = { ...home.env, PATH: path };
  const installed = join(folder, 'app/node_modules/.bin/portolan');

  beforeAll(async () => {
    const npmEnv = { ...process.env, PATH: path };
    const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: root,
      env: npmEnv,
    });
    expect({ code: packed.code, stderr: packed.stderr }).toMatchObject({ code: 0 });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) as string;
    mkdirSync(join(folder, 'app'));
    const args = ['install', '--prefix', join(folder, 'app'), '--prefer-offline', '--no-audit', '--no-fund'];
    const install = await run('npm', [...args, join(folder, tarball)], {
      cwd: join(folder, 'app'),
      env: npmEnv,
    });
    expect({ code: install.code, stderr: install.stderr }).toMatchObject({ code: 0 });
  });
  afterAll(() => {
    listeners.close();
    home.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds the bundled program and no sources', () => {
    const app = join(folder, 'app/node_modules/portolan');
    expect(existsSync(join(app, 'dist/main.js'))).toBe(true);
    expect(existsSync(join(app, 'profiles/standard.yaml'))).toBe(true);
    expect(existsSync(join(app, 'src'))).toBe(false);
    const fonts = readdirSync(join(app, 'dist/report/pdf/type/fonts'));
    expect(fonts.filter((name) => name.endsWith('.ttf'))).toHaveLength(4);
    expect(fonts.filter((name) => name.endsWith('-OFL.txt'))).toHaveLength(2);
    expect(readFileSync(join(app, 'dist/LICENSES.txt'), 'utf8')).toMatch(/^fastify \d[\s\S]*^kysely \d/m);
  });

  it('holds the built Web UI, compressed, and no sources of it', () => {
    const app = join(folder, 'app/node_modules/portolan');
    expect(existsSync(join(app, 'dist/ui/index.html'))).toBe(true);
    const assets = readdirSync(join(app, 'dist/ui/assets'));
    for (const ending of ['.js.br', '.js.gz', '.css.br', '.css.gz'])
      expect(assets.filter((name) => name.endsWith(ending))).not.toEqual([]);
    expect(assets.filter((name) => name.endsWith('.map'))).toEqual([]);
    expect(existsSync(join(app, 'ui'))).toBe(false);
  });

  it('runs on the Node.js of its own, whatever started it', async () => {
    const ended = await run(installed, ['version'], { env });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^portolan \d.*\nnode 2[4-9]\./);
    const commit = checkedOut(root) ?? 'unknown';
    expect(ended.stdout).toMatch(new RegExp(`\\ncommit ${commit}, built 20\\S+Z\\n$`));
  });

  it('runs through a link from elsewhere', async () => {
    const link = join(folder, 'portolan-link');
    symlinkSync(installed, link);
    expect((await run(link, ['version', '--short'], { env, cwd: '/' })).code).toBe(0);
  });

  it('shows help', async () => {
    const { code, stdout } = await run(installed, ['--help'], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Usage: portolan') });
  });

  it('passes exit codes and signals on', async () => {
    expect((await run(installed, ['scan', '10.0.0.300'], { env })).code).toBe(2);
    const server = run(installed, ['server', 'start', '--bind', '127.0.0.1:0'], {
      env,
      started: (child) => child.stderr?.once('data', () => child.kill('SIGTERM')),
    });
    expect((await server).code).toBe(0);
  });

  it('scans', async () => {
    const port = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
    const args = ['scan', '127.0.0.1', '--ports', String(port), '--timeout', '1s', '--format', 'json'];
    const ended = await run(installed, args, { env });
    expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(ended.stdout).results[0].ports[0]).toMatchObject({
      port,
      service: { product: 'OpenSSH' },
    });
  });

  it('has the fonts of PDF reports', async () => {
    const port = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
    const file = join(folder, 'report.pdf');
    const args = ['scan', '127.0.0.1', '--ports', String(port), '--timeout', '1s', '-o', file];
    const ended = await run(installed, args, { env });
    expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'latin1')).toMatch(/^%PDF-1\.7[\s\S]*\+Inter-SemiBold[\s\S]*%%EOF\n$/);
  });

  it('knows its modules and profiles', async () => {
    const modules = await run(installed, ['module', 'list', '--format', 'json'], { env });
    expect(JSON.parse(modules.stdout).modules.length).toBeGreaterThan(10);
    expect(
      (await run(installed, ['dag', 'validate', join(root, 'profiles/standard.yaml')], { env })).code,
    ).toBe(0);
  });

  // Packages of the checkout are not installed with it.
  it('serves with PostgreSQL, with the page of the API, its metrics and scans', async () => {
    const queue = { SERVICE_QUEUE__URL: await emptyDatabase() };
    const server = new ServerProcess({ program: installed, env: { ...env, ...queue } });
    try {
      await server.start();
      for (const path of ['docs', 'docs/swagger-ui.css', 'docs/swagger-ui-bundle.js', 'openapi.json'])
        expect([path, (await server.request(`/api/v1/${path}`)).status]).toEqual([path, 200]);
      const { body } = await server.request('/metrics');
      expect(body).toContain('nodejs_heap_size_used_bytes');
      const scanId = await server.submit({
        targets: ['127.0.0.1'],
        ports: '9',
        options: { discover: false },
      });
      expect((await server.waitForEnd(scanId)).status).toBe('completed');
    } finally {
      await server.dispose();
    }
  });

  it('sends mail', async () => {
    const mail = new MailReceiver();
    const settings = {
      SERVICE_NOTIFICATIONS__EMAIL__SMTP_SERVER: '127.0.0.1',
      SERVICE_NOTIFICATIONS__EMAIL__SMTP_PORT: String(await mail.listen()),
      SERVICE_NOTIFICATIONS__EMAIL__FROM: 'scanner@example.org',
      SERVICE_NOTIFICATIONS__EMAIL__TO: 'ops@example.org',
    };
    const ended = await run(installed, ['notification', 'test', 'email://default'], {
      env: { ...env, ...settings },
    });
    await mail.close();
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([0, 'email://default delivered\n', '']);
  });

  it('tries a plugin in its sandbox', async () => {
    const at = { env, cwd: folder };
    expect((await run(installed, ['plugin', 'new', 'script', 'hello'], at)).code).toBe(0);
    const tried = await run(installed, ['plugin', 'test', 'hello', 'hello/sample.json'], at);
    expect({ code: tried.code, stderr: tried.stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('says what is missing without a Node.js that is new enough', async () => {
    const app = join(folder, 'app/node_modules');
    for (const name of readdirSync(app).filter((entry) => entry.startsWith('node-linux-'))) {
      rmSync(join(app, name), { recursive: true });
    }
    const host = await run('node', ['--version'], { env });
    const ended = await run(installed, ['version'], { env });
    if (Number(/^v(\d+)/.exec(host.stdout)?.[1]) >= 24) expect(ended.code).toBe(0);
    else
      expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('needs Node.js 24'),
      });
  });
});
