import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { PortolanError } from '../domain/errors.ts';
import { GraphLibrary } from '../engine/graph/graph-library.ts';
import { Registry, registerModules } from '../engine/registry.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import type { Health } from './health.ts';
import { startServer } from './start.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-start-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const registry = new Registry();
let library: GraphLibrary;
beforeAll(async () => {
  await registerModules(registry, source('../modules'));
  library = await GraphLibrary.load(source('../../profiles'), 'builtin', registry);
});

function start(flags: Record<string, unknown> = {}, env: NodeJS.ProcessEnv = {}) {
  const settings = loadConfig({
    env: { HOME: dir, ...env },
    systemFile: join(dir, 'none.yaml'),
    flags: {
      'workspace.dir': join(dir, 'ws'),
      'server.bind': '127.0.0.1:0',
      'logging.level': 'error',
      ...flags,
    },
  });
  const entryFile = source('./fixtures/scan-child.ts');
  const readConfig = async () => settings;
  const build = { commit: 'f'.repeat(40), built_at: null };
  return startServer({ ...settings, readConfig, version: '0.0.0', build, entryFile, registry, library });
}

describe('a server', () => {
  it('says where it listens, is ready, and gives everything back when it stops', async () => {
    const server = await start();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const version = await (await fetch(`${server.url}/api/v1/version`)).json();
    expect(version).toMatchObject({ data: { version: '0.0.0', commit: 'f'.repeat(40), built_at: null } });
    const workspace = await openWorkspace(join(dir, 'ws'));
    expect(await workspace.lockHolder()).toMatchObject({ pid: process.pid, url: server.url });
    // The idle connection of the client must not delay the stop by the drain time of 30 s, longer than a test may
    // take.
    await server.stop();
    await expect(fetch(`${server.url}/readyz`)).rejects.toThrow();
    expect(await workspace.lockHolder()).toBeNull();
    const again = await start();
    await again.stop();
  });

  it.each([
    ['100,000 when scanner.max_rate is not set', {}, 100_000],
    ['scanner.max_rate', { 'scanner.max_rate': 250_000 }, 250_000],
    ['scanner.max_rate', { 'scanner.max_rate': 500 }, 500],
  ])('bounds the option rate of scanners by %s', async (_what, flags, most) => {
    const server = await start(flags);
    const { data } = (await (await fetch(`${server.url}/api/v1/modules`)).json()) as {
      data: { modules: { name: string; config_schema: { properties: { rate: { maximum: number } } } }[] };
    };
    await server.stop();
    const bounds = data.modules
      .filter(({ name }) => ['syn_scanner', 'connect_scanner', 'udp_scanner'].includes(name))
      .map(({ config_schema }) => config_schema.properties.rate.maximum);
    expect(bounds).toEqual([most, most, most]);
  });

  it('does not start with bad alert rules, and makes no workspace then', async () => {
    const rules = join(dir, 'rules.yaml');
    writeFileSync(rules, '- {name: a, condition: queue_lenght > 1, action: slack}\n');
    const refused = start({}, { SERVICE_ALERTS: rules });
    await expect(refused).rejects.toMatchObject({
      code: 'configuration',
      message: `${rules}:1:24: condition: unknown variable queue_lenght; did you mean queue_length?`,
    });
    expect(existsSync(join(dir, 'ws'))).toBe(false);
    await expect(start({}, { SERVICE_ALERTS: join(dir, 'absent.yaml') })).rejects.toThrow(
      /absent.yaml: no such file/,
    );
  });

  it('keeps the old alert rules when a reload finds bad ones, and says so until they are good again', async () => {
    const log = join(dir, 'alerts.log');
    const output = { 'logging.output': 'file', 'logging.file.path': log, 'logging.audit.enabled': true };
    const rules = join(dir, 'rules.yaml');
    writeFileSync(rules, '- {name: a, condition: queue_length > 1, action: slack}\n');
    const server = await start(output, { SERVICE_ALERTS: rules });
    const get = async (path: string) =>
      (await (await fetch(`${server.url}/api/v1/${path}`)).json()) as unknown;
    const checks = async () =>
      ((await get('health')) as Health).checks.filter(({ name }) => name === 'alerts');
    const names = async () =>
      ((await get('alerts')) as { data: { alerts: { name: string }[] } }).data.alerts.map(({ name }) => name);
    try {
      expect([await checks(), await names()]).toEqual([[], ['a']]);
      writeFileSync(rules, '- {name: b, condition: queue_length >, action: slack}\n');
      await server.reload();
      const message = 'the alert rules were rejected at the last reload and the old ones hold; see the log';
      expect([await checks(), await names()]).toEqual([
        [{ name: 'alerts', status: 'degraded', message }],
        ['a'],
      ]);
      const problem = `${rules}:1:38: condition: unexpected end of the condition`;
      expect(readFileSync(log, 'utf8')).toContain(problem);
      writeFileSync(rules, '- {name: b, condition: queue_length > 1, action: slack}\n');
      await server.reload();
      expect([await checks(), await names()]).toEqual([[], ['b']]);
      const audit = readFileSync(
        join(dir, 'ws/audit', `${new Date().toISOString().slice(0, 10)}.jsonl`),
        'utf8',
      );
      expect(audit).toContain(problem);
    } finally {
      await server.stop();
    }
  });

  it('refuses a workspace in use, and lets go of it when the address cannot be bound', async () => {
    const server = await start();
    await expect(start()).rejects.toBeInstanceOf(PortolanError);
    const taken = new URL(server.url).host;
    await expect(start({ 'workspace.dir': join(dir, 'other'), 'server.bind': taken })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    const other = await start({ 'workspace.dir': join(dir, 'other') });
    await other.stop();
    await server.stop();
  });

  it('rejects an unknown default profile before it writes anything', async () => {
    const refused = start({ 'scanner.default_profile': 'nosuch' });
    await expect(refused).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(/"nosuch"; valid names: .*standard/),
    });
    await expect(stat(join(dir, 'ws'))).rejects.toThrow(/ENOENT/);
  });

  it('keeps nothing with the workspace disabled', async () => {
    const server = await start({ 'workspace.enabled': false });
    const { data } = (await (await fetch(`${server.url}/api/v1/workspace/info`)).json()) as {
      data: { path: string };
    };
    expect(data.path).not.toContain(dir);
    await server.stop();
    await expect(stat(data.path)).rejects.toThrow(/ENOENT/);
  });
});
