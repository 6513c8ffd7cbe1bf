import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeServers, listen } from '../../../test/module-trial.ts';
import { loadConfig } from '../../config/load.ts';
import { assemble } from '../../plugins/host/fixtures/assemble.ts';
import { License } from '../../workspace/license/read-license.ts';
import { tryPlugin } from './try-plugin.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'try-plugin-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));
afterEach(closeServers);

const script = (execute: string, more = '') =>
  `export const Plugin = { name: 'trial_check', version: '1.2.3', description: 'Tries.', requires: ['banners'], ` +
  `provides: ['vulnerabilities', 'my.notes'], ${more} async execute(context, data) { ${execute} } };\n`;
const finding = "{ id: 'x', host: banner.host, port: banner.port, title: 'X', severity: 'low' }";
const sample = { banners: [{ host: '192.0.2.7', port: 22, protocol: 'tcp', banner: 'SSH-2.0-x' }] };

async function fileOf(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(dir, name);
  await writeFile(file, content);
  return file;
}

async function attempt(source: string, items: object | null, builtin: string[] = [], plugins: object = {}) {
  const { config } = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml'), flags: {} });
  const context = {
    config: { scanner: config.scanner, plugins: { ...config.plugins, ...plugins } },
    license: new License(false, null, null),
    builtin,
  };
  const given = items && (await fileOf('sample.json', JSON.stringify(items)));
  return tryPlugin(source, given, context);
}

describe('a plugin that is tried', () => {
  it('says what it is, and publishes what a scan would take from it', async () => {
    const publish = `for await (const banner of data.stream('banners')) await data.append('vulnerabilities', ${finding});`;
    const file = await fileOf('check.mjs', script(`${publish} context.log.info('done');`));
    expect(await attempt(file, null)).toMatchObject({
      file: { kind: 'script', permissions: [] },
      metadata: { name: 'trial_check', version: '1.2.3', requires: ['banners'] },
      run: null,
    });
    const { run } = await attempt(file, sample);
    expect(run).toMatchObject({
      published: [
        { key: 'vulnerabilities', item: { id: 'x', host: '192.0.2.7', severity: 'low', kev: false } },
      ],
      warnings: [],
      log: ['info: done'],
      error: null,
    });
  });

  it.each([
    ['of a wrong type', "await data.append('vulnerabilities', { id: 7 });", /vulnerabilities/],
    ['of a key that it does not declare', "await data.append('banners', {});", /banners/],
    ['that it throws instead of', "throw new Error('out of order');", /out of order/],
  ])('fails with items %s', async (_what, code, reason) => {
    const { run } = await attempt(await fileOf('bad.mjs', script(code)), sample);
    expect(run).toMatchObject({ published: [], warnings: [], error: expect.stringMatching(reason) });
  });

  it('that does not start is given up once, with the reason', async () => {
    const { limits } = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml'), flags: {} })
      .config.plugins;
    const short = { limits: { ...limits, timeout: 1000 } };
    const late = (code: string) => `it did not start within 1s (plugins.limits.timeout): ${code} did not end`;
    const wasm = await assemble(`(module (memory (export "memory") 1)
      (func $loop (loop $again (br $again))) (start $loop)
      (func (export "execute") (param i32) (result i32) (i32.const 0)))`);
    await expect(attempt(await fileOf('loop.wasm', wasm), sample, [], short)).rejects.toThrow(
      `plugin loop: ${late('its start function, _initialize and metadata')}`,
    );
    const loop = script('', 'initialize() { console.log(`host ${process.pid}`); while (true); },');
    const { run } = await attempt(await fileOf('loop.mjs', loop), sample, [], short);
    expect(run?.error).toBe(late('its initialize'));
    expect(JSON.stringify(run).match(/did not start|host \d+/g)).toHaveLength(2);
  });

  it('may send to targets of the sample only', async () => {
    const port = await listen((socket) => socket.end('hello'));
    await mkdir(join(dir, 'net'), { recursive: true });
    const manifest =
      'name: net-check\nversion: 1.0.0\nkind: script\nentry: main.mjs\npermissions: [network]\n';
    await writeFile(join(dir, 'net/plugin.yaml'), manifest);
    const connect = `const result = await context.net.connect('127.0.0.1', ${port});
      if (result.connection) await data.append('my.notes', String((await result.connection.read()).bytes));`;
    await writeFile(join(dir, 'net/main.mjs'), script(connect));
    const banners = [{ host: '127.0.0.1', port, banner: 'x' }];
    const open = await attempt(join(dir, 'net'), { banners, targets: ['127.0.0.1'] });
    expect(open.run).toMatchObject({ published: [{ key: 'my.notes', item: 'hello' }], error: null });
    const closed = await attempt(join(dir, 'net'), { banners });
    expect(closed.run?.published).toEqual([]);
  });

  it('is refused without its input, with a builtin name, or without a required signature', async () => {
    const file = await fileOf('check.mjs', script(''));
    await expect(attempt(file, { open_ports: [] })).rejects.toThrow(/requires banners/);
    await expect(attempt(file, null, ['trial_check'])).rejects.toThrow(/builtin/);
    await expect(attempt(file, null, [], { require_signature: true })).rejects.toMatchObject({
      code: 'permission',
    });
    await expect(attempt(await fileOf('empty.mjs', ''), null)).rejects.toThrow(/does not export Plugin/);
  });
});
