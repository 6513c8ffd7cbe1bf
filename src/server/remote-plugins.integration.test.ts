import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { GraphLibrary } from '../engine/graph/graph-library.ts';
import { Registry, registerModules } from '../engine/registry.ts';
import { json, PluginServer, usualMetadata } from '../plugins/grpc/fixtures/plugin-server.ts';
import { type RunningServer, startServer } from './start.ts';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const metadata = { ...usualMetadata, requires: ['targets'] };
const graph = `name: remote
nodes:
  - {instance_id: remote, module_type: port_notes, config: {}}
  - {instance_id: ports, module_type: connect_scanner, config: {ports: "1"}}
`;

let dir: string;
let port: number;
let server: RunningServer;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-remote-'));
  await mkdir(join(dir, 'ws/config/dags'), { recursive: true });
  await writeFile(join(dir, 'ws/config/dags/remote.yaml'), graph);
  const free = await PluginServer.start({});
  port = free.port;
  await free[Symbol.asyncDispose]();
  const settings = loadConfig({
    env: { HOME: dir },
    systemFile: join(dir, 'none.yaml'),
    flags: {
      'workspace.dir': join(dir, 'ws'),
      'server.bind': '127.0.0.1:0',
      'logging.level': 'error',
      'plugins.list': JSON.stringify([{ name: 'port_notes', endpoint: `127.0.0.1:${port}` }]),
    },
  });
  const registry = new Registry();
  await registerModules(registry, source('../modules'));
  const library = await GraphLibrary.load(source('../../profiles'), 'builtin', registry);
  const readConfig = async () => settings;
  const entryFile = source('../main.ts');
  const build = { commit: null, built_at: null };
  server = await startServer({
    ...settings,
    readConfig,
    version: '0.0.0',
    build,
    entryFile,
    registry,
    library,
  });
});
afterAll(async () => {
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function request<T>(path: string, body?: object): Promise<T> {
  const post = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const response = await fetch(`${server.url}/api/v1${path}`, body && post);
  return ((await response.json()) as { data: T }).data;
}

interface ScanView {
  scan_id: string;
  status: string;
  stages: { instance_id: string; status: string; error: string | null }[];
}

/** Runs a scan of the graph to its end. */
async function scan(): Promise<ScanView> {
  const { scan_id } = await request<ScanView>('/scans', { targets: ['127.0.0.1'], dag: 'remote' });
  const view = () => request<ScanView>(`/scans/${scan_id}`);
  await expect.poll(async () => (await view()).status).toMatch(/completed|failed/);
  return view();
}

const listed = async () =>
  (await request<{ plugins: { name: string; loaded: boolean; error: string | null }[] }>('/plugins')).plugins;

it('a plugin that is down fails its node only; once it is up, the next scan uses it', async () => {
  expect(await listed()).toEqual([
    expect.objectContaining({
      name: 'port_notes',
      kind: 'grpc',
      loaded: false,
      error: expect.stringContaining('ECONNREFUSED'),
    }),
  ]);
  const without = await scan();
  expect(without.status).toBe('completed');
  expect(without.stages).toEqual([
    expect.objectContaining({
      instance_id: 'remote',
      status: 'failed',
      error: expect.stringContaining('ECONNREFUSED'),
    }),
    expect.objectContaining({ instance_id: 'ports', status: 'completed' }),
  ]);

  const finding = { id: 'note', title: 'A note', severity: 'low', host: '127.0.0.1', port: 1 };
  await using plugin = await PluginServer.start({
    port,
    metadata,
    execute: () => ({ context: { vulnerabilities: json([finding]) } }),
  });
  const version = async () => {
    const { modules } = await request<{ modules: { name: string; version: string }[] }>('/modules');
    return modules.find(({ name }) => name === 'port_notes')?.version;
  };
  await expect.poll(version).toBe('1.0.0');
  expect(await listed()).toEqual([
    expect.objectContaining({ name: 'port_notes', loaded: true, error: null }),
  ]);
  const { scan_id, stages } = await scan();
  expect(stages[0]).toMatchObject({ instance_id: 'remote', status: 'completed', error: null });
  expect(plugin.calls).toHaveLength(1);
  expect(JSON.stringify(await request(`/scans/${scan_id}/results`))).toContain(
    '"producer":{"name":"port_notes"',
  );
}, 120_000);
