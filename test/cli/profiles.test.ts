import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findingsOf, noteTitles } from '../plugins/noting-plugin.ts';
import { root } from '../program.ts';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';
import { Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
let ssh = 0;
beforeAll(async () => {
  ssh = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
});
afterAll(() => {
  listeners.close();
  home.remove();
});

function put(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** The profile and the ports that it asks. */
const profileText = (name: string, port: number) =>
  `name: ${name}\ndag: sweep\nscanner: { rate: 100, ports: { custom: ${port} } }\ndiscovery: { timeout: 300ms, retry: 0 }\n`;

/** The examples of a page, by the name in their first line. */
function examplesOf(page: string): Map<string, string> {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(/^```yaml\n# (\S+)\n(.*?)^```/gms);
  return new Map([...blocks].map(([, name = '', text = '']) => [name, text]));
}

const sweep = examplesOf('docs/profiles.md').get('sweep.yaml') ?? '';

describe('profiles and graphs of the command line', () => {
  it('the examples of docs/profiles.md are right and do what they say', async () => {
    const nightly = examplesOf('docs/profiles.md').get('nightly.yaml') ?? '';
    const dag = put(home.file('.config/portolan/dags/sweep.yaml'), sweep);
    const profile = put(home.file('nightly.yaml'), nightly);
    expect((await home.run(['dag', 'validate', '--strict', dag])).code).toBe(0);
    const shown = await home.run(['profile', 'show', profile, '--format', 'json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ name: 'nightly', source: 'file', dag: 'sweep' });
    const dry = await home.run(['scan', '127.0.0.1', '-p', profile, '--dry-run', '--format', 'json']);
    const plan = JSON.parse(dry.stdout) as Record<string, unknown>;
    expect(plan).toMatchObject({ graph: 'sweep', profile: 'nightly', rate: 200, ports: { tcp: 14 } });
  });

  it('a scan runs with a profile of a file, and flags go before it', async () => {
    const file = put(home.file('here.yaml'), profileText('here', ssh));
    const done = await home.run(['scan', '127.0.0.1', '--profile', file, '--format', 'json']);
    expect(done.code, done.stderr).toBe(0);
    const { results } = JSON.parse(done.stdout) as { results: { ports: unknown[] }[] };
    expect(results[0]?.ports).toMatchObject([{ port: ssh, service: { product: 'OpenSSH' } }]);
    const flags = ['--ports', '1', '--rate', '7', '--dry-run', '--format', 'json'];
    const dry = await home.run(['scan', '127.0.0.1', '--profile', file, ...flags]);
    expect(JSON.parse(dry.stdout)).toMatchObject({ rate: 7, ports: { tcp: 1 } });
  });

  it('a bad file is refused with its place, and an unknown name is never replaced', async () => {
    const file = put(home.file('bad.yaml'), 'scanner:\n  rat: 5\n');
    const bad = await home.run(['scan', '127.0.0.1', '--profile', file]);
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain(`${file}:2:3: scanner.rat: unknown key "rat"; did you mean rate?`);
    const unknown = await home.run(['scan', '127.0.0.1', '--profile', 'nigthly']);
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    const missing = await home.run(['scan', '127.0.0.1', '--profile', './none.yaml']);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no such file')]);
    const there = ['--server', 'http://127.0.0.1:1', '--profile', file];
    expect((await home.run(['scan', '127.0.0.1', ...there])).stderr).toContain('only installed profiles');
  });

  it('the lists name the folder of each, and what is left out', async () => {
    const bad = put(home.file('.config/portolan/profiles/bad.yaml'), 'dag: nowhere\n');
    try {
      put(home.file('.config/portolan/profiles/short.yaml'), 'description: quick look\n');
      const profiles = await home.run(['profile', 'list']);
      expect(profiles.stdout).toMatch(/^short +– +user +quick look$/m);
      expect(profiles.stderr).toContain(`${bad}:1:6: dag: no graph "nowhere" is installed`);
      const dags = JSON.parse((await home.run(['dag', 'list', '--format', 'json'])).stdout) as {
        dags: { name: string; source: string }[];
      };
      expect(dags.dags.find(({ name }) => name === 'sweep')?.source).toBe('user');
      expect(dags.dags.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['standard', 'discovery-only', 'port-scan', 'vuln-scan']),
      );
      expect((await home.run(['dag', 'export', 'sweep'])).stdout).toBe(sweep);
    } finally {
      rmSync(bad);
    }
  });
});

describe('profiles and graphs of a server', () => {
  const server = new InProcessServer({ env: { SERVICE_PROFILE: 'usual' } });
  const file = (name: string) => join(server.workspace, 'config', name);
  beforeAll(async () => {
    put(file('dags/sweep.yaml'), sweep);
    put(file('profiles/usual.yaml'), profileText('usual', ssh));
    put(file('profiles/bad.yaml'), 'scanner: { rate: fast }\n');
    put(file('dags/circle.yaml'), 'nodes:\n  - { id: a, module: icmp_discovery, depends_on: [a] }\n');
    await server.start();
  });
  afterAll(() => server.dispose());

  async function names(): Promise<string[]> {
    const { body } = await server.request('/api/v1/profiles');
    const { profiles } = (body as { data: { profiles: { name: string; source: string }[] } }).data;
    return profiles
      .filter(({ source }) => source !== 'builtin')
      .map(({ name, source }) => `${source}:${name}`);
  }

  async function reload(logLine: string): Promise<void> {
    const before = server.log.length;
    await server.reload();
    await expect.poll(() => server.log.slice(before)).toContain(logLine);
  }

  async function submit(submission: object): Promise<{ status: number; body: unknown }> {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ targets: ['127.0.0.1'], ...submission });
    return server.request('/api/v1/scans', { method: 'POST', headers, body });
  }

  it('starts beside bad files, tells them in the log, and shows no path', async () => {
    // It serves first and reports then.
    await expect
      .poll(() => server.log)
      .toContain('config/profiles/bad.yaml:1:18: scanner.rate: must be a whole number');
    await expect.poll(() => server.log).toContain('config/dags/circle.yaml:2:');
    expect(await names()).toEqual(['workspace:usual']);
    const answers = [await server.request('/api/v1/profiles'), await server.request('/api/v1/dags')];
    expect(JSON.stringify(answers)).not.toContain(server.workspace);
  });

  it('a graph that is no good cannot be submitted', async () => {
    const { status, body } = await submit({ dag: 'circle' });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { fields: [{ field: 'dag' }] } } });
  });

  it('scans with the profile of the configuration and its graph', async () => {
    const { body } = await submit({});
    const { scan_id } = (body as { data: { scan_id: string } }).data;
    const detail = await server.waitForEnd(scan_id);
    expect(detail).toMatchObject({ status: 'completed', profile: 'usual', results: { open_ports: 1 } });
    const stages = (detail as unknown as { stages: { instance_id: string }[] }).stages;
    expect(stages.map(({ instance_id }) => instance_id)).toContain('tcp_ping');
    expect(stages).toHaveLength(5);
  });

  it('takes changes over at a reload; a file that became bad stays as it was', async () => {
    put(file('profiles/new.yaml'), profileText('new', ssh));
    expect((await submit({ profile: 'new' })).status).toBe(400);
    await reload('configuration reloaded');
    expect(await names()).toEqual(['workspace:new', 'workspace:usual']);
    expect((await submit({ profile: 'new' })).status).toBe(201);
    put(file('profiles/new.yaml'), 'dag: [');
    await reload('configuration reloaded');
    await expect.poll(() => server.log).toContain('profiles/new.yaml:1:');
    expect((await submit({ profile: 'new' })).status).toBe(201);
    rmSync(file('profiles/new.yaml'));
    await reload('configuration reloaded');
    expect((await submit({ profile: 'new' })).status).toBe(400);
  });

  it('takes a graph file and a plugin along with one scan, and installs and removes graphs', async () => {
    const graph = put(
      home.file('mine.yaml'),
      `name: mine\nnodes:\n  - { id: sweep, module: connect_scanner, config: { ports: "${ssh}" } }\n`,
    );
    const plugin = put(home.file('title_note.mjs'), noteTitles('1.0.0'));
    const at = ['--server', server.url];
    const run = (...args: string[]) => home.run([...args, ...at]);
    const scanned = await run('scan', '127.0.0.1', '--dag', graph, '--plugin', plugin, '--format', 'json');
    expect(findingsOf(JSON.parse(scanned.stdout))).toMatchObject([
      { id: 'title-note', producer: { name: 'title_note', version: '1.0.0' } },
    ]);
    const unknown = await run('scan', '127.0.0.1', '--dag', 'mine');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no graph')]);
    expect((await run('dag', 'install', graph)).stderr).toContain('graph mine installed: portolan scan');
    expect((await run('dag', 'install', graph)).stderr).toContain('--force replaces it');
    expect((await run('dag', 'install', graph, '--force')).code).toBe(0);
    expect((await run('dag', 'list')).stdout).toMatch(/mine +1 +workspace/);
    expect((await run('scan', '127.0.0.1', '--dag', 'mine')).code).toBe(0);
    expect((await run('dag', 'remove', 'mine')).code).toBe(0);
    expect((await run('dag', 'list')).stdout).not.toContain('mine');
    // Without a server the folder of the workspace is written.
    expect((await home.run(['dag', 'install', graph])).code).toBe(0);
    expect((await home.run(['dag', 'list'])).stdout).toMatch(/mine +1 +workspace/);
    expect((await home.run(['dag', 'remove', 'mine'])).code).toBe(0);
  });

  it('refuses a reload without the profile of the configuration', async () => {
    rmSync(file('profiles/usual.yaml'));
    await reload('keeping the old settings');
    expect((await submit({})).status).toBe(201);
  });
});
