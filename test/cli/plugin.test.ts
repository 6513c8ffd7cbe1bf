import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';

const home = new Home();
const config = home.file('portolan.yaml');
const plugin = (...args: string[]) => home.run(['plugin', ...args, '--config', config]);
afterAll(() => home.remove());

/** The program is started many times. */
describe('portolan plugin', () => {
  it('goes from a key to an installed plugin, records it, and refuses what is unsigned', async () => {
    writeFileSync(config, '{}');
    const made = await plugin('keygen', '-o', home.file('keys'));
    expect([made.code, statSync(home.file('keys/plugin-private.pem')).mode & 0o777]).toEqual([0, 0o600]);
    const audit = { enabled: true, events: ['config_change'] };
    const trusted = [{ fingerprint: made.stdout.trim(), name: 'Acme\u202e' }];
    const plugins = { require_signature: true, trusted_publishers: trusted };
    writeFileSync(config, JSON.stringify({ logging: { audit }, plugins }));

    mkdirSync(home.file('src'));
    writeFileSync(
      home.file('src/plugin.yaml'),
      'name: hello\nversion: 1.0.0\nkind: script\nentry: main.mjs\n',
    );
    writeFileSync(
      home.file('src/main.mjs'),
      "import { writeFileSync } from 'node:fs';\nwriteFileSync('ran', '');\n",
    );
    const file = home.file('hello.tar.gz');
    const packed = await plugin('pack', home.file('src'), '-o', file);
    expect([packed.code, packed.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
    expect((await plugin('verify', file)).code).toBe(5);
    const refused = await plugin('install', file);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('unsigned')]);

    const key = home.file('keys/plugin-private.pem');
    expect((await plugin('sign', file, '--key', key, '--publisher', 'Acme', '--expiry', '1d')).code).toBe(0);
    expect((await plugin('verify', file)).code).toBe(0);
    const installed = await plugin('install', file);
    expect([installed.code, installed.stderr]).toEqual([0, expect.stringContaining('signature trusted')]);

    const listed = await plugin('list');
    expect(listed.stdout).toMatch(
      /hello +script +1\.0\.0 .* trusted .* no: plugin hello: cannot load main\.mjs: EPERM/,
    );
    expect(listed.stdout).not.toContain('\u202e');
    const bare = home.file('bare.mjs');
    writeFileSync(bare, 'export const Plugin = {};\n');
    expect((await plugin('verify', bare)).code).toBe(5);
    expect((await plugin('sign', bare, '--key', key, '--publisher', 'Acme')).code).toBe(0);
    expect((await plugin('verify', bare)).code).toBe(0);
    const info = JSON.parse((await plugin('info', 'hello', '--format', 'json')).stdout);
    expect(info).toMatchObject({
      name: 'hello',
      loaded: false,
      sha256: packed.stdout.trim(),
      previous: null,
    });
    expect((await plugin('update', 'hello', '--rollback')).code).toBe(1);
    expect((await plugin('uninstall', 'hello')).code).toBe(0);
    expect(JSON.parse((await plugin('list', '--format', 'json')).stdout)).toEqual({ plugins: [], total: 0 });

    const folder = home.file('.local/share/portolan/audit');
    const logs = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const text = logs.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join('');
    for (const operation of ['plugin.install', 'plugin.rollback', 'plugin.remove'])
      expect(text).toContain(operation);
    expect(text).not.toContain(readFileSync(key, 'utf8').split('\n')[1]);
  });

  it('says at an install in which graphs a script runs, and takes it along in builtin profiles if it has a stage', async () => {
    const folder = home.file('stage');
    mkdirSync(folder);
    const file = `${folder}/old_ssh.mjs`;
    writeFileSync(
      file,
      "export const Plugin = { name: 'old_ssh', version: '1.2.0', description: '', requires: ['banners'], execute() {} };\n",
    );
    const local = `${folder}/portolan.yaml`;
    const plugins = { dir: `${folder}/plugins` };
    writeFileSync(local, JSON.stringify({ plugins }));
    const run = (...args: string[]) => home.run([...args, '--config', local]);
    expect((await run('plugin', 'install', file)).stderr).toContain(
      'it runs in no graph yet: name its module old_ssh in one',
    );
    expect((await run('plugin', 'install', file, '--stage', 'evaluation', '--force')).stderr).toContain(
      'it runs in every builtin profile that has what it requires (stage evaluation)',
    );
    const listed = JSON.parse((await run('plugin', 'list', '--format', 'json')).stdout);
    const profiles = ['deep', 'infrastructure', 'quick', 'standard', 'vuln-scan', 'webapp'];
    expect(listed.plugins).toMatchObject([{ name: 'old_ssh', version: '1.2.0', runs_in: profiles }]);
    const nodes = async (...more: string[]) => {
      const plan = await run('scan', '127.0.0.1', '--vuln', '--dry-run', '--format', 'json', ...more);
      return JSON.parse(plan.stdout).nodes.filter(
        (node: { module_type: string }) => node.module_type === 'old_ssh',
      );
    };
    expect(await nodes()).toMatchObject([{ skipped: null, depends_on: ['banners'] }]);
    expect(await nodes('--disable-plugin', 'old_ssh')).toEqual([]);
    expect((await run('scan', '127.0.0.1', '--disable-plugin', 'old_sh')).stderr).toContain(
      'no plugin "old_sh" is loaded; did you mean old_ssh?',
    );
    writeFileSync(local, JSON.stringify({ plugins: { ...plugins, disabled: ['old_ssh'] } }));
    expect(await nodes()).toEqual([]);
    expect((await run('plugin', 'list')).stdout).toContain('none: switched off');
  });

  it.each([
    [['install', 'https://192.0.2.1/x.tar.gz'], 2],
    [['install', 'hello'], 3],
    [['install', './missing.tar.gz'], 1],
    [['remove', '../x'], 2],
    [['update', '__proto__'], 2],
    [['info', 'absent'], 1],
    [['pack', './missing'], 2],
  ])('%j ends with exit code %i', async (args, code) => {
    const ended = await plugin(...args);
    expect([ended.code, ended.stdout]).toEqual([code, '']);
  });
});

describe('plugins over REST', () => {
  const server = new InProcessServer({ env: { SERVICE_PLUGINS__DIR: home.file('rest-plugins') } });
  beforeAll(() => server.start());
  afterAll(() => server.dispose());
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const sent = { method, ...(body && { headers, body: JSON.stringify(body) }) };
    const answer = await server.request(`/api/v1/plugins${path}`, sent);
    return { status: answer.status, ...(answer.body as { data: object; error: { message: string } }) };
  };
  const upload = (version: string, more: object = {}) => {
    const text = `export const Plugin = { name: 'old_ssh', version: '${version}', description: '', requires: ['banners'], execute() {} };\n`;
    const content = Buffer.from(text).toString('base64');
    return ask('POST', '', { file: 'old_ssh.mjs', content, ...more });
  };

  it('are installed and in force at once, switched off, rolled back and removed', async () => {
    const installed = await upload('1.0.0', { stage: 'evaluation' });
    expect([installed.status, installed.data]).toMatchObject([
      201,
      {
        name: 'old_ssh',
        version: '1.0.0',
        loaded: true,
        stage: 'evaluation',
        disabled: false,
        previous: null,
      },
    ]);
    expect((installed.data as { runs_in: string[] }).runs_in).toContain('standard');
    expect((await upload('1.1.0', { stage: 'evaluation' })).data).toMatchObject({ previous: '1.0.0' });
    expect((await ask('PUT', '/old_ssh', { disabled: true })).data).toMatchObject({
      disabled: true,
      runs_in: [],
    });
    expect((await ask('POST', '/old_ssh/rollback')).data).toMatchObject({ version: '1.0.0', disabled: true });
    expect((await ask('PUT', '/old_ssh', { disabled: false })).data).toMatchObject({ disabled: false });
    expect((await ask('DELETE', '/old_ssh')).data).toEqual({ name: 'old_ssh', deleted: true });
    expect((await ask('GET', '')).data).toEqual({ plugins: [] });
    const bad = await ask('POST', '', { file: 'x.exe', content: 'TVo=' });
    expect([bad.status, bad.error.message]).toEqual([
      400,
      expect.stringContaining('its name must end in one of'),
    ]);
  });
});
