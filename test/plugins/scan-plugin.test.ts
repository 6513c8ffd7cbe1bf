import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writePackage } from '../../src/plugins/package-archive.ts';
import { Home } from '../cli/command.ts';
import { InProcessServer } from '../cli/in-process-server.ts';
import { findingsOf, noteTitles, type Result } from './noting-plugin.ts';

const graph = `name: noted
nodes:
  - {id: ping, module: tcp_probe_discovery}
  - {id: sweep, module: syn_scanner, depends_on: [ping]}
  - {id: note, module: title_note, depends_on: [sweep]}
  - {id: report, module: json_reporter, depends_on: [note]}
`;

const home = new Home();
let target: Server;
let port = 0;

beforeAll(async () => {
  target = createServer((_request, response) => response.end('hello'));
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  port = (target.address() as AddressInfo).port;
});
afterAll(() => {
  target.close();
  home.remove();
});

async function packageOf(version: string): Promise<Buffer> {
  const manifest = `name: titles\nversion: ${version}\nkind: script\nentry: main.mjs\n`;
  return writePackage(
    new Map([
      ['plugin.yaml', Buffer.from(manifest)],
      ['main.mjs', Buffer.from(noteTitles(version))],
    ]),
  );
}

describe('portolan scan --plugin', () => {
  it('runs a script for one scan, whose records name it, and leaves no file behind', async () => {
    const file = home.file('titles.mjs');
    writeFileSync(file, noteTitles('1.2.3'));
    const temporary = home.file('temporary');
    mkdirSync(temporary);
    const env = { TMPDIR: temporary };
    const scan = ['scan', '127.0.0.1', '--ports', String(port), '--plugin', file];
    const { code, stdout, stderr } = await home.run([...scan, '--format', 'json', '-q'], { env });
    expect([code, stderr]).toEqual([0, '']);
    const producer = { name: 'titles', version: '1.2.3', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
    expect(findingsOf(JSON.parse(stdout) as Result)).toMatchObject([{ id: 'title-note', producer }]);
    expect(readdirSync(temporary).filter((name) => name.startsWith('portolan-'))).toEqual([]);
    const plan = await home.run([...scan, '--dry-run', '-v']);
    expect(plan.stdout).toMatch(/^title_note +title_note +\w.* runs$/m);
  });

  it('refuses a file that is no plugin before anything is sent', async () => {
    const file = home.file('no-plugin.mjs');
    writeFileSync(file, 'export const other = 1;\n');
    const refused = await home.run(['scan', '127.0.0.1', '--ports', String(port), '--plugin', file]);
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toContain(`--plugin ${file}: `);
  });
});

describe('a server with an installed plugin', () => {
  const plugins = home.file('plugins');
  const env = { SERVICE_PLUGINS__DIR: plugins, XDG_CONFIG_HOME: home.file('config') };

  async function install(version: string): Promise<void> {
    const file = home.file(`titles-${version}.tar.gz`);
    writeFileSync(file, await packageOf(version));
    expect((await home.run(['plugin', 'install', file], { env })).code).toBe(0);
  }

  const resultOf = async (server: InProcessServer, scanId: string) =>
    ((await server.request(`/api/v1/scans/${scanId}/results`)).body as { data: Result }).data;

  it('runs it where a graph names it; a newer version is taken at a reload, for scans accepted then', async () => {
    mkdirSync(home.file('config/portolan/dags'), { recursive: true });
    writeFileSync(home.file('config/portolan/dags/noted.yaml'), graph);
    await install('1.0.0');
    const settings = home.file('settings.yaml');
    writeFileSync(settings, 'plugins: {require_signature: false}\n');
    const server = new InProcessServer({ env: { ...env, SERVICE_CONFIG: settings } });
    const listedNow = async () =>
      ((await server.request('/api/v1/plugins')).body as { data: { plugins: object[] } }).data.plugins;
    try {
      await server.start();
      const order = { targets: ['127.0.0.1'], ports: [port], dag: 'noted', options: { discover: false } };
      expect(await listedNow()).toMatchObject([{ name: 'titles', loaded: true, error: null }]);
      const modules = (await server.request('/api/v1/modules')).body as { data: { modules: object[] } };
      expect(modules.data.modules).toContainEqual(
        expect.objectContaining({ name: 'title_note', source: 'plugin titles' }),
      );
      const evidence = async () => {
        const scanId = await server.submit(order);
        await server.waitForEnd(scanId);
        return findingsOf(await resultOf(server, scanId)).map((finding) => finding.evidence);
      };
      expect(await evidence()).toEqual(['version 1.0.0']);
      await install('1.1.0');
      expect(await evidence()).toEqual(['version 1.0.0']);
      await server.reload();
      await expect.poll(evidence).toEqual(['version 1.1.0']);

      writeFileSync(settings, 'plugins: {require_signature: true}\n');
      await server.reload();
      const unsigned = [{ loaded: false, error: expect.stringMatching(/not signed|unsigned/) }];
      await expect.poll(listedNow).toMatchObject(unsigned);
      writeFileSync(settings, 'plugins: {require_signature: false}\n');
      await server.reload();
      await expect.poll(listedNow).toMatchObject([{ loaded: true }]);

      writeFileSync(join(plugins, 'titles/1.1.0/main.mjs'), 'altered');
      await server.stop();
      await server.start();
      expect(await listedNow()).toMatchObject([
        { loaded: false, error: expect.stringContaining('altered on disk') },
      ]);
      const health = (await server.request('/api/v1/health')).body as { checks: { name: string }[] };
      expect(health.checks.map(({ name }) => name)).toContain('plugins');
    } finally {
      await server.dispose();
    }
  });
});
