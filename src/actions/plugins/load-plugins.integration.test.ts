import { appendFile, cp, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { writePackage } from '../../plugins/package-archive.ts';
import type { PluginFile } from '../../plugins/plugin.ts';
import { pluginOfFile } from '../../plugins/plugin-bytes.ts';
import { PrivateFolder, verifyPlaced } from '../../plugins/private-folder.ts';
import { createSigningKeys, signFile } from '../../plugins/signature.ts';
import { License } from '../../workspace/license/read-license.ts';
import { installPlugin } from './install-plugin.ts';
import { loadPlugins } from './load-plugins.ts';

const keys = createSigningKeys();
const license = new License(false, null, null);
let dir = '';
let folder: PrivateFolder;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'load-plugins-'));
  folder = new PrivateFolder(dir);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function configOf(plugins: object = {}) {
  const { config } = loadConfig({
    env: { HOME: dir },
    systemFile: join(dir, 'none.yaml'),
    flags: {
      'plugins.dir': join(dir, 'plugins'),
      'plugins.trusted_publishers': [{ fingerprint: keys.fingerprint, name: 'Acme Ltd' }],
    },
  });
  return { plugins: { ...config.plugins, ...plugins } };
}

/** Says what the text of the entry says. */
async function describeText(file: PluginFile) {
  const text = await readFile(join(file.folder, file.entry), 'utf8');
  const name = /module (\w+)/.exec(text)?.[1] ?? 'none';
  return {
    name,
    type: 'evaluation' as const,
    version: '3.2.1',
    description: '',
    options: {},
    requires: [],
    provides: [],
  };
}

const load = (files: string[] = [], plugins: object = {}, builtin = ['tcp_scanner']) =>
  loadPlugins(files, { config: configOf(plugins), license, builtin, folder, describe: describeText });

async function install(name: string, more = '', sign: { expiresAt: Date | null } | null = null) {
  const bytes = await writePackage(
    new Map([
      ['plugin.yaml', Buffer.from(`name: ${name}\nversion: 1.0.0\nkind: script\nentry: main.mjs\n${more}`)],
      ['main.mjs', Buffer.from(`// module ${name.replaceAll('-', '_')}\n`)],
    ]),
  );
  const file = join(dir, `${name}.tar.gz`);
  await writeFile(file, bytes);
  if (sign) {
    const signature = signFile(bytes, keys.privateKey, { publisher: 'Acme', expiresAt: sign.expiresAt });
    await writeFile(`${file}.sig`, JSON.stringify(signature));
  }
  await installPlugin(
    { source: file, sha256: null, force: true },
    { config: configOf(), license, builtin: [] },
  );
  return join(dir, 'plugins', name, '1.0.0');
}

const errorsOf = async (loading = load()) =>
  Object.fromEntries((await loading).listed.map(({ name, error }) => [name, error]));

describe('installed plugins', () => {
  it('are loaded from copies for the owner only, whatever happens to the installed files then', async () => {
    const installed = await install('hello');
    const { listed, plugins } = await load();
    expect(listed).toMatchObject([{ name: 'hello', loaded: true, error: null, version: '1.0.0' }]);
    const file = plugins[0]?.file as PluginFile;
    expect((await stat(dirname(dirname(file.folder)))).mode & 0o777).toBe(0o700);
    await writeFile(join(installed, 'main.mjs'), 'altered');
    expect(await readFile(join(file.folder, 'main.mjs'), 'utf8')).toBe('// module hello\n');
    await expect(verifyPlaced(file)).resolves.toBeUndefined();
    await folder.remove();
    expect((await readdir(dir)).filter((name) => name.startsWith('portolan-plugins-'))).toEqual([]);
  });

  it.each<[string, (installed: string) => Promise<unknown>]>([
    ['with one byte flipped', (at) => flipByte(join(at, 'main.mjs'))],
    ['whose package has one byte flipped', (at) => flipByte(join(at, '.package.tar.gz'))],
    ['whose file is a link to a copy of it', (at) => replaceByLink(join(at, 'main.mjs'))],
    ['whose file is gone', (at) => rm(join(at, 'main.mjs'))],
    ['with one more file', (at) => writeFile(join(at, 'more.mjs'), '')],
    ['that are gone', (at) => rm(at, { recursive: true })],
  ])('%s are refused, and the others are loaded', async (_what, alter) => {
    await install('hello');
    await install('other');
    await alter(join(dir, 'plugins/hello/1.0.0'));
    const errors = await errorsOf();
    expect(errors['hello']).toMatch(/altered on disk/);
    expect(errors['other']).toBeNull();
  });

  it('have one version, that of their package, and its stage; the configuration switches them off', async () => {
    await install('hello', 'stage: parser\n');
    const { listed, plugins } = await load([], { disabled: ['hello'] });
    expect(listed).toMatchObject([{ version: '1.0.0', stage: 'parser', disabled: true, loaded: true }]);
    expect(plugins).toMatchObject([
      { off: true, metadata: { version: '1.0.0' }, file: { version: '1.0.0', stage: 'parser' } },
    ]);
  });

  it('are refused once their signature expires or its publisher is revoked', async () => {
    await install('signed', '', { expiresAt: null });
    await install('bare');
    const required = { require_signature: true };
    expect(await errorsOf(load([], required))).toEqual({
      signed: null,
      bare: expect.stringContaining('unsigned'),
    });
    const [trusted] = (await load([], required)).plugins;
    expect(await folder.find(trusted?.file as PluginFile)).not.toBeNull();
    const revoked = await errorsOf(load([], { ...required, revoked_publishers: [keys.fingerprint] }));
    expect(revoked['signed']).toMatch(new RegExp(`revoked.*${keys.fingerprint}`));
    expect(await folder.find(trusted?.file as PluginFile)).toBeNull();
    const untrusted = await errorsOf(load([], { ...required, trusted_publishers: [] }));
    expect(untrusted['signed']).toMatch(/untrusted/);
    await install('old', '', { expiresAt: new Date(Date.now() + 60_000) });
    expect((await errorsOf(load([], required)))['old']).toBeNull();
  });

  it('are refused with the path of requirements that are missing or form a cycle', async () => {
    await install('aaa', 'requires: [bbb]\n');
    await install('bbb', 'requires: [aaa]\n');
    await install('ccc', 'requires: [gone]\n');
    await install('ddd', 'requires: [eee]\n');
    await install('eee');
    const { plugins } = await load();
    expect(plugins.map(({ file }) => file.name)).toEqual(['eee', 'ddd']);
    expect(await errorsOf()).toMatchObject({
      aaa: expect.stringContaining('aaa -> bbb -> aaa'),
      ccc: expect.stringContaining('ccc -> gone'),
      ddd: null,
    });
  });
});

describe('files', () => {
  it('take part as they are, with the version that they say', async () => {
    const path = join(dir, 'My Probe.mjs');
    await writeFile(path, '// module my_probe\n');
    const { plugins } = await load([path]);
    expect(plugins).toMatchObject([
      {
        added: true,
        metadata: { name: 'my_probe' },
        file: { name: 'my-probe', version: '3.2.1', permissions: [] },
      },
    ]);
  });

  it('need the signature beside them where signatures are required', async () => {
    const path = join(dir, 'probe.mjs');
    const bytes = Buffer.from('// module probe\n');
    await writeFile(path, bytes);
    const required = { require_signature: true };
    expect((await errorsOf(load([path], required)))['probe']).toMatch(/unsigned/);
    const signature = signFile(bytes, keys.privateKey, { publisher: 'Acme', expiresAt: null });
    await writeFile(`${path}.sig`, JSON.stringify(signature));
    expect((await errorsOf(load([path], required)))['probe']).toBeNull();
    await appendFile(path, '//');
    expect((await errorsOf(load([path])))['probe']).toMatch(/signature invalid/);
  });

  it('cannot take a name that is taken, of a plugin or of a module', async () => {
    await install('hello');
    const [same, builtin, shadow, twice] = ['hello.yaml', 'tcp_scanner.mjs', 'shadow.mjs', 'twice.mjs'].map(
      (name) => join(dir, name),
    ) as [string, string, string, string];
    await writeFile(same, 'id: fresh');
    await writeFile(builtin, '// module fresh');
    await writeFile(shadow, '// module tcp_scanner');
    await writeFile(twice, '// module hello');
    const { listed } = await load([same, builtin, shadow, twice]);
    const reasons = listed.slice(1).map(({ error }) => error);
    expect(reasons).toEqual([
      expect.stringContaining(`another plugin (rules ${same}, script ${join(dir, 'plugins/hello/1.0.0')})`),
      expect.stringContaining('the name of a builtin module'),
      expect.stringContaining('has the name of a builtin one'),
      expect.stringContaining(`(${twice}) is also that of hello (${join(dir, 'plugins/hello/1.0.0')})`),
    ]);
  });

  it('take the place of the installed plugin of their name', async () => {
    await install('hello-there');
    const path = join(dir, 'hello_there.mjs');
    await writeFile(path, '// module hello_there');
    const { listed, plugins } = await load([path]);
    expect(listed).toMatchObject([{ name: 'hello_there', loaded: true, source: `file ${path}` }]);
    expect(plugins).toMatchObject([{ added: true, off: false }]);
  });

  it('of an unknown kind, missing or a folder are refused', async () => {
    await writeFile(join(dir, 'probe.exe'), 'MZ');
    const { listed } = await load([join(dir, 'probe.exe'), join(dir, 'gone.mjs'), dir]);
    expect(listed.map(({ error }) => error)).toEqual([
      expect.stringContaining('its name must end in one of'),
      expect.stringContaining('no such file'),
      expect.stringContaining('is not a file'),
    ]);
  });
});

describe('the private folder', () => {
  const placed = async () => {
    const bytes = Buffer.from('// module probe\n');
    return folder.place(await pluginOfFile('probe.mjs', { archive: bytes, signature: null }));
  };

  it('is checked again by who loads from it', async () => {
    const file = await placed();
    await verifyPlaced(file);
    await flipByte(join(file.folder, 'probe.mjs'));
    await expect(verifyPlaced(file)).rejects.toThrow(/altered after it was loaded/);
  });

  it('of a process that is gone is removed by the next one, that of a running one is kept', async () => {
    await placed();
    const [own] = (await readdir(dir)).filter((name) => name.startsWith('portolan-plugins-'));
    const owner = JSON.parse(await readFile(join(dir, own as string, 'owner.json'), 'utf8')) as object;
    const gone = join(dir, 'portolan-plugins-gone');
    await cp(join(dir, own as string), gone, { recursive: true });
    await writeFile(join(gone, 'owner.json'), JSON.stringify({ ...owner, start_ticks: '1' }));
    await symlink(join(dir, own as string), join(dir, 'portolan-plugins-link'));
    const other = new PrivateFolder(dir);
    await other.place(await pluginOfFile('other.mjs', { archive: Buffer.from('x'), signature: null }));
    const names = await readdir(dir);
    expect(names).toContain(own);
    expect(names).not.toContain('portolan-plugins-gone');
  });
});

async function flipByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[3] = (bytes[3] as number) ^ 1;
  await writeFile(path, bytes);
}

async function replaceByLink(path: string): Promise<void> {
  await cp(path, `${dir}/copy.mjs`);
  await rm(path);
  await symlink(`${dir}/copy.mjs`, path);
}
