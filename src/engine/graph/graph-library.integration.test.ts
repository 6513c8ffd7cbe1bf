import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Registry, registerModules } from '../registry.ts';
import { GraphLibrary } from './graph-library.ts';
import { type InstalledFolders, installedFolders, tenantFolders } from './installed-files.ts';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const registry = new Registry();
let builtin: GraphLibrary;
beforeAll(async () => {
  await registerModules(registry, source('../../modules'));
  builtin = await GraphLibrary.load(source('../../../profiles'), 'builtin', registry);
});

let dir: string;
let folders: InstalledFolders;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-library-'));
  const below = (name: string) => [
    { source: 'user' as const, dir: join(dir, 'user', name) },
    { source: 'workspace' as const, dir: join(dir, 'workspace', name) },
  ];
  folders = { dags: below('dags'), profiles: below('profiles'), rules: [] };
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function put(file: string, text: string): Promise<string> {
  const path = join(dir, file);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

const graph = (name: string, module = 'icmp_discovery', description = '') =>
  `name: ${name}\ndescription: "${description}"\nnodes:\n  - { instance_id: a, module_type: ${module} }\n`;
const names = (library: GraphLibrary) => [
  library.list().flatMap((entry) => (entry.source === 'builtin' ? [] : [`${entry.source}:${entry.name}`])),
  library
    .profiles()
    .flatMap((entry) => (entry.source === 'builtin' ? [] : [`${entry.source}:${entry.name}`])),
];

describe('the graphs and profiles of a tenant', () => {
  it('lie in its folder, go before those of the service, and cannot take a builtin name', async () => {
    await put('workspace/dags/mine.yaml', graph('mine'));
    await put('workspace/dags/other.yaml', graph('other'));
    const service = await builtin.withInstalled(folders, registry);
    await put('tenants/acme/config/dags/mine.yaml', graph('mine', 'icmp_discovery', 'own'));
    await put('tenants/acme/config/dags/standard.yaml', graph('standard'));
    const library = await service.withInstalled(tenantFolders(dir, 'acme'), registry);
    expect(names(library)[0]?.toSorted()).toEqual(['tenant:mine', 'workspace:other']);
    expect(names(service)[0]?.toSorted()).toEqual(['workspace:mine', 'workspace:other']);
    expect(library.problems.map(({ source, message }) => [source, message.replaceAll(dir, '')])).toEqual([
      [
        'tenant',
        '/tenants/acme/config/dags/standard.yaml:1:1: name: "standard" is builtin; choose another name',
      ],
    ]);
  });
});

describe('one builtin profile', () => {
  const load = (name: string) =>
    GraphLibrary.loadProfile(source('../../../profiles'), 'builtin', registry, name);

  it('is what it is among all, and alone', async () => {
    const library = await load('quick');
    expect(library?.profile('quick')?.text).toBe(builtin.profile('quick')?.text);
    expect(library?.profile('quick')?.graph.nodes).toHaveLength(
      builtin.profile('quick')?.graph.nodes.length ?? 0,
    );
    expect(library?.profile('quick_discovery')?.name).toBe('quick');
    expect(library?.profiles()).toHaveLength(1);
  });

  it.each(['quick_discovery', 'vuln-scan', 'no-such', '', '../profiles/quick', 'quick.yaml'])(
    'is no file that is named otherwise: %s',
    async (name) => {
      const isProfile = builtin.profiles().some((entry) => entry.name === name);
      expect((await load(name)) === null).toBe(!isProfile);
    },
  );
});

describe('installed graphs and profiles', () => {
  it('are looked for in three places', () => {
    expect(installedFolders('/ws', { HOME: '/home/a' }).dags).toEqual([
      { source: 'system', dir: '/etc/portolan/dags' },
      { source: 'user', dir: '/home/a/.config/portolan/dags' },
      { source: 'workspace', dir: '/ws/config/dags' },
    ]);
    expect(installedFolders(null, { XDG_CONFIG_HOME: '/x' }).profiles.map((folder) => folder.dir)).toEqual([
      '/etc/portolan/profiles',
      '/x/portolan/profiles',
    ]);
  });

  it('come with the builtin ones; a later folder goes before an earlier one', async () => {
    await put('user/dags/mine.yaml', graph('mine', 'icmp_discovery', 'first'));
    await put(
      'workspace/dags/mine.json',
      '{"name":"mine","nodes":[{"id":"b","module":"tcp_probe_discovery"}]}',
    );
    await put('user/profiles/mine.yaml', 'dag: mine\nscanner: { rate: 5 }\n');
    const library = await builtin.withInstalled(folders, registry);
    expect(library.problems).toEqual([]);
    expect(names(library)).toEqual([['workspace:mine'], ['user:mine']]);
    expect(library.get('mine')?.graph.nodes[0]?.instanceId).toBe('b');
    expect(library.profile('mine')).toMatchObject({ dag: 'mine', settings: { rate: 5 } });
    expect(library.profileNames()).toContain('full_scan');
    expect(names(builtin)).toEqual([[], []]);
  });

  it('cannot take a builtin name, nor a name twice in one folder', async () => {
    await put('user/dags/a.yaml', graph('standard'));
    await put('user/dags/b.yaml', graph('full_scan'));
    await put('user/dags/c.yaml', graph('same'));
    await put('user/dags/d.yaml', graph('same'));
    await put('user/dags/e.yaml', graph('"No Name"'));
    await put('user/profiles/quick_discovery.yaml', 'scanner: { rate: 5 }');
    const library = await builtin.withInstalled(folders, registry);
    expect(names(library)).toEqual([['user:same'], []]);
    expect(library.get('standard')?.source).toBe('builtin');
    expect(library.problems.map(({ message }) => message.replaceAll(dir, ''))).toEqual([
      '/user/dags/a.yaml:1:1: name: "standard" is builtin; choose another name',
      '/user/dags/b.yaml:1:1: name: "full_scan" is builtin; choose another name',
      '/user/dags/d.yaml:1:1: name: c.yaml is "same" too',
      expect.stringMatching(/^\/user\/dags\/e.yaml:1:1: name: "No Name" must be/),
      '/user/profiles/quick_discovery.yaml:1:1: name: "quick_discovery" is builtin; choose another name',
    ]);
  });

  it('leave out what is no good, with its place, and keep the rest', async () => {
    await put('user/dags/bad.yaml', graph('bad', 'no_module'));
    await put('user/dags/cycle.yaml', 'nodes:\n  - {id: a, module: icmp_discovery, depends_on: [a]}\n');
    await put('user/dags/good.yaml', graph('good'));
    await put('user/dags/huge.yaml', `# ${'x'.repeat(1024 * 1024)}\n${graph('huge')}`);
    await put('user/dags/latin.yaml', '').then((file) => writeFile(file, Buffer.from([0xff, 0xfe, 0x00])));
    await put('user/dags/notes.txt', 'not read');
    await mkdir(join(dir, 'user/dags/folder.yaml'));
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(dir, 'user/dags/pipe.yaml')]);
    const library = await builtin.withInstalled(folders, registry);
    expect(names(library)).toEqual([['user:good'], []]);
    expect(library.problems.map(({ message }) => message.replaceAll(`${dir}/user/dags/`, ''))).toEqual([
      'bad.yaml:4:36: node "a", module_type: "no_module" is not a registered module',
      expect.stringMatching(/^cycle.yaml:2:\d+: node "a", depends_on: the dependencies form a cycle: a -> a/),
      'folder.yaml: not a regular file',
      'huge.yaml:1:1: the file is larger than 1 MiB',
      'latin.yaml: cannot be read: not UTF-8 text',
      'pipe.yaml: not a regular file',
    ]);
  });

  it('stay as they were when a file becomes bad, and go when it goes', async () => {
    const [dag, profile] = [
      await put('user/dags/mine.yaml', graph('mine')),
      await put('user/profiles/night.yaml', 'dag: mine\nscanner: { rate: 5 }\n'),
    ];
    const first = await builtin.withInstalled(folders, registry);
    await writeFile(profile, 'dag: mine\nscanner: { rate: none }\n');
    const second = await builtin.withInstalled(folders, registry, first);
    expect(second.profile('night')?.settings).toEqual({ rate: 5 });
    expect(second.problems[0]?.message).toMatch(/night.yaml:2:18: scanner.rate: .*\n.*stays in force/s);
    expect((await builtin.withInstalled(folders, registry)).profile('night')).toBeUndefined();
    await rm(dag);
    await rm(profile);
    expect(names(await builtin.withInstalled(folders, registry, second))).toEqual([[], []]);
  });

  it('reads a limited number of files of a folder and reports how many it skipped', async () => {
    for (let n = 100; n < 303; n++) await put(`user/dags/g${n}.yaml`, graph(`g${n}`));
    const library = await builtin.withInstalled(folders, registry);
    expect(names(library)[0]).toHaveLength(200);
    expect(library.problems[0]?.message).toMatch(/more than 200 files; 3 were skipped$/);
  });

  it('takes a profile of any file, but not under a builtin name', async () => {
    const { library, name } = await builtin.withProfile(
      await put('x/one.yaml', 'scanner: {rate: 7}'),
      registry,
    );
    expect([name, library.profile('one')?.source]).toEqual(['one', 'file']);
    const taken = await put('x/two.yaml', 'name: deep');
    await expect(builtin.withProfile(taken, registry)).rejects.toThrow(
      /two.yaml:1:1: name: "deep" is builtin/,
    );
    await expect(builtin.withProfile(join(dir, 'none.yaml'), registry)).rejects.toMatchObject({
      code: 'usage',
    });
  });
});
