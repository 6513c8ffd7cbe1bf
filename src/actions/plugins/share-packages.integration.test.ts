import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresObstacle, storeDatabase } from '../../../test/postgres.ts';
import { loadConfig } from '../../config/load.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import { readPackage, writePackage } from '../../plugins/package-archive.ts';
import { pluginOfArchive } from '../../plugins/plugin-bytes.ts';
import { PluginStore } from '../../plugins/plugin-store.ts';
import { PrivateFolder, verifyPlaced } from '../../plugins/private-folder.ts';
import { pluginsFor } from '../../scan-run/plan/plan-plugins.ts';
import { openStore, type Store } from '../../store/open.ts';
import { License } from '../../workspace/license/read-license.ts';
import { placePlugins } from './place-plugins.ts';
import { sharePackages } from './share-packages.ts';

const engines = ['sqlite', ...(postgresObstacle() === null ? ['postgres'] : [])];

describe.each(engines)('packages of plugins in %s', (engine) => {
  let dir = '';
  let store: Store;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'share-plugins-'));
    store = await openStore(engine === 'postgres' ? await storeDatabase() : join(dir, 'store.db'));
  }, 60_000);
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true, force: true });
  }, 60_000);

  const machine = (name: string) => new PluginStore(join(dir, name));
  const namesOf = async (local: PluginStore) =>
    (await local.list()).map(({ name, current }) => `${name} ${current.version}`);

  const packed = (version: string, text = 'x') =>
    writePackage(
      new Map([
        ['plugin.yaml', Buffer.from(`name: hello\nversion: ${version}\nkind: script\nentry: main.mjs\n`)],
        ['main.mjs', Buffer.from(text)],
      ]),
    );

  async function install(local: PluginStore, version: string, at: string, signature: string | null = null) {
    const archive = await packed(version);
    await local.install(await readPackage(archive), { archive, signature }, 'file', true, at);
  }

  /** A scan that was planned with the version that is in the database. */
  async function planned(version: string): Promise<ScanRequest> {
    const plugin = await pluginOfArchive({ archive: await packed(version), signature: null }, 'installed');
    return {
      plugins: pluginsFor(undefined, [{ file: plugin.file, metadata: null, added: true }], []),
    } as ScanRequest;
  }

  function context() {
    const { config } = loadConfig({ env: { HOME: dir }, systemFile: join(dir, 'none.yaml') });
    return { store, config, license: new License(false, null, null), folder: new PrivateFolder(dir) };
  }

  it('are the same on every machine: the newest change of a name counts, also a removal', async () => {
    const [one, two] = [machine('one'), machine('two')];
    await install(one, '1.0.0', '2026-01-01T00:00:00.000Z', '{"of": "hello"}');
    await sharePackages(store, one, Date.parse('2026-01-02'));
    await sharePackages(store, two, Date.parse('2026-01-02'));
    expect(await namesOf(two)).toEqual(['hello 1.0.0']);
    expect((await two.load('hello', (await two.get('hello')).current)).signature).toBe('{"of": "hello"}');

    await install(two, '1.1.0', '2026-01-03T00:00:00.000Z');
    for (const local of [two, one]) await sharePackages(store, local, Date.parse('2026-01-04'));
    expect(await namesOf(one)).toEqual(['hello 1.1.0']);

    await one.remove('hello', '2026-01-05T00:00:00.000Z');
    for (const local of [one, two, one]) await sharePackages(store, local, Date.parse('2026-01-06'));
    expect([await namesOf(one), await namesOf(two)]).toEqual([[], []]);

    await install(two, '1.2.0', '2026-01-07T00:00:00.000Z');
    for (const local of [two, one]) await sharePackages(store, local, Date.parse('2026-01-08'));
    expect(await namesOf(one)).toEqual(['hello 1.2.0']);
  });

  it('stay for scans that were planned with them, for 30 days', async () => {
    const one = machine('one');
    await install(one, '1.0.0', '2026-01-01T00:00:00.000Z');
    await sharePackages(store, one, Date.parse('2026-01-01'));
    await install(one, '1.1.0', '2026-01-02T00:00:00.000Z');
    await sharePackages(store, one, Date.parse('2026-01-03'));
    const versions = async () =>
      (await store.pluginPackages.list()).map(({ version, state }) => [version, state]);
    expect(new Map((await versions()) as [string, string][])).toEqual(
      new Map([
        ['1.1.0', 'installed'],
        ['1.0.0', 'kept'],
      ]),
    );
    await sharePackages(store, one, Date.parse('2026-02-15'));
    expect(await versions()).toEqual([['1.1.0', 'installed']]);
  });

  it('reach a machine that a scan needs them on, by their hash', async () => {
    const one = machine('one');
    await install(one, '1.0.0', '2026-01-01T00:00:00.000Z');
    await sharePackages(store, one, Date.parse('2026-01-01'));
    const request = await planned('1.0.0');
    const [placed] = await placePlugins(request, context());
    expect(placed?.problem).toBeNull();
    if (placed?.file) await verifyPlaced(placed.file);

    const gone = await placePlugins(await planned('9.9.9'), context());
    expect(gone).toMatchObject([
      { file: null, problem: expect.stringContaining('no longer in the database') },
    ]);

    const required = context();
    required.config.plugins.require_signature = true;
    const [refused] = await placePlugins(request, required);
    expect(refused).toMatchObject({ file: null, problem: expect.stringContaining('signature unsigned') });
  });

  it('that were altered in the database are refused', async () => {
    const one = machine('one');
    await install(one, '1.0.0', '2026-01-01T00:00:00.000Z');
    await sharePackages(store, one, Date.parse('2026-01-01'));
    const request = await planned('1.0.0');
    const pin = request.plugins?.[0]?.file as { name: string; version: string; sha256: string };
    const row = await store.pluginPackages.get(pin);
    await store.execute('delete from plugin_packages', []);
    await store.pluginPackages.put({
      ...(row as NonNullable<typeof row>),
      signature: null,
      bytes: await packed('1.0.0', 'other'),
    });
    const [placed] = await placePlugins(request, context());
    expect(placed).toMatchObject({ file: null, problem: expect.stringContaining('was altered') });
    const two = machine('two');
    await sharePackages(store, two, Date.parse('2026-01-02'));
    expect(await namesOf(two)).toEqual([]);
  });
});
