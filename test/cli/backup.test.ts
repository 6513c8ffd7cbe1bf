import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';

const home = new Home();
const server = new InProcessServer({ workers: 1 });
const file = home.file('saved.tar.gz');
const other = home.file('other');
const plugins = home.file('plugins');
const config = home.file('portolan.yaml');
/** The file of the configuration says where plugins lie, so they are saved and restored there. */
const at = (workspace: string) => ['--workspace-dir', workspace, '--config', config];
let ids: string[] = [];

beforeAll(async () => {
  mkdirSync(join(plugins, 'mine'), { recursive: true });
  writeFileSync(join(plugins, 'mine', 'plugin.txt'), 'a plugin\n');
  writeFileSync(config, `plugins:\n  dir: ${plugins}\n`);
  await server.start();
  const done = await server.submit({ targets: ['127.0.0.1'], ports: '9', profile: 'quick' });
  await server.waitForEnd(done);
  const slow = { targets: ['127.9.0.0/24'], ports: '9', profile: 'quick', rate: 1 };
  const running = await server.submit(slow);
  await vi.waitFor(async () => expect((await server.detail(running)).status).toBe('running'), 30_000);
  ids = [running, done];
});
afterAll(async () => {
  await server.dispose();
  home.remove();
});

const scansIn = async (workspace: string) =>
  (await home.run(['workspace', 'list', '--format', 'csv', ...at(workspace)])).stdout.match(
    /^\d{8}-\d{6}-\w+/gm,
  );

describe('portolan backup', () => {
  it('saves a workspace while its server scans, for its owner only, and replaces no file', async () => {
    const { code, stdout } = await home.run(['backup', file, ...at(server.workspace)]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/saved\.tar\.gz {2}\d.* kB: 2 scans, \d+ files\n$/),
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(server.workspace).filter((name) => /archive|\.part$/.test(name))).toEqual([]);
    const again = await home.run(['backup', file, ...at(server.workspace)]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists')]);
  });
});

describe('portolan restore', () => {
  it('brings back scans, plugins and configuration, and keeps what was there before', async () => {
    await home.run(['workspace', 'init', other]);
    writeFileSync(join(other, 'config', 'mine.txt'), 'before');
    writeFileSync(join(plugins, 'mine', 'plugin.txt'), 'changed\n');
    const { code, stdout } = await home.run(['restore', file, '--force', ...at(other)]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/ files of 20.* checked and restored\nbefore {2}/),
    ]);
    expect(await scansIn(other)).toEqual(ids);
    expect(readFileSync(join(plugins, 'mine', 'plugin.txt'), 'utf8')).toBe('a plugin\n');
    expect(stdout).toContain(`left    ${config}: in the backup, not written`);
    const [before = ''] = readdirSync(join(other, 'backups'));
    expect(readFileSync(join(other, 'backups', before, 'config', 'mine.txt'), 'utf8')).toBe('before');
    const checked = await home.run(['workspace', 'check', ...at(other)]);
    expect([checked.code, checked.stdout]).toEqual([0, '2 scans checked: no problems\n']);
  });

  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 900)],
    ['changed in the middle', (bytes: Buffer) => bytes.fill(7, bytes.length >> 1, (bytes.length >> 1) + 20)],
    ['no backup', () => Buffer.from('hello')],
  ])('replaces nothing by a file that is %s', async (_what, damage) => {
    writeFileSync(home.file('bad.tar.gz'), damage(readFileSync(file)));
    const { code, stderr } = await home.run(['restore', home.file('bad.tar.gz'), '--force', ...at(other)]);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/bad\.tar\.gz is damaged: \S.*; nothing was replaced\n$/),
    ]);
    expect(await scansIn(other)).toEqual(ids);
    expect(readdirSync(other).filter((name) => name.startsWith('.restore-'))).toEqual([]);
    expect(existsSync(join(plugins, 'mine', 'plugin.txt'))).toBe(true);
  });

  it('asks before it replaces', async () => {
    const { code, stderr } = await home.run(['restore', file, ...at(other)]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--force replaces without asking')]);
  });
});
