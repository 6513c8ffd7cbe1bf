import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/domain/finding.ts';
import type { Producer } from '../../src/domain/producer.ts';
import { PythonPlugin, pythonGrpc } from '../../src/plugins/grpc/fixtures/python-plugin.ts';
import { Home } from '../cli/command.ts';
import { Listeners } from '../cli/listeners.ts';
import { isInstalled } from '../installed.ts';
import { postgresObstacle } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { Lab } from '../workers/cluster.ts';
import { found, type KindFiles, kindsConfig, kindsGraph, oldWebServer, writeKinds } from './kinds.ts';

const address = '127.86.18.1';
const versions = {
  powered_by: '1.4.0',
  ssh_age: '1.0.0',
  'http-trace': '1.0.0',
  'old-jetty': '1.0.0',
  put_allowed: '2.1.0',
  ssh_protocol_one: '1.0.0',
};
const producers = Object.entries(versions).map(([name, version]) => `${name}@${version}`);

interface Result {
  scan_id: string;
  extra: Record<string, object[]>;
  results: { ports: { port: number; vulnerabilities: (Finding & { producer?: Producer })[] }[] }[];
}

const home = new Home();
const listeners = new Listeners();
let files: KindFiles;
let web: { server: Server; port: number };
let ssh: number;
let python: PythonPlugin;
const plugins = () => files.bare.flatMap((file) => ['--plugin', file]);

const runnable = isInstalled('gcc') && isInstalled(pythonGrpc);

/** By plugin: what its findings are, and where. */
const expected = () =>
  Object.entries(found).map(([name, id]) => ({ name, id, port: id.startsWith('ssh') ? ssh : web.port }));

function findingsOf({ results }: Result) {
  const findings = results.flatMap(({ ports }) =>
    ports.flatMap(({ port, vulnerabilities }) => vulnerabilities.map((each) => ({ ...each, port }))),
  );
  return findings.flatMap(({ producer, id, port }) => (producer ? [{ name: producer.name, id, port }] : []));
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);

describe.skipIf(!runnable)('one plugin of each kind in one scan', () => {
  beforeAll(async () => {
    files = await writeKinds(home.path);
    web = await oldWebServer(address);
    ssh = await listeners.serve((socket) => socket.end('SSH-1.99-OpenSSH_7.2p2\r\n'), address);
    python = await PythonPlugin.start();
    mkdirSync(home.file('.config/portolan/dags'), { recursive: true });
    writeFileSync(home.file('.config/portolan/dags/kinds.yaml'), kindsGraph);
    writeFileSync(home.file('portolan.yaml'), kindsConfig(`127.0.0.1:${python.port}`));
    const installed = await home.run(['plugin', 'install', files.archive]);
    expect(installed.code, installed.stderr).toBe(0);
  });
  afterAll(async () => {
    listeners.close();
    web?.server.close();
    await python?.[Symbol.asyncDispose]();
    home.remove();
  });

  it('finds with each of them, and every format names the plugin', async () => {
    mkdirSync(home.file('temporary'));
    const env = { TMPDIR: home.file('temporary') };
    const config = ['--config', home.file('portolan.yaml')];
    const scan = [
      'scan',
      address,
      '--ports',
      `${web.port},${ssh}`,
      '--dag',
      'kinds',
      ...plugins(),
      ...config,
    ];
    const { code, stdout, stderr } = await home.run([...scan, '--format', 'json', '-q'], { env });
    expect([code, stderr]).toEqual([0, '']);
    const result = JSON.parse(stdout) as Result;
    expect(findingsOf(result).toSorted(byName)).toEqual(expected().toSorted(byName));
    expect(result.extra['powered_by.products']).toMatchObject([
      { value: { host: address, port: web.port, product: 'PHP/5.3.3' }, producer: { name: 'powered_by' } },
    ]);
    expect(readdirSync(env.TMPDIR)).toEqual([]);

    const exported = async (format: string) => {
      const ended = await home.run(['workspace', 'export', result.scan_id, '--format', format, ...config]);
      expect(ended.code, ended.stderr).toBe(0);
      return ended.stdout;
    };
    const lines = (await exported('jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const marks = lines.flatMap(({ type, producer }) =>
      type === 'vulnerability' && producer ? [producer] : [],
    );
    expect(marks.map(({ name, version }) => `${name}@${version}`).toSorted()).toEqual(producers.toSorted());
    for (const { sha256 } of marks) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(lines).toContainEqual(
      expect.objectContaining({ type: 'extra', key: 'powered_by.products', host: address }),
    );
    const [header, ...rows] = (await exported('csv')).trim().split('\r\n');
    expect(header).toMatch(/,producers$/);
    const named = rows.flatMap((row) => (row.split(',').at(-1) ?? '').split(';'));
    expect(named.toSorted()).toEqual(producers.toSorted());
  });

  it('does so on a server, which lists them as modules and as plugins', async () => {
    const server = new ServerProcess({
      args: serverArgs(),
      env: { ...home.env, XDG_CONFIG_HOME: home.file('.config') },
    });
    try {
      await server.start();
      const listed = (await server.request('/api/v1/plugins')).body as { data: { plugins: object[] } };
      const wanted = Object.entries(versions).map(([name, version]) => ({
        name,
        version,
        loaded: true,
        error: null,
      }));
      expect(listed.data.plugins).toHaveLength(wanted.length);
      for (const plugin of wanted)
        expect(listed.data.plugins).toContainEqual(expect.objectContaining(plugin));
      const { data } = (await server.request('/api/v1/modules')).body as { data: { modules: object[] } };
      const names = ['powered_by', 'ssh_age', 'http_trace', 'put_allowed', 'ssh_protocol_one'];
      for (const name of names)
        expect(data.modules).toContainEqual(
          expect.objectContaining({ name, source: expect.stringMatching(/^plugin /) }),
        );
      await scanOn(server, {});
    } finally {
      await server.dispose();
    }
  });

  it.skipIf(postgresObstacle() !== null)(
    'does so on a worker, which has them from the database',
    async () => {
      const lab = await Lab.open([address], 1);
      try {
        const env = { ...home.env, XDG_CONFIG_HOME: home.file('.config') };
        const cluster = await lab.cluster(env, serverArgs());
        await cluster.worker(['--config', home.file('portolan.yaml')], { HOME: home.file('worker') });
        await scanOn(cluster.server, { pool: 'lab' });
      } finally {
        await lab.dispose();
      }
    },
  );

  const serverArgs = () => [...plugins(), '--config', home.file('portolan.yaml')];

  async function scanOn(server: ServerProcess, more: object): Promise<void> {
    const scan = { targets: [address], ports: [web.port, ssh], dag: 'kinds', options: { discover: false } };
    const scanId = await server.submit({ ...scan, ...more });
    const { stages } = await server.waitForEnd(scanId);
    expect(stages.filter(({ error }) => error !== null)).toEqual([]);
    const { body } = await server.request(`/api/v1/scans/${scanId}/results`);
    const result = (body as { data: Result }).data;
    expect(findingsOf(result).toSorted(byName)).toEqual(expected().toSorted(byName));
    expect(result.extra['powered_by.products']).toHaveLength(1);
  }
});
