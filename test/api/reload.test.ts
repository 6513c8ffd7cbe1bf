import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { ServerProcess } from '../program.ts';

const home = new Home();
const plugins = { SERVICE_PLUGINS__DIR: home.file('plugins') };
const server = new ServerProcess({ env: plugins });
const file = join(server.workspace, 'config', 'portolan.yaml');

function configure(text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
}

/** Writes the file, sends the signal and waits until the server has said how that ended. */
async function reload(text: string): Promise<string> {
  configure(text);
  const before = server.log.length;
  process.kill(server.pid, 'SIGHUP');
  const said = () => server.log.slice(before);
  await expect.poll(said).toMatch(/configuration reload(?:ed| rejected)/);
  return said();
}

function reloadByCommand() {
  return home.run(['server', 'reload', '--workspace-dir', server.workspace]);
}

async function limitShown(): Promise<string | null> {
  return (await server.request('/api/v1/version')).headers.get('x-ratelimit-limit');
}

async function rejectionOf(target: string) {
  return await server.request('/api/v1/scans', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ targets: [target], ports: '1', options: { discover: false } }),
  });
}

beforeAll(async () => {
  mkdirSync(join(server.workspace, 'config'), { mode: 0o700 });
  configure('logging: {audit: {enabled: true}}');
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  home.remove();
});

describe('SIGHUP', () => {
  it('changes the rate limit of the API', async () => {
    expect(await limitShown()).toBeNull();
    await reload('server: {api: {rate_limit: 3}}');
    const answers = [];
    for (let count = 0; count < 5; count++) answers.push((await server.request('/api/v1/version')).status);
    expect(answers).toEqual([200, 200, 200, 429, 429]);
    await reload('{}');
    expect(await limitShown()).toBeNull();
  });

  it('changes the scope and the blocklist of new scans', async () => {
    expect((await rejectionOf('127.0.0.9')).status).toBe(201);
    await reload('scanner: {scope: {deny: [127.0.0.9/32]}, blocklist: [127.0.0.10]}');
    for (const target of ['127.0.0.9', '127.0.0.10']) {
      const { status, body } = await rejectionOf(target);
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('out_of_scope')]);
    }
    await reload('{}');
    expect((await rejectionOf('127.0.0.9')).status).toBe(201);
  });

  it('changes the retention', async () => {
    const id = await server.submit({ targets: ['127.0.0.1'], ports: '1', options: { discover: false } });
    await server.waitForEnd(id);
    const total = async () => {
      const { body } = await server.request('/api/v1/scans');
      return (body as { data: { total: number } }).data.total;
    };
    expect(await total()).toBeGreaterThan(1);
    await reload('workspace: {retention: {enabled: true, max_scans: 1}}');
    await expect.poll(total).toBe(1);
    await reload('{}');
  });

  it('changes the level of the log', async () => {
    await reload('logging: {level: debug}');
    await server.request('/api/v1/version');
    await expect.poll(() => server.log).toContain('path=/api/v1/version');
    await reload('{}');
  });

  it('leaves the settings as they are when the file is bad, and logs every problem', async () => {
    await reload('server: {api: {rate_limit: 777}}');
    const said = await reload('server:\n  api: {rate_limit: -1}\n  workers: many\n');
    expect(said).toMatch(/portolan\.yaml:2:21 server\.api\.rate_limit: must be at least 0/);
    expect(said).toMatch(/portolan\.yaml:3:12 server\.workers: must be a whole number/);
    expect(said).toContain('keeping the old settings');
    expect(await limitShown()).toBe('777');
    await reload('{}');
  });

  it('names what needs a restart', async () => {
    const said = await reload('server: {bind: "127.0.0.1:1"}\nlicense: {file: /none}\nscanner: {rate: 5}');
    for (const key of ['license.file', 'scanner.rate']) {
      expect(said).toContain(`${key} changed, which needs a restart`);
    }
    // The flag --bind goes before the file.
    expect(said).not.toContain('server.bind changed');
    await reload('{}');
  });

  it('is written to the audit log', async () => {
    await reload('logging: {audit: {enabled: true}}');
    await reload('logging: {audit: {enabled: true}}\nscanner: {blocklist: [192.0.2.1]}');
    const folder = join(server.workspace, 'audit');
    const records = () =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.jsonl'))
        .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
        .map((line) => JSON.parse(line) as { event: string; details: object });
    await expect
      .poll(() => records().at(-1))
      .toMatchObject({
        event: 'config_change',
        details: { operation: 'config.reload', changed: ['scanner.blocklist'] },
      });
    await reload('{}');
  });
});

describe('portolan server reload', () => {
  it('tells what has changed and what needs a restart', async () => {
    configure('scanner: {blocklist: [192.0.2.9], rate: 7}');
    const { code, stdout, stderr } = await reloadByCommand();
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('changed: scanner.blocklist');
    expect(stderr).toContain('needs a restart: scanner.rate');
    configure('{}');
    expect((await reloadByCommand()).stderr).toContain('changed: scanner.blocklist');
    expect((await reloadByCommand()).stderr).toContain('no changes');
  });

  it('names plugins and profiles that are new or gone', async () => {
    const match = '{logic: AND, rules: [{field: port, operator: equals, value: 1}]}';
    const rule = `id: reload-rule\nname: A rule\nversion: 1.0.0\ntype: evaluation\nmatch: ${match}\noutput: {severity: low, message: found}\n`;
    const plugin = home.file('reload-rule.yaml');
    writeFileSync(plugin, rule);
    const installed = await home.run(['plugin', 'install', plugin], { env: plugins });
    expect(installed.code, installed.stderr).toBe(0);
    const profiles = join(server.workspace, 'config/profiles');
    mkdirSync(profiles, { recursive: true });
    const profile = join(profiles, 'nightly.yaml');
    writeFileSync(profile, 'name: nightly\nscanner: {rate: 50}\n', { mode: 0o600 });
    expect((await reloadByCommand()).stderr).toMatch(/changed: plugin reload-rule \S+, profile nightly\n/);
    expect((await reloadByCommand()).stderr).toContain('no changes');
    rmSync(profile);
    expect((await reloadByCommand()).stderr).toContain('changed: profile nightly (removed)\n');
  });

  it('ends with 3 when the file is bad, and leaves the server as it is', async () => {
    configure('scanner: {rate: -7}');
    const { code, stderr } = await reloadByCommand();
    expect([code, stderr]).toEqual([3, expect.stringContaining('scanner.rate: must be at least 1')]);
    expect((await server.request('/readyz')).status).toBe(200);
    configure('{}');
  });

  it('ends with 3 when only the server refuses', async () => {
    // What is good for the command is not for the server, which has another environment.
    configure('logging: {level: "${LEVEL_OF_THE_TEST:-loud}"}');
    const args = ['server', 'reload', '--workspace-dir', server.workspace];
    const { code, stderr } = await home.run(args, { env: { LEVEL_OF_THE_TEST: 'info' } });
    expect([code, stderr]).toEqual([3, expect.stringContaining('the server keeps its old configuration')]);
    expect(stderr).toContain('logging.level: must be one of trace');
    configure('{}');
  });

  it('ends with 4 when no server runs', async () => {
    const { code, stderr } = await home.run(['server', 'reload', '--workspace-dir', home.file('ws')]);
    expect([code, stderr]).toEqual([4, expect.stringContaining('no server runs on the workspace')]);
  });
});
