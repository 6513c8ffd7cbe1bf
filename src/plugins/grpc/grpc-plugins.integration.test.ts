import { afterEach, describe, expect, it } from 'vitest';
import { entryOf, json, type PluginBehavior, PluginServer, usualMetadata } from './fixtures/plugin-server.ts';
import { type GrpcPlugin, GrpcPlugins } from './grpc-plugins.ts';
import type { GrpcEntry } from './module-client.ts';

const limits = { output: 1024 * 1024 };
const open: GrpcPlugins[] = [];
afterEach(async () => {
  for (const plugins of open.splice(0)) await plugins.close();
});

/** Plugins whose waits end when the test says so. */
function watch(entries: GrpcEntry[]) {
  const waits: number[] = [];
  let changes = 0;
  let wake: () => void = () => undefined;
  const plugins = new GrpcPlugins({
    entries,
    limits,
    onChange: () => changes++,
    wait: (ms, signal) => {
      waits.push(ms);
      return new Promise((resolve) => {
        wake = resolve;
        signal.addEventListener('abort', () => resolve());
      });
    },
  });
  open.push(plugins);
  return {
    plugins,
    waits,
    changes: () => changes,
    /** Ends the current wait, and resolves when the next one began. */
    async step() {
      const before = waits.length;
      await expect.poll(() => waits.length).toBeGreaterThan(0);
      wake();
      await expect.poll(() => waits.length).toBeGreaterThan(before);
    },
    first: () => plugins.list()[0] as GrpcPlugin,
  };
}

async function described(behavior: PluginBehavior): Promise<GrpcPlugin> {
  await using server = await PluginServer.start(behavior);
  const { plugins, first } = watch([server.entry()]);
  await plugins.start();
  return first();
}

describe('configured gRPC plugins', () => {
  it('are asked for their module', async () => {
    const options = { depth: { Type: 'int', Description: 'How deep.', Default: 3 } };
    const plugin = await described({ metadata: { ...usualMetadata, configSchema: json(options) } });
    expect(plugin).toMatchObject({ loaded: true, error: null, metadata: { ...usualMetadata, options } });
  });

  it('that are down are retried with growing delays until they come up, and keep their module when they go', async () => {
    const first = await PluginServer.start({});
    const { port } = first;
    await first[Symbol.asyncDispose]();
    const watched = watch([entryOf(port)]);
    await watched.plugins.start();
    expect(watched.first()).toMatchObject({ loaded: false, metadata: null });
    expect(watched.first().error).toMatch(/^127\.0\.0\.1:\d+: cannot connect: Unavailable: .*ECONNREFUSED/);
    await watched.step();
    await watched.step();
    const server = await PluginServer.start({ port });
    await watched.step();
    expect(watched.first()).toMatchObject({ loaded: true, error: null, metadata: usualMetadata });
    expect(watched.waits).toEqual([1000, 2000, 4000, 60_000]);
    await server[Symbol.asyncDispose]();
    await watched.step();
    expect(watched.first()).toMatchObject({ loaded: true, metadata: usualMetadata });
    expect(watched.first().error).toMatch(/cannot connect/);
    expect(watched.changes()).toBe(3);
  });

  it('that change their module are listed with the new one', async () => {
    await using server = await PluginServer.start({});
    const watched = watch([server.entry()]);
    await watched.plugins.start();
    await watched.step();
    expect(watched.changes()).toBe(1);
    server.change({ metadata: { ...usualMetadata, version: '2.0.0' } });
    await watched.step();
    expect(watched.first().metadata?.version).toBe('2.0.0');
    expect(watched.changes()).toBe(2);
  });

  it('do not wait for one another', async () => {
    await using silent = await PluginServer.start({ hang: true });
    await using server = await PluginServer.start({});
    const { plugins } = watch([silent.entry(), server.entry()]);
    void plugins.start();
    await expect.poll(() => plugins.list()[1]?.loaded).toBe(true);
    expect(plugins.list()[0]).toMatchObject({ loaded: false, error: 'not asked yet' });
  });

  it.each<[string, PluginBehavior, string | RegExp | null]>([
    ['serving', { health: { serving: 1 } }, null],
    ['unknown to the health service', { health: { status: 5 } }, null],
    ['not serving', { health: { serving: 2 } }, /its health check says that it does not serve/],
    ['without the package name in its path', { packaged: false }, null],
    ['with a bad name', { metadata: { ...usualMetadata, name: '../x' } }, /^name must be/],
    ['with a bad type', { metadata: { ...usualMetadata, type: '' } }, /^type must be one of/],
    [
      'that provides what the scan provides',
      { metadata: { ...usualMetadata, provides: ['targets'] } },
      /^provides\[0\]/,
    ],
    [
      'with options that are not JSON',
      { metadata: { ...usualMetadata, configSchema: Uint8Array.of(123) } },
      'config_schema is not JSON',
    ],
    [
      'with options of another form',
      { metadata: { ...usualMetadata, configSchema: json({ x1: { type: 'int' } }) } },
      /unknown field "type"/,
    ],
  ])('%s', async (_name, behavior, error) => {
    const plugin = await described(behavior);
    expect(plugin.loaded).toBe(error === null);
    if (error === null) expect(plugin.error).toBeNull();
    else expect(plugin.error).toMatch(error);
  });
});
