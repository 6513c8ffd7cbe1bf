import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { isInstalled } from '../installed.ts';
import { canRun } from '../packets/two-hosts.ts';
import { excluded, HostileNetwork, outside, target, webPort } from './hostile-network.ts';
import {
  denials,
  deniedOf,
  failuresOf,
  type HostileResult,
  type HostileSet,
  hostileGraph,
  hostileLimits,
  ProcessWatch,
  writeHostileSet,
  wrongCauses,
} from './hostile-set.ts';
import { packed } from './kinds.ts';

const nobody = 65_534;
const planned = [`${target}.${webPort}`];

describe.skipIf(!canRun || !isInstalled('gcc'))('plugins that want out, on a link', () => {
  const home = new Home();
  let network: HostileNetwork;
  let set: HostileSet;

  beforeAll(async () => {
    network = await HostileNetwork.open();
    set = await writeHostileSet(home.path, target, home.file('written'));
    writeFileSync(home.file('small.yaml'), hostileGraph);
  });
  afterAll(() => {
    network?.close();
    home.remove();
  });

  /** The environment of a user with a folder for temporary files that is empty. */
  function environment(user: number): NodeJS.ProcessEnv {
    const temporary = home.file(`temporary-${user}`);
    mkdirSync(temporary, { recursive: true });
    for (const folder of [home.path, temporary]) chownSync(folder, user, user);
    const scope = { SERVICE_SCANNER__SCOPE__ALLOW: '10.77.0.0/24' };
    return { ...home.env, ...hostileLimits, ...scope, TMPDIR: temporary, XDG_CACHE_HOME: home.file('cache') };
  }

  const portScan = (targets: string) => [
    'scan',
    targets,
    '--ports',
    String(webPort),
    '--dag',
    home.file('small.yaml'),
  ];
  const quiet = ['--no-workspace', '--format', 'json', '-q'];
  const plugins = (files: readonly string[]) => files.flatMap((file) => ['--plugin', file]);
  const entries = () => readdirSync(home.path).filter((name) => name !== 'cache');

  it('is captured whole: a packet that did not pass the gate would be seen', async () => {
    const started = () => network.sendAside(outside);
    const run = await network.run(['version'], { env: environment(0), started });
    expect(run.destinations).toContain(`${outside}.4669`);
  });

  it.each([
    ['root', 0],
    ['nobody', nobody],
  ])(
    'as %s: each of the hostile set fails with its cause, and nothing is sent past the gate',
    async (_, user) => {
      const env = environment(user);
      const before = entries();
      let watch: ProcessWatch | undefined;
      const { code, stdout, stderr, destinations } = await network.run(
        [...portScan(target), ...quiet, ...plugins(set.files)],
        {
          env,
          ...(user !== 0 && { user }),
          started: (pid) => {
            watch = new ProcessWatch(pid);
          },
        },
      );
      const left = watch?.left();
      expect(code, stderr).toBe(7);
      const result = JSON.parse(stdout) as HostileResult;
      expect(result.status).toBe('completed');
      const failures = failuresOf(result);
      expect(wrongCauses(set, failures)).toEqual([]);
      expect(deniedOf(failures['native_intrusions'] ?? '')).toEqual(denials);
      expect(result.results).toMatchObject([{ host: target, ports: [{ port: webPort }] }]);
      expect(result.results[0]?.ports[0]?.banner).toContain('302');

      expect(destinations).toEqual(planned);
      expect(watch?.count).toBeGreaterThan(set.files.length);
      expect(left).toEqual([]);
      expect(entries()).toEqual(before);
      expect(readdirSync(env['TMPDIR'] as string)).toEqual([]);
    },
  );

  it('a plugin with the permission for the network reaches no excluded address, however it is written', async () => {
    const file = home.file('reach.tar.gz');
    const manifest = (name: string) =>
      `name: ${name}\nversion: 1.0.0\nkind: script\nentry: main.mjs\npermissions: [network]\n`;
    writeFileSync(file, await packed({ 'plugin.yaml': manifest('reach'), 'main.mjs': reaching }));
    const named = home.file('named.tar.gz');
    writeFileSync(named, await packed({ 'plugin.yaml': manifest('named'), 'main.mjs': naming }));
    const args = [...portScan('10.77.0.0/29'), '--exclude', excluded, ...quiet, ...plugins([file, named])];
    const { code, stdout, stderr, destinations } = await network.run(args, { env: environment(0) });
    expect(code, stderr).toBe(7);
    const result = JSON.parse(stdout) as HostileResult & { extra: Record<string, { value: unknown }[]> };
    expect(result.extra['reach.tried']?.map(({ value }) => value)).toEqual([
      { to: target, reason: null },
      { to: excluded, reason: 'out_of_scope' },
      { to: `::ffff:${excluded}`, reason: 'out_of_scope' },
      { to: '::ffff:a4d:5', reason: 'out_of_scope' },
      { to: excluded, redirected: true, reason: 'out_of_scope' },
      { to: outside, reason: 'out_of_scope' },
      { to: excluded, udp: true, reason: 'no response' },
    ]);
    const warnings = result.warnings.filter((warning) => warning.code === 'request_out_of_scope');
    expect(warnings).toMatchObject([
      { message: expect.stringContaining(`such as ${excluded}: nothing was sent`) },
    ]);
    expect(failuresOf(result)).toEqual({ named: 'host is no IP address' });
    expect(destinations.filter((to) => to.includes(excluded) || to.includes(outside))).toEqual([]);
    expect(destinations).toEqual(expect.arrayContaining(planned));
  });
});

/** Tries every way to another address, one after the other. */
const reaching = `
export const Plugin = {
  name: 'reach', version: '1.0.0', description: '', requires: ['open_ports'], provides: ['reach.tried'],
  async execute({ net }, data) {
    const [{ host }] = await data.get('open_ports');
    const tell = (item) => data.append('reach.tried', item);
    const { connection } = await net.connect(host, ${webPort});
    await connection.write('GET / HTTP/1.0\\r\\n\\r\\n');
    const { bytes } = await connection.read();
    await tell({ to: host, reason: null });
    const { hostname } = new URL(/^location: (.*)$/im.exec(String(bytes))[1].trim());
    const attempt = async (to, more) => {
      const { failure } = await net.connect(to, ${webPort});
      await tell({ to, ...more, reason: failure ? failure.reason : null });
    };
    for (const to of ['${excluded}', '::ffff:${excluded}', '::ffff:a4d:5']) await attempt(to);
    await attempt(hostname, { redirected: true });
    await attempt('${outside}');
    const response = await net.askUdp('${excluded}', 53, Buffer.from('x'), { timeoutMs: 300 });
    await tell({ to: '${excluded}', udp: true, reason: response ? null : 'no response' });
  },
};
`;

const naming = `
export const Plugin = {
  name: 'named', version: '1.0.0', description: '', requires: ['open_ports'], provides: ['named.tried'],
  async execute({ net }) { await net.connect('excluded.example', ${webPort}).catch(() => {}); },
};
`;
