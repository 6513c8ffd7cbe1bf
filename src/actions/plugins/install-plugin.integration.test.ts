import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownPath, respondUnder } from '../../../test/own-path.ts';
import { loadConfig } from '../../config/load.ts';
import { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { Registry } from '../../engine/registry.ts';
import { sha256Of, writePackage } from '../../plugins/package-archive.ts';
import { PluginStore } from '../../plugins/plugin-store.ts';
import { PrivateFolder } from '../../plugins/private-folder.ts';
import { createSigningKeys, signFile } from '../../plugins/signature.ts';
import { License } from '../../workspace/license/read-license.ts';
import { installPlugin, rollBackPlugin, updatePlugin } from './install-plugin.ts';
import { listPlugins, removePlugin } from './list-plugins.ts';
import { loadPlugins } from './load-plugins.ts';

const keys = createSigningKeys();
let dir = '';
let server: Server;
let base = '';
let serve: RequestListener;
/** Served by path. */
let served: Map<string, Buffer | string>;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'plugins-'));
  served = new Map();
  serve = (request, response) => {
    const found = served.get(request.url ?? '');
    if (found === undefined) response.writeHead(404).end();
    else response.end(found);
  };
  const path = ownPath();
  const listener = respondUnder(path, (request, response) => serve(request, response));
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});

function contextOf(plugins: object = {}, license = new License(false, null, null)) {
  const file = join(dir, 'config.yaml');
  const { config } = loadConfig({
    env: { HOME: dir },
    systemFile: file,
    flags: {
      'plugins.dir': join(dir, 'plugins'),
      'plugins.trusted_publishers': [{ fingerprint: keys.fingerprint, name: 'Acme Ltd', bound: true }],
    },
  });
  const registry = new Registry();
  const catalog = async () => ({ registry, library: new GraphLibrary() });
  const rules = { ...config.plugins, ...plugins };
  return { config: { plugins: rules }, license, builtin: ['tcp_scanner'], catalog };
}

const metadata = {
  name: 'greeter',
  type: 'evaluation' as const,
  version: '1.0.0',
  description: 'Greets.',
  options: {},
  requires: [],
  provides: [],
};

function packed(version: string, name = 'hello', more = ''): Promise<Buffer> {
  const manifest = `name: ${name}\nversion: ${version}\nkind: script\nentry: lib/main.mjs\n${more}`;
  return writePackage(
    new Map([
      ['plugin.yaml', Buffer.from(manifest)],
      ['lib/main.mjs', Buffer.from(`throw new Error('${version} was run');\n`)],
    ]),
  );
}

const signed = (bytes: Uint8Array, key = keys.privateKey, expiresAt: Date | null = null) =>
  JSON.stringify(signFile(bytes, key, { publisher: 'Acme', expiresAt }));

async function fileOf(bytes: Buffer, signature: string | null = null): Promise<string> {
  const file = join(dir, 'some.tar.gz');
  await writeFile(file, bytes);
  await rm(`${file}.sig`, { force: true });
  if (signature !== null) await writeFile(`${file}.sig`, signature);
  return file;
}

const install = async (source: string, context = contextOf(), sha256: string | null = null, force = false) =>
  one(await installPlugin({ source, sha256, force }, context));

/** The only one of them. */
function one<T>(changes: T[]): T {
  expect(changes).toHaveLength(1);
  return changes[0] as T;
}

/** Everything below the folder of plugins but its lock and registry. */
async function left(): Promise<string[]> {
  const found = await readdir(join(dir, 'plugins'), { recursive: true }).catch(() => []);
  return found.filter((path) => path !== '.lock' && path !== 'registry.json').sort();
}

describe('installing from a file', () => {
  it('unpacks for the owner only, keeps the previous version and returns to it', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await install(await fileOf(await packed(version)));
    const registry = await stat(join(dir, 'plugins/registry.json'));
    expect(registry.mode & 0o777).toBe(0o600);
    expect(await readdir(join(dir, 'plugins/hello'))).toEqual(['1.1.0', '1.2.0']);
    const folder = await stat(join(dir, 'plugins/hello/1.2.0/lib'));
    expect(folder.mode & 0o777).toBe(0o700);
    expect(one(await rollBackPlugin('hello', contextOf())).current.version).toBe('1.1.0');
    const context = { ...contextOf(), describe: async () => metadata };
    expect(await listPlugins(context)).toMatchObject([
      {
        name: 'hello',
        kind: 'script',
        version: '1.1.0',
        loaded: true,
        error: null,
      },
    ]);
    await removePlugin('hello', context.config, { force: false });
    expect([await left(), await listPlugins(context)]).toEqual([[], []]);
  });

  it.each<[string, () => Promise<[Buffer, string | null]>, RegExp]>([
    ['unsigned', async () => [await packed('1.0.0'), null], /unsigned/],
    [
      'signed by another key',
      async () => {
        const bytes = await packed('1.0.0');
        return [bytes, signed(bytes, createSigningKeys().privateKey)];
      },
      /untrusted/,
    ],
    [
      'with the signature of other bytes',
      async () => [await packed('1.0.0'), signed(Buffer.from('x'))],
      /invalid/,
    ],
    [
      'with an expired signature',
      async () => {
        const bytes = await packed('1.0.0');
        return [bytes, signed(bytes, keys.privateKey, new Date(0))];
      },
      /expired/,
    ],
  ])('refuses a package that is %s where signatures are required', async (_what, make, reason) => {
    const file = await fileOf(...(await make()));
    await expect(install(file, contextOf({ require_signature: true }))).rejects.toMatchObject({
      code: 'permission',
      message: expect.stringMatching(reason),
    });
    expect(await left()).toEqual([]);
  });

  it('judges an installed plugin anew at each listing', async () => {
    const bytes = await packed('1.0.0');
    await install(await fileOf(bytes, signed(bytes)), contextOf({ require_signature: true }));
    const stateWith = async (plugins: object, license?: License) => {
      const context = contextOf({ require_signature: true, ...plugins }, license);
      const [row] = await listPlugins(context);
      return [row?.signature.state, row?.error];
    };
    expect((await stateWith({}))[0]).toBe('trusted');
    const revoked = await stateWith({ revoked_publishers: [keys.fingerprint] });
    expect(revoked).toEqual(['revoked', expect.stringContaining(keys.fingerprint)]);
    expect((await stateWith({}, new License(true, null, null)))[1]).toMatch(/license for plugin_signatures/);
    await appendFile(join(dir, 'plugins/hello/1.0.0/lib/main.mjs'), '//');
    expect((await stateWith({}))[1]).toMatch(/altered on disk: the file lib\/main.mjs/);
    await expect(
      install('x.tar.gz', contextOf({ require_signature: true }, new License(true, null, null))),
    ).rejects.toMatchObject({ code: 'license_required' });
  });

  it('refuses a builtin name, other content of the same version, and a wrong sum', async () => {
    await expect(install(await fileOf(await packed('1.0.0', 'tcp_scanner')))).rejects.toThrow(
      /builtin module/,
    );
    await expect(install(await fileOf(await packed('1.0.0')), contextOf(), '0'.repeat(64))).rejects.toThrow(
      /SHA-256/,
    );
    expect(await left()).toEqual([]);
    await install(await fileOf(await packed('1.0.0')));
    const other = await writePackage(
      new Map([
        ['plugin.yaml', Buffer.from('name: hello\nversion: 1.0.0\nkind: script\nentry: a.mjs\n')],
        ['a.mjs', Buffer.from('x')],
      ]),
    );
    await expect(install(await fileOf(other))).rejects.toMatchObject({ code: 'conflict' });
    expect((await install(await fileOf(other), contextOf(), null, true)).current.sha256).toBe(
      sha256Of(other),
    );
  });

  it('refuses rules under the name of a script, in whatever version, also with force', async () => {
    await install(await fileOf(await packed('1.0.0')));
    const rules = await writePackage(
      new Map([
        ['plugin.yaml', Buffer.from('name: hello\nversion: 2.0.0\nkind: rules\nentry: a.yaml\n')],
        ['a.yaml', Buffer.from('x')],
      ]),
    );
    await expect(install(await fileOf(rules), contextOf(), null, true)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/hello is installed and of kind script, this one is of kind rules/),
    });
    expect((await new PluginStore(join(dir, 'plugins')).get('hello')).current.version).toBe('1.0.0');
  });

  it('never writes or deletes outside its folder', async () => {
    const outside = join(dir, 'outside');
    await mkdir(join(outside, '1.0.0'), { recursive: true });
    await mkdir(join(dir, 'plugins/other-data'), { recursive: true });
    await symlink(outside, join(dir, 'plugins/hello'));
    await expect(install(await fileOf(await packed('2.0.0')))).rejects.toThrow(/not a folder/);
    expect(await readdir(outside)).toEqual(['1.0.0']);
    for (const name of ['../outside', '..', '-rf', '__proto__', 'a'.repeat(300)]) {
      await expect(removePlugin(name, contextOf().config, { force: false })).rejects.toMatchObject({
        code: 'usage',
      });
    }
    await expect(removePlugin('other-data', contextOf().config, { force: true })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect([existsSync(join(outside, '1.0.0')), existsSync(join(dir, 'plugins/other-data'))]).toEqual([
      true,
      true,
    ]);
  });
});

describe('requirements', () => {
  const requiring = async (name: string, ...others: string[]) =>
    fileOf(await packed('1.0.0', name, `requires: [${others.join(', ')}]\n`));

  it('that are missing are named with the command that installs them', async () => {
    const file = await requiring('child', 'parent', 'uncle');
    await expect(install(file)).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(
        /requires parent, uncle, .*portolan plugin install parent; portolan plugin install uncle$/,
      ),
    });
    expect(await left()).toEqual([]);
    expect((await install(file, contextOf(), null, true)).name).toBe('child');
  });

  it('stay installed as long as another plugin requires them, unless forced', async () => {
    await install(await fileOf(await packed('1.0.0', 'parent')));
    await install(await requiring('child', 'parent'));
    const { config } = contextOf();
    await expect(removePlugin('parent', config, { force: false })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('child requires parent'),
    });
    await removePlugin('child', config, { force: false });
    await removePlugin('parent', config, { force: false });
    await install(await fileOf(await packed('1.0.0', 'parent')));
    await install(await requiring('child', 'parent'));
    await removePlugin('parent', config, { force: true });
    expect((await left()).filter((path) => !path.includes('/'))).toEqual(['child']);
  });
});

describe('installing a bare file', () => {
  const code = 'export const Plugin = {};\n';
  const bare = async (name: string, signature: string | null = null, content = code) => {
    const file = join(dir, name);
    await writeFile(file, content);
    if (signature !== null) await writeFile(`${file}.sig`, signature);
    return file;
  };
  const wrapped = (source: string, wrap: object, context = contextOf()) =>
    installPlugin(
      {
        source,
        sha256: null,
        force: false,
        wrap: { name: null, version: null, permissions: [], stage: null, ...wrap },
      },
      context,
    );
  const manifestOf = async (name: string, version = '0.1.0') => {
    const store = new PluginStore(join(dir, 'plugins'));
    const { current } = await store.get(name);
    expect(current.version).toBe(version);
    return (await store.load(name, current)).package.manifest;
  };

  it('makes a package of it: name of the file, version 0.1.0, no permissions', async () => {
    await install(await bare('My Check.mjs'));
    expect(await manifestOf('my-check')).toMatchObject({
      kind: 'script',
      permissions: [],
      entry: 'my-check.mjs',
    });
  });

  it('gives it the version and the stage that its text states; what is given counts instead', async () => {
    const text = "export const Plugin = { name: 'x', version: '2.3.4', stage: 'parser' };\n";
    await install(await bare('said.mjs', null, text));
    expect(await manifestOf('said', '2.3.4')).toMatchObject({ stage: 'parser' });
    await wrapped(await bare('given.mjs', null, text), { version: '3.0.0', stage: 'evaluation' });
    expect(await manifestOf('given', '3.0.0')).toMatchObject({ stage: 'evaluation' });
  });

  it.each([
    ['a.so', 'native'],
    ['a.node', 'script'],
    ['a.mts', 'script'],
    ['a.wasm', 'wasm'],
    ['a.yaml', 'rules'],
  ])('takes the kind of %s from its extension', async (file, kind) => {
    await wrapped(await bare(file), { name: 'given-name', version: '2.0.0', permissions: ['network'] });
    expect(await manifestOf('given-name', '2.0.0')).toMatchObject({ kind, permissions: ['network'] });
  });

  it('refuses names, versions, permissions and extensions that no package has, and options for a package', async () => {
    const file = await bare('check.mjs');
    for (const wrap of [
      { name: '../x' },
      { name: 'tcp_scanner' },
      { version: '1' },
      { permissions: ['files'] },
    ])
      await expect(wrapped(file, wrap)).rejects.toMatchObject({ code: 'configuration' });
    await expect(install(await bare('x.mjs'))).rejects.toThrow(/"x" is not a plugin name/);
    await expect(install(await bare('check.exe'))).rejects.toThrow(/must end in one of/);
    await expect(wrapped(await fileOf(await packed('1.0.0')), { name: 'other' })).rejects.toThrow(
      /bare files/,
    );
    expect(await left()).toEqual([]);
  });

  it('counts its signature as long as it is granted nothing', async () => {
    const context = contextOf({ require_signature: true });
    const file = await bare('check.mjs', signed(Buffer.from(code)));
    expect((await install(file, context)).signature).toMatchObject({
      state: 'trusted',
      publisher: 'Acme Ltd',
    });
    const { listed } = await loadPlugins([], {
      ...context,
      folder: new PrivateFolder(),
      describe: async () => metadata,
    });
    expect(listed).toMatchObject([{ name: 'check', loaded: true, signature: { state: 'trusted' } }]);
    await expect(wrapped(file, { name: 'more', permissions: ['network'] }, context)).rejects.toThrow(
      /invalid/,
    );
    const other = await bare('other.mjs', signed(Buffer.from(code)), `${code}//`);
    await expect(install(other, context)).rejects.toThrow(/signature invalid/);
  });
});

describe('installing from a URL', () => {
  it('needs https and the sum', async () => {
    const bytes = await packed('1.0.0');
    served.set('/p.tar.gz', bytes);
    await expect(install(`${base}/p.tar.gz`)).rejects.toThrow(/--sha256/);
    for (const url of ['http://192.0.2.1/p.tar.gz', 'file:///etc/passwd', 'ftp://192.0.2.1/p']) {
      await expect(install(url, contextOf(), sha256Of(bytes))).rejects.toThrow(/must be https/);
    }
    await expect(install(`${base}/p.tar.gz`, contextOf(), 'ab'.repeat(32))).rejects.toThrow(/its SHA-256 is/);
    expect(await left()).toEqual([]);
    expect((await install(`${base}/p.tar.gz`, contextOf(), sha256Of(bytes))).signature.state).toBe(
      'unsigned',
    );
  });

  it.each(['file:///etc/passwd', 'http://127.0.0.1:1/x', 'https://10.0.0.1/x', 'http://[::1]:1/x'])(
    'follows no redirect to %s',
    async (location) => {
      serve = (_request, response) => response.writeHead(302, { location }).end();
      await expect(install(`${base}/p.tar.gz`, contextOf(), 'ab'.repeat(32))).rejects.toThrow(/not followed/);
      expect(await left()).toEqual([]);
    },
  );

  it('stops at the size cap, also of a server that never ends', async () => {
    let sent = 0;
    serve = (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024))) sent++;
      };
      response.on('drain', more);
      more();
    };
    await expect(install(`${base}/p.tar.gz`, contextOf(), 'ab'.repeat(32))).rejects.toThrow(/larger than/);
    expect(sent).toBeLessThan(200);
    expect(await left()).toEqual([]);
  });
});

describe('the index', () => {
  const publish = async (
    version: number,
    plugin: Buffer,
    { end = '2999-01-01T00:00:00Z', key = keys.privateKey } = {},
  ) => {
    served.set('/hello.tar.gz', plugin);
    const entry = {
      id: 'hello',
      name: 'hello',
      version: '1',
      url: `${base}/hello.tar.gz`,
      checksum: `sha256:${sha256Of(plugin)}`,
    };
    const index = JSON.stringify({ version, expires_at: end, plugins: [entry] });
    served.set('/index.json', index);
    served.set('/index.json.sig', signed(Buffer.from(index), key));
  };
  const context = () => contextOf({ manifest_url: `${base}/index.json` });
  const flags = { sha256: null, force: false };

  it('installs and updates by name', async () => {
    await publish(1, await packed('1.0.0'));
    expect((await install('hello', context())).current.version).toBe('1.0.0');
    await publish(2, await packed('1.1.0'));
    expect(one(await updatePlugin('hello', flags, context())).current.version).toBe('1.1.0');
    await expect(install('absent', context())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('installs all plugins of a category, or none', async () => {
    const plugins = await Promise.all(['ssh-one', 'ssh-two'].map((name) => packed('1.0.0', name)));
    const publishAll = (contents: Buffer[], version: number) => {
      const entries = contents.map((bytes, at) => {
        served.set(`/${version}/${at}.tar.gz`, bytes);
        const url = `${base}/${version}/${at}.tar.gz`;
        const checksum = `sha256:${sha256Of(bytes)}`;
        return {
          id: `ssh-${['one', 'two'][at]}`,
          name: `SSH ${at}`,
          version: '1',
          category: 'ssh',
          url,
          checksum,
        };
      });
      const index = JSON.stringify({ version, expires_at: '2999-01-01T00:00:00Z', plugins: entries });
      served.set('/index.json', index);
      served.set('/index.json.sig', signed(Buffer.from(index)));
    };
    const source = { source: 'ssh', ...flags };
    publishAll([plugins[0] as Buffer, await packed('1.0.0', 'tcp_scanner')], 1);
    await expect(installPlugin(source, context())).rejects.toThrow(/builtin/);
    expect(await left()).toEqual([]);
    publishAll(plugins, 2);
    const installed = await installPlugin(source, context());
    expect(installed.map(({ name }) => name)).toEqual(['ssh-one', 'ssh-two']);
    await expect(installPlugin({ ...source, sha256: '0'.repeat(64) }, context())).rejects.toThrow(/category/);
    await expect(install('tls', context())).rejects.toThrow(
      /no plugin or category "tls"; its categories: ssh/,
    );
    expect((await install('ssh-two', context())).name).toBe('ssh-two');
    // An update never becomes the installation of a category.
    await install(await fileOf(await packed('1.0.0', 'ssh')));
    await expect(updatePlugin('ssh', flags, context())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('refuses rollback, freezing, other signers and other content', async () => {
    await publish(5, await packed('1.0.0'));
    await install('hello', context());
    const refused = (reason: RegExp) =>
      expect(updatePlugin('hello', flags, context())).rejects.toThrow(reason);
    await publish(4, await packed('0.9.0'));
    await refused(/version 4, but 5 was seen/);
    await publish(6, await packed('1.1.0'), { end: '2020-01-01T00:00:00Z' });
    await refused(/expired/);
    await publish(6, await packed('1.1.0'), { key: createSigningKeys().privateKey });
    await refused(/untrusted/);
    await publish(6, await packed('1.1.0'));
    served.set('/hello.tar.gz', await packed('1.2.0'));
    await refused(/its SHA-256 is/);
    await publish(7, await packed('1.1.0', 'another'));
    await refused(/it is "another", not "hello"/);
    served.delete('/index.json.sig');
    await refused(/404/);
    expect(await readdir(join(dir, 'plugins/hello'))).toEqual(['1.0.0']);
  });
});
