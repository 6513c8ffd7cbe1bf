import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { compilePlugin, pluginFolder } from '../../../test/c-plugin.ts';
import { isInstalled } from '../../../test/installed.ts';
import { loopbackGate } from '../../../test/module-trial.ts';
import { removePlugins, runPlugin, trialLimits, writePlugin } from '../fixtures/plugin-trial.ts';
import { describePlugin } from '../plugin-module.ts';

const root = resolve(import.meta.dirname, '../../..');
const fixtures = join(root, 'src/plugins/host/native/fixtures');
const created = '/tmp/portolan-hostile';
const hasCompiler = isInstalled('gcc');
const folder = pluginFolder();
const environment = { net: loopbackGate(['127.0.0.9']) };

afterEach(removePlugins);
afterAll(() => rmSync(folder, { recursive: true }));

function banner(port: number, text: string): object {
  const exchange = { sent: '', received: text };
  return {
    host: '127.0.0.9',
    port,
    protocol: 'tcp',
    banner: text,
    probe: 'null',
    truncated: false,
    partial: false,
    exchange,
  };
}

describe.skipIf(!hasCompiler)('a native plugin in the sandbox', () => {
  const compiled = (source: string) =>
    hasCompiler ? readFileSync(compilePlugin(folder, source)) : Buffer.alloc(0);
  const example = compiled(join(root, 'sdk/c/example/ssh_age.c'));
  const hostile = compiled(join(fixtures, 'hostile.c'));
  const trial = compiled(join(fixtures, 'trial.c'));

  const plugin = (bytes: Buffer) => writePlugin('plugin.so', bytes, 'native');
  const attempt = (mode: string, limits = {}) =>
    runPlugin(plugin(hostile), { inputs: { banners: [] }, settings: `config: {mode: ${mode}}`, limits });

  it('says which module it adds', async () => {
    expect(await describePlugin(plugin(example), trialLimits)).toMatchObject({
      name: 'ssh_age',
      type: 'evaluation',
      options: { oldest_openssh: { Type: 'string', Default: '8.4' } },
      requires: ['banners'],
      provides: ['vulnerabilities'],
    });
  });

  it('is rejected with the reason if it cannot be loaded', async () => {
    const described = describePlugin(plugin(Buffer.from('#!/bin/sh\n')), trialLimits);
    await expect(described).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('not a shared object: it has no ELF header'),
    });
  });

  it('reports what it finds: the example', async () => {
    const banners = [
      banner(22, 'SSH-2.0-OpenSSH_7.2p2 Ubuntu-4 "quoted"\r\n'),
      banner(2222, 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n'),
      banner(2223, 'SSH-1.99-Cisco-1.25\n'),
      banner(80, 'HTTP/1.1 200 OK\r\nX: SSH-2.0-OpenSSH_4.3\r\n'),
      banner(2224, 'SSH-2.0-OpenSSH_8.4p1'),
    ];
    const { published, error } = await runPlugin(plugin(example), { inputs: { banners }, environment });
    expect(error).toBeNull();
    expect(published).toMatchObject([
      ['vulnerabilities', { port: 22, id: 'ssh-age-openssh', evidence: 'SSH-2.0-OpenSSH_7.2p2 Ubuntu-4 ' }],
      ['vulnerabilities', { port: 2223, id: 'ssh-age-protocol-1', evidence: 'SSH-1.99-Cisco-1.25' }],
    ]);
    const settings = 'config: {oldest_openssh: "9.3"}';
    const strict = await runPlugin(plugin(example), { inputs: { banners }, settings, environment });
    expect(strict.published.map(([, item]) => (item as { port: number }).port)).toEqual([
      22, 2222, 2223, 2224,
    ]);
  });

  it('rejects an option with its own text', async () => {
    const settings = 'config: {oldest_openssh: newest}';
    const { error } = await runPlugin(plugin(example), { inputs: { banners: [] }, settings });
    expect(error).toContain('oldest_openssh is no version such as 8.4');
  });

  it('reads a complete value as often as it likes', async () => {
    const banners = Array.from({ length: 300 }, (_, index) => banner(index + 1, 'hello'));
    const settings = 'config: {mode: twice}';
    const { error } = await runPlugin(plugin(trial), { inputs: { banners }, settings, environment });
    expect(error).toContain('twice');
  });

  it('may neither leave its process nor read or write files', async () => {
    const { error } = await attempt('denials');
    const [permission, access, memory] = [1, 13, 12];
    const expected = {
      fork: permission,
      vfork: permission,
      socket: permission,
      unix: permission,
      io_uring: permission,
      execve: permission,
      ptrace: permission,
      kill: permission,
      create: access,
      parent: access,
      passwd: access,
      malloc: memory,
    };
    const given = [...(error ?? '').matchAll(/(\w+)=(\d+) /g)].map(([, name, errno]) => [
      name,
      Number(errno),
    ]);
    expect(Object.fromEntries(given)).toEqual(expected);
    expect(existsSync(created)).toBe(false);
  });

  it.each<[string, string | RegExp, object?]>([
    ['crash', /ended by SIGSEGV/],
    ['abort', /ended by SIGABRT/],
    ['exit', /exited with code 3/],
    ['loop', /ran longer than 3 ?s/, { timeout: 3000 }],
    // V8 reports the limit where it gets no memory; C code crashes there.
    ['grow', /memory limit of 128 MiB|ended by SIGSEGV/],
    ['threads', /had more than 256 threads \(plugins\.limits\.threads\)/],
    ['pipe_garbage', /frame of \d+ bytes, above the limit/],
    ['outside', /discovered_hosts/],
    ['wrong_type', /item 0 of "vulnerabilities" has/],
    ['garbage', 'append("vulnerabilities"): not valid JSON: Unexpected end of JSON input'],
    ['escape', /^[^\u001b\u0007]*\[2Jgone[^\u001b\u0007]*$/],
  ])('that tries %s fails with its cause', async (mode, cause, limits) => {
    const { error, published } = await attempt(mode, limits);
    expect(error).toEqual(
      typeof cause === 'string' ? expect.stringContaining(cause) : expect.stringMatching(cause),
    );
    expect(published).toEqual([]);
  });

  it('prints to standard output without disturbing the pipe', async () => {
    expect((await attempt('prints')).error).toBeNull();
  });
});

/** Headers of Node-API; `npm ci` installs them with Node.js. */
const headers = join(root, `node_modules/node-linux-${process.arch}/include/node`);

describe.skipIf(!hasCompiler || !isInstalled(join(headers, 'node_api.h')))('an addon for Node.js', () => {
  it('is loaded as a script', async () => {
    const source = join(fixtures, 'addon.c');
    const addon = readFileSync(compilePlugin(folder, source, 'addon', [`-I${headers}`]));
    const banners = [1, 2, 3, 4].map((port) => banner(port, 'hello'));
    const { published, error } = await runPlugin(writePlugin('even.node', addon), { inputs: { banners } });
    expect(error).toBeNull();
    expect(published).toEqual([
      ['even_ports.found', { port: 2 }],
      ['even_ports.found', { port: 4 }],
    ]);
  });
});
