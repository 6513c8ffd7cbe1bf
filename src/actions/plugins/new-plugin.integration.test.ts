import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeServers, listen } from '../../../test/module-trial.ts';
import { loadConfig } from '../../config/load.ts';
import { assemble } from '../../plugins/host/fixtures/assemble.ts';
import { License } from '../../workspace/license/read-license.ts';
import { evaluateSample } from './evaluate-sample.ts';
import { newPlugin } from './new-plugin.ts';
import { openPlugin } from './open-plugin.ts';
import { tryPlugin } from './try-plugin.ts';

let parent = '';
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'new-plugin-'));
});
afterAll(() => rm(parent, { recursive: true, force: true }));
afterEach(closeServers);

const create = (kind: string, name = `my-${kind}`) =>
  newPlugin(kind, name, { parent, builtin: ['tcp_scanner'] });

function attempt(folder: string, sample = join(folder, 'sample.json')) {
  const { config } = loadConfig({ env: { HOME: parent }, systemFile: join(parent, 'none.yaml'), flags: {} });
  return tryPlugin(folder, sample, { config, license: new License(false, null, null), builtin: [] });
}

const manifestOf = async (folder: string) => (await openPlugin(folder)).file;

describe('a new plugin', () => {
  it('as a script works at once', async () => {
    const folder = await create('script');
    expect(await manifestOf(folder)).toMatchObject({ name: 'my-script', version: '0.1.0', kind: 'script' });
    const { metadata, run } = await attempt(folder);
    expect(metadata.name).toBe('my_script');
    expect(run).toMatchObject({
      published: [{ key: 'vulnerabilities', item: { host: '192.0.2.10' } }],
      error: null,
    });
    const readme = await readFile(join(folder, 'README.md'), 'utf8');
    expect(readme).toContain('portolan plugin pack . -o ../my-script.tar.gz');
    expect(readme.split('\n').length).toBeLessThan(12);
  });

  it('as rules works at once', async () => {
    const folder = await create('rules');
    const trials = await evaluateSample(folder, join(folder, 'sample.json'));
    expect(trials).toMatchObject([{ rule: 'my-rules', fired: true }]);
  });

  it('in C works once it is compiled, and cannot be packed before', async () => {
    const folder = await create('native');
    await expect(manifestOf(folder)).rejects.toThrow(/"my_native.so" is not one of the files/);
    execFileSync('make', { cwd: folder, stdio: 'pipe' });
    const { metadata, run } = await attempt(folder);
    expect(metadata.name).toBe('my_native');
    expect(run).toMatchObject({ published: [{ key: 'vulnerabilities' }], error: null });
  });

  it('in WebAssembly works once it is assembled', async () => {
    const folder = await create('wasm');
    const bytes = await assemble(await readFile(join(folder, 'my_wasm.wat'), 'utf8'));
    await writeFile(join(folder, 'my_wasm.wasm'), bytes);
    const port = await listen((socket) => {
      socket.on('data', (request) => {
        socket.end(`HTTP/1.1 200 OK\r\nContent-Type: message/http\r\n\r\n${request}`);
      });
    });
    const sample = JSON.parse(await readFile(join(folder, 'sample.json'), 'utf8')) as {
      open_ports: object[];
    };
    sample.open_ports = sample.open_ports.map((each) => ({ ...each, port }));
    const file = join(parent, 'wasm-sample.json');
    await writeFile(file, JSON.stringify(sample));
    const { metadata, run } = await attempt(folder, file);
    expect(metadata.name).toBe('my_wasm');
    expect(run).toMatchObject({ published: [{ item: { port, plugin: 'my_wasm' } }], error: null });
  });

  it('over gRPC has the address, the program and the interface', async () => {
    const folder = await create('grpc', 'my-service');
    expect(await manifestOf(folder)).toMatchObject({ kind: 'grpc', entry: '127.0.0.1:50051' });
    expect(await readFile(join(folder, 'my_service.py'), 'utf8')).toContain('name = "my_service"');
    expect((await readdir(folder)).sort()).toEqual(
      [
        'README.md',
        'module.proto',
        'my_service.py',
        'plugin.yaml',
        'portolan_plugin.py',
        'sample.json',
      ].sort(),
    );
  });

  it('never replaces a folder, and has a good name and a known kind', async () => {
    await create('script', 'twice');
    await writeFile(join(parent, 'twice/plugin.yaml'), 'mine');
    await expect(create('rules', 'twice')).rejects.toMatchObject({ code: 'conflict' });
    expect(await readFile(join(parent, 'twice/plugin.yaml'), 'utf8')).toBe('mine');
    for (const name of ['../x', 'X', '-rf', '__proto__', 'a'.repeat(300)])
      await expect(create('script', name)).rejects.toMatchObject({ code: 'usage' });
    for (const name of ['tcp_scanner', 'tcp-scanner'])
      await expect(create('script', name)).rejects.toMatchObject({ code: 'configuration' });
    await expect(create('templates', 'some')).rejects.toMatchObject({ code: 'usage' });
    expect(existsSync(join(parent, 'some'))).toBe(false);
  });
});
