import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../program.ts';
import { Home } from './command.ts';

const home = new Home();
afterAll(() => home.remove());

describe('config init', () => {
  const example = readFileSync(join(root, 'config.example.yaml'), 'utf8');

  it('prints the example', async () => {
    expect(await home.run(['config', 'init'])).toMatchObject({ code: 0, stdout: example, stderr: '' });
  });

  it('writes a new file that is valid, and never over another', async () => {
    const file = home.file('new.yaml');
    expect(await home.run(['config', 'init', file])).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(file, 'utf8')).toBe(example);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await home.run(['config', 'validate', '--strict', '--config', file])).code).toBe(0);
    writeFileSync(file, 'mine');
    const again = await home.run(['config', 'init', file]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('file exists')]);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await home.run(['config', 'init', '/none/such/c.yaml'])).code).toBe(1);
  });
});

describe('config validate', () => {
  it('tells good, doubtful and bad apart (exit 0 and 3)', async () => {
    const file = home.file('c.yaml');
    writeFileSync(file, 'scanner: {rat: 5}\n');
    const loose = await home.run(['config', 'validate', '--config', file]);
    expect([loose.code, loose.stdout]).toEqual([0, 'the configuration is valid\n']);
    expect(loose.stderr).toMatch(
      /c\.yaml:1:\d+: warning: unknown key scanner\.rat\n[^]*did you mean scanner\.rate\?/,
    );
    expect((await home.run(['config', 'validate', '--strict', '--config', file])).code).toBe(3);
    writeFileSync(file, 'workspace: {retention: {max_age: 5m, min_free_space: 20}}\n');
    const bad = await home.run(['config', 'validate', '--config', file]);
    expect([bad.code, bad.stdout]).toEqual([3, '']);
    expect(bad.stderr).toContain('workspace.retention.max_age');
    expect(bad.stderr).toContain('workspace.retention.min_free_space');
  });

  it('knows the options of modules', async () => {
    const file = home.file('m.yaml');
    writeFileSync(file, 'modules: {connect_scanner: {timout: 1s}}\n');
    const { code, stderr } = await home.run(['config', 'validate', '--config', file]);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /m\.yaml:1:\d+: error: modules\.connect_scanner\.timout: [^]* did you mean timeout\?/,
    );
  });

  it('lets no control character of a file through', async () => {
    const file = home.file('esc.yaml');
    writeFileSync(
      file,
      '"\\e[31mred\\u202e": 1\nscanner: {default_profile: "a\\x1b[2Jb"}\nserver: {workers: "\\x07x"}\n',
    );
    const { code, bytes } = await home.run(['config', 'validate', '--config', file]);
    expect(code).toBe(3);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(bytes.toString()).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  });
});

describe('config show', () => {
  it('shows what holds and where it comes from', async () => {
    const env = { SERVICE_RATE: '77' };
    const { code, stdout } = await home.run(['config', 'show', '--origin'], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^scanner\.rate +77 +environment SERVICE_RATE$/m);
    expect(stdout).toMatch(/^scanner\.timeout +3s +default$/m);
    const json = await home.run(['config', 'show', '--format', 'json'], { env });
    const { settings } = JSON.parse(json.stdout);
    expect(settings).toContainEqual({ key: 'scanner.rate', value: 77 });
    expect(settings).toContainEqual({ key: 'workspace.retention.max_age', value: null });
  });

  it('hides every secret, within entries too', async () => {
    const file = home.file('secrets.yaml');
    const text = [
      'notifications:',
      '  email: {password: S1}',
      '  slack: {webhook_url: "https://hooks.example/S2"}',
      '  webhooks: [{name: a, url: "https://h.example/S3", secret: S4, headers: {X-Key: S5}}]',
      'vulndb: {nvd_api_key: S6, nvd_url: "https://u:S7@nvd.example/"}',
    ];
    writeFileSync(file, text.join('\n'), { mode: 0o644 });
    for (const format of ['text', 'json']) {
      const { code, stdout, stderr } = await home.run([
        'config',
        'show',
        '--format',
        format,
        '--config',
        file,
      ]);
      expect([code, /S[1-7]\b/.exec(stdout + stderr)]).toEqual([0, null]);
      expect(stderr).toContain('EVERY USER OF THIS MACHINE CAN READ THIS FILE');
    }
  });

  it('shows where each value comes from, the strongest source first', async () => {
    const rateFrom = async (args: string[], env: NodeJS.ProcessEnv) => {
      const { stdout } = await home.run(['config', 'show', '--origin', ...args], { env });
      return /^scanner\.rate +(\w+) +(.*)$/m.exec(stdout)?.slice(1);
    };
    const write = (name: string, rate: number) => {
      const file = home.file(name);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, `scanner:\n  rate: ${rate}\n`);
      return file;
    };
    const env: NodeJS.ProcessEnv = { SERVICE_WORKSPACE_DIR: home.file('ws64') };
    expect(await rateFrom([], env)).toEqual(['auto', 'default']);
    const user = write('.config/portolan/config.yaml', 1);
    expect(await rateFrom([], env)).toEqual(['1', `${user}:2:9`]);
    const workspace = write('ws64/config/portolan.yaml', 2);
    expect(await rateFrom([], env)).toEqual(['2', `${workspace}:2:9`]);
    expect(await rateFrom(['--workspace-dir', home.file('other')], env)).toEqual(['1', `${user}:2:9`]);
    env['SERVICE_CONFIG'] = write('variable.yaml', 3);
    expect(await rateFrom([], env)).toEqual(['3', `${env['SERVICE_CONFIG']}:2:9`]);
    const named = write('named.yaml', 4);
    expect(await rateFrom(['--config', named], env)).toEqual(['4', `${named}:2:9`]);
    env['SERVICE_RATE'] = '5';
    expect(await rateFrom(['--config', named], env)).toEqual(['5', 'environment SERVICE_RATE']);
    const { stdout } = await home.run(
      ['config', 'show', '--origin', '--workspace-dir', '/flag', '--log-level', 'warn'],
      { env },
    );
    expect(stdout).toMatch(/^workspace\.dir +\/flag +flag$/m);
    expect(stdout).toMatch(/^logging\.level +warn +flag$/m);
    rmSync(user);
  });
});

describe('bad keys', () => {
  const bad: [string, string, RegExp][] = [
    [
      'an unknown key',
      'scanner: {rat: 5}',
      /:1:11: error: unknown key scanner\.rat\n[^]*did you mean scanner\.rate\?/,
    ],
    ['a wrong type', 'server: {workers: many}', /:1:19: error: server\.workers: must be a whole number/],
    [
      'min above max',
      'workers: {min: 8, max: 3}',
      /:1:16: error: workers\.min: must not be above workers\.max/,
    ],
    [
      'TLS without a key',
      'server: {tls: {enabled: true, cert_file: /c}}',
      /:1:25: error: server\.tls\.enabled: needs server\.tls\.key_file/,
    ],
    [
      'a negative limit',
      'server: {api: {rate_limit: -1}}',
      /:1:28: error: server\.api\.rate_limit: must be at least 0/,
    ],
    ['a key given twice', 'scanner: {rate: 1}\nscanner: {rate: 2}', /:2:1: error: scanner: duplicate key/],
    [
      'a module that is not there',
      'modules: {conect_scanner: {timeout: 1s}}',
      /:1:37: error: modules\.conect_scanner\.timeout: [^]*did you mean connect_scanner\?/,
    ],
    [
      'a profile that is not there',
      'scanner: {default_profile: fast}',
      /bad\.yaml:1:28 scanner\.default_profile: there is no profile "fast"/,
    ],
  ];

  it.each(bad)('%s stops the start: exit 3, no port, no file', async (_name, text, expected) => {
    const file = home.file('bad.yaml');
    writeFileSync(file, text);
    // Whoever tried to bind this port would be told that it is taken, and end with 4.
    const taken = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const bind = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const workspace = home.file('never');
    const before = filesOf(home.path);
    const args = ['--strict-config', '--config', file, '--workspace-dir', workspace, '--bind', bind];
    const started = await home.run(['server', 'start', ...args]);
    expect([started.code, started.stdout]).toEqual([3, '']);
    expect(started.stderr).toMatch(expected);
    expect([existsSync(workspace), filesOf(home.path)]).toEqual([false, before]);
    await new Promise((resolve) => taken.close(resolve));
  });

  it('stop a scan too', async () => {
    const file = home.file('bad.yaml');
    writeFileSync(file, 'modules: {connect_scanner: {retries: 99}}');
    for (const more of [[], ['--dry-run']]) {
      const args = ['scan', '127.0.0.1', '--config', file, '--workspace-dir', home.file('never'), ...more];
      const { code, stderr } = await home.run(args);
      expect([code, stderr]).toEqual([3, expect.stringContaining('modules.connect_scanner.retries')]);
    }
    expect(existsSync(home.file('never'))).toBe(false);
  });
});

/** Everything in a home but the cache of compiled code. */
function filesOf(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => !name.startsWith('.cache')).toSorted();
}
