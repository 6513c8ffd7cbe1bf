import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen, loopbackGate } from '../../../test/module-trial.ts';
import { childCount, removePlugins, runPlugin, trialLimits, writePlugin } from '../fixtures/plugin-trial.ts';
import { describePlugin } from '../plugin-module.ts';

afterEach(() => {
  removePlugins();
  closeServers();
});

const ports = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    host: '127.0.0.9',
    port: index + 1,
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
  }));

const plugin = (body: string, more = '') => `
export const Plugin = {
  name: () => 'port_notes',
  version: () => '1.0.0',
  description: 'Notes about ports.',
  requires: ['open_ports'],
  provides: ['port_notes.seen'],
  ${more}
  ${body}
};`;

describe('a script', () => {
  it.each([
    ['notes.mjs', 'export const Plugin = {', '};'],
    ['notes.mts', 'interface Unused { a: string }\nexport const Plugin: object = {', '} as const;'],
    ['notes.ts', 'type Unused = string;\nexport class Plugin {', '}'],
    ['notes.cjs', 'module.exports.Plugin = {', '};'],
    ['notes.js', 'export default {', '};'],
  ])('says what its module is: %s', async (entry, before, after) => {
    const separator = before.includes('class') ? '' : ',';
    const members = [
      "name() { return 'port_notes'; }",
      "async version() { return '1.2.3'; }",
      "description() { return 'Notes'; }",
      "configSchema() { return { depth: { Type: 'int', Description: 'How deep', Default: 2 } }; }",
      "requires() { return ['open_ports|banners']; }",
      "provides() { return ['port_notes.seen']; }",
      'async execute() {}',
    ].join(`${separator}\n`);
    expect(
      await describePlugin(writePlugin(entry, `${before}\n${members}\n${after}\n`), trialLimits),
    ).toEqual({
      name: 'port_notes',
      type: 'evaluation',
      version: '1.2.3',
      description: 'Notes',
      options: { depth: { Type: 'int', Description: 'How deep', Default: 2 } },
      requires: ['open_ports|banners'],
      provides: ['port_notes.seen'],
    });
  });

  it.each<[string, string, string | RegExp, object?]>([
    ['a.mjs', 'export const Other = {};', 'a.mjs does not export Plugin (an object or a class)'],
    ['a.mjs', 'export const Plugin = {\n  name: 1\n  oops\n};', /cannot load a\.mjs:3: SyntaxError/],
    ['a.cjs', 'exports.Plugin = {\n  oops oops\n};', /cannot load a\.cjs:2: SyntaxError/],
    ['a.ts', 'enum A { b }\nexport const Plugin = {};', /cannot load a\.ts:1: .*enum is not supported/],
    ['a.mjs', 'const a = 1;\nnull.x;', /cannot load a\.mjs: TypeError: .*\(a\.mjs:2\)/],
    ['a.mjs', 'export const Plugin = { name: "ab" };', /Plugin with the operation execute/],
    ['a.mjs', 'export const Plugin = { execute() {} };', /name must be a name such as/],
    ['a.mjs', plugin('execute() {},', "type: 'reporter',"), /type must be one of/],
    ['a.mjs', plugin('execute() {},', "version: '1',"), /version must be a version/],
    ['a.mjs', plugin('execute() {},', "provides: ['Not a key'],"), /provides\[0\] must be/],
    [
      'a.mjs',
      plugin('execute() {},', 'configSchema: { a1: { Type: "list" } },'),
      /options\.a1\.Type must be/,
    ],
    ['a.mjs', plugin('execute() {},', 'description() {\n null.x; },'), /TypeError: .*\(a\.mjs:\d+\)/],
    ['a.node', 'no addon', /cannot load a\.node: .*(?:too short|invalid ELF)/],
    [
      'a.mjs',
      "import net from 'node:net'; net.connect({ host: '127.0.0.1', port: 1 }); await new Promise(() => {});",
      /EPERM/,
    ],
    [
      'a.mjs',
      'while (true);',
      'it did not start within 500ms (plugins.limits.timeout): its top level did not end',
      { timeout: 500 },
    ],
  ])('is rejected with the reason: %s %#', async (entry, source, reason, limits = {}) => {
    const described = describePlugin(writePlugin(entry, source), { ...trialLimits, ...limits });
    const message =
      typeof reason === 'string' ? expect.stringContaining(reason) : expect.stringMatching(reason);
    await expect(described).rejects.toMatchObject({ code: 'configuration', message });
    expect(childCount()).toBe(0);
  });

  it('reads streams and publishes in batches, in order', async () => {
    const source = plugin(`async execute(ctx, data) {
      for await (const { port } of data.stream('open_ports')) await data.append('port_notes.seen', { port });
    },`);
    const { published, error } = await runPlugin(writePlugin('a.mjs', source), {
      declares: 'port_notes',
      inputs: { open_ports: ports(1000) },
    });
    expect(error).toBe(null);
    expect(published).toEqual(ports(1000).map(({ port }) => ['port_notes.seen', { port }]));
    expect(childCount()).toBe(0);
  });

  it('gets complete values, its options and what the scan is', async () => {
    const source = plugin(
      `async execute(ctx, data) {
        const ports = await data.getPorts('open_ports');
        const again = await data.get('open_ports');
        await data.set('port_notes.seen', {
          ports: ports.length, same: again === ports, options: ctx.options, keys: data.keys(), scan: ctx.scanId,
          has: [data.has('open_ports'), data.has('banners')], node: ctx.instanceId, deadline: typeof ctx.deadline,
          missing: await data.get('banners').catch((error) => error.name),
        });
      },`,
      "configSchema: { depth: { Type: 'int', Description: 'd', Default: 2 }, wait: { Type: 'duration', Description: 'd', Default: '2s' } },",
    );
    const { published, error } = await runPlugin(writePlugin('a.mjs', source), {
      inputs: { open_ports: [...ports(300), ...ports(5)] },
      settings: 'config: {depth: 7}, timeout: 30s',
    });
    expect(error).toBe(null);
    expect(published.map(([, item]) => item)).toEqual([
      {
        ports: 300,
        same: true,
        options: { depth: 7, wait: 2000 },
        keys: ['open_ports'],
        scan: 'test',
        has: [true, false],
        node: 'p',
        deadline: 'number',
        missing: 'MissingKeyError',
      },
    ]);
  });

  it('initializes and cleans up once for all its nodes, and configures each', async () => {
    const source = plugin(
      `async execute(ctx, data) { console.log('execute ' + ctx.options.depth); for await (const p of data.stream('open_ports')); },
       initialize() { console.log('initialize'); }, cleanup() { console.log('cleanup'); },
       configure(options) { console.log('configure ' + options.depth); },`,
      "configSchema: { depth: { Type: 'int', Description: 'd', Default: 2 } },",
    );
    const { logged, stages } = await runPlugin(writePlugin('a.mjs', source), {
      inputs: { open_ports: ports(3) },
      also: ['q'],
    });
    expect(Object.values(stages).map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
    expect(logged[0]).toBe('initialize');
    expect(logged.at(-1)).toBe('cleanup');
    expect(logged.toSorted()).toEqual(
      ['cleanup', 'configure 2', 'configure 2', 'execute 2', 'execute 2', 'initialize'].toSorted(),
    );
  });

  it('prints into the log, escaped, and keeps the frames whole', async () => {
    const source = plugin(`async execute(ctx, data) {
      process.stdout.write('one\\ntw'); process.stdout.write('o\\n');
      console.error('\\x1b[2Jred'); ctx.log.info('three', { a: 1 });
      ctx.warn('odd', 'a \\x1b remark', 'h'); ctx.progress(1, 2);
    },`);
    const progress: unknown[] = [];
    const { logged, warnings, error } = await runPlugin(writePlugin('a.mjs', source), {
      declares: 'port_notes',
      inputs: { open_ports: ports(1) },
      environment: { onProgress: (...report) => progress.push(report) },
    });
    expect(error).toBe(null);
    expect(logged).toEqual(['one', 'two', '\\x1b[2Jred', 'three {"a":1}']);
    expect(warnings).toEqual(['plugin_odd: trial-package: a \\x1b remark']);
    expect(progress).toEqual([['p', 1, 2]]);
  });
});

describe('where a part of the sandbox is missing', () => {
  const source = plugin('execute(ctx, data) {},');
  const noLandlock = { landlockAbi: 1 };

  it('plugins are rejected with the reason', async () => {
    const described = describePlugin(writePlugin('a.mjs', source), { ...trialLimits, ...noLandlock });
    await expect(described).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringMatching(
        /lacks a part of the sandbox \(Landlock: ABI 2 is needed, .*plugins\.allow_unconfined/,
      ),
    });
  });

  it('they run with a warning if that is allowed, and the other parts hold', async () => {
    const tries = plugin(`async execute(ctx, data) {
      const { execFileSync } = await import('node:child_process');
      try { execFileSync('/bin/true'); } catch (error) { ctx.log.info(error.code); }
    },`);
    const { error, warnings, logged } = await runPlugin(writePlugin('a.mjs', tries), {
      inputs: { open_ports: ports(1) },
      limits: { ...noLandlock, allowUnconfined: true },
    });
    expect(error).toBe(null);
    expect(logged).toEqual(['EPERM']);
    expect(warnings).toEqual([
      'plugin_unconfined: trial-package runs without a part of the sandbox: Landlock: ABI 2 is needed, this kernel has 1',
    ]);
  });
});

describe('a script with the permission for the network', () => {
  const talk = (body: string) =>
    plugin(`async execute(ctx, data) {
    for await (const { host, port } of data.stream('open_ports')) { ${body} }
  },`);

  async function scan(source: string, port: number, permitted = true, host = '127.0.0.1') {
    const file = writePlugin('a.mjs', source);
    if (permitted) file.permissions = ['network'];
    return await runPlugin(file, {
      declares: 'port_notes',
      inputs: { open_ports: [{ host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack' }] },
      environment: { net: loopbackGate(['127.0.0.1']) },
    });
  }

  it('talks to a port through the gate', async () => {
    const port = await listen((socket) => {
      socket.write('ready\r\n');
      socket.on('data', (bytes) => socket.end(`got ${bytes}\r\nand more`));
    });
    const source = talk(`
      const { connection } = await ctx.net.connect(host, port, { deadlineMs: 10000 });
      const first = await connection.read({ until: '\\r\\n' });
      const sent = await connection.write('hello');
      const second = await connection.read({ length: 9 });
      const rest = await connection.read();
      connection.close();
      await data.append('port_notes.seen', { first: [String(first.bytes), first.end], sent, second: String(second.bytes),
        rest: [String(rest.bytes), rest.end] });`);
    const { published, error } = await scan(source, port);
    expect(error).toBe(null);
    expect(published[0]?.[1]).toEqual({
      first: ['ready\r\n', 'match'],
      sent: true,
      second: 'got hello',
      rest: ['\r\nand more', 'closed'],
    });
  });

  it('gets the reason where nothing listens, and where the address is none of the scan', async () => {
    const source = talk(`
      for (const other of [host, '127.0.0.77', '192.0.2.1'])
        await data.append('port_notes.seen', (await ctx.net.connect(other, 1)).failure);`);
    const { published, error, warnings } = await scan(source, 1);
    expect(error).toBe(null);
    expect(published.map(([, item]) => (item as { reason: string }).reason)).toEqual([
      'rst',
      'out_of_scope',
      'out_of_scope',
    ]);
    expect(warnings).toEqual([
      'request_out_of_scope: p tried to reach hosts that are not addresses of the scan, such as 127.0.0.77: nothing was sent',
    ]);
  });

  it.each([
    ['a name', `await ctx.net.connect('localhost', port)`, 'host is no IP address'],
    ['a bad port', `await ctx.net.connect(host, 70000)`, 'port is no whole number from 1 to 65535'],
    [
      'a deadline of a day',
      `await ctx.net.connect(host, port, { deadlineMs: 86400000 })`,
      /^deadline_ms is no/,
    ],
    ['a large datagram', `await ctx.net.askUdp(host, port, Buffer.alloc(2000))`, /^a datagram of 2000 bytes/],
  ])('fails for %s, whatever it makes of the error', async (_, call, reason) => {
    const { error } = await scan(talk(`await (async () => { ${call} })().catch(() => {});`), 1);
    if (typeof reason === 'string') expect(error).toBe(reason);
    else expect(error).toMatch(reason);
  });

  it('needs that permission', async () => {
    let connections = 0;
    // Nobody else comes here, as something may to a port of 127.0.0.1.
    const host = '127.0.9.1';
    const port = await listen(() => (connections += 1), host);
    const { error } = await scan(talk('await ctx.net.connect(host, port);'), port, false, host);
    expect(error).toMatch(/may not use the network: its manifest does not list/);
    expect(connections).toBe(0);
  });

  it('leaves no connection open', async () => {
    let open = 0;
    const port = await listen((socket) => {
      open += 1;
      socket.on('close', () => (open -= 1));
    });
    const { error } = await scan(
      talk('for (let i = 0; i < 5; i += 1) await ctx.net.connect(host, port);'),
      port,
    );
    expect(error).toBe(null);
    await expect.poll(() => open, { timeout: 10_000 }).toBe(0);
  });
});
