import { basename } from 'node:path';
import { readPackageFile } from '../actions/plugins/find-package.ts';
import {
  type ListedPlugin,
  type LoadContext,
  type LoadedPlugins,
  loadPlugins,
  requireFiles,
} from '../actions/plugins/load-plugins.ts';
import { loadSent, type SentPlugin } from '../actions/plugins/load-sent.ts';
import { placePlugins } from '../actions/plugins/place-plugins.ts';
import { sharePackages } from '../actions/plugins/share-packages.ts';
import { pluginsFolder } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { ScanRequest } from '../domain/scan.ts';
import type { Registry } from '../engine/registry.ts';
import type { GrpcPlugins } from '../plugins/grpc/grpc-plugins.ts';
import type { LoadedPlugin, PlacedPlugin } from '../plugins/plugin.ts';
import { describeByKind } from '../plugins/plugin-kinds.ts';
import { PluginStore } from '../plugins/plugin-store.ts';
import { PrivateFolder } from '../plugins/private-folder.ts';
import { withLoadedModules } from '../scan-run/plan/plan-plugins.ts';
import type { ModuleCatalog } from '../scan-run/plan/plan-scan.ts';
import type { Store } from '../store/open.ts';
import type { License } from '../workspace/license/read-license.ts';

export interface ServerPluginsInput {
  config: Config;
  license: License;
  /** The builtin modules. */
  registry: Registry;
  /** Of `server start --plugin`; read again at each reload. */
  files: readonly string[];
}

type Describe = NonNullable<LoadContext['describe']>;

/** The plugins of a server: those that are installed, those of its command line, and those reached over gRPC. */
export class ServerPlugins {
  readonly #input: ServerPluginsInput;
  readonly #folder = new PrivateFolder();
  /** What plugins said about their modules, by hash: starting one takes a fraction of a second. */
  readonly #described = new Map<string, Awaited<ReturnType<Describe>>>();
  #remote: GrpcPlugins | null = null;
  #onRemoteChange: (() => Promise<void>) | null = null;
  /** A change that nobody was called back for. */
  #remoteChanged = false;
  /** As found when they were last loaded. */
  listed: readonly ListedPlugin[] = [];

  constructor(input: ServerPluginsInput) {
    this.#input = input;
  }

  /**
   * Loads all anew; scans that were accepted keep what they have.
   * @param config whose publishers count; by default those in force
   * @throws PortolanError `configuration` for a file of the command line that is refused
   */
  async load(
    config: Config = this.#input.config,
  ): Promise<Pick<LoadedPlugins, 'plugins'> & { registry: Registry }> {
    const { license, registry, files } = this.#input;
    const describe = this.#describe;
    this.#remote ??= await this.#askRemote();
    const remote = this.#remote?.list() ?? [];
    const context = { config, license, builtin: registry.names(), folder: this.#folder, describe, remote };
    const loaded = await loadPlugins(files, context);
    requireFiles(loaded, files);
    this.listed = loaded.listed;
    return {
      plugins: loaded.plugins,
      registry: await withLoadedModules(registry, loaded.plugins, config.plugins),
    };
  }

  readonly #describe: Describe = async (file, settings) => {
    const key = `${file.sha256} ${file.entry}`;
    const known = this.#described.get(key);
    if (known !== undefined) return known;
    const metadata = await describeByKind(file, settings);
    this.#described.set(key, metadata);
    return metadata;
  };

  /**
   * The catalog of one scan with the plugins that came with it; each takes the place of the one of its name or module.
   * @param store null = the scan is only planned
   * @throws PortolanError `invalid_request`, `license_required`
   */
  async withSent(
    sent: readonly SentPlugin[],
    catalog: ModuleCatalog,
    store: Store | null,
  ): Promise<ModuleCatalog> {
    const { config, license, registry } = this.#input;
    const { plugins: there = [] } = catalog;
    const facts = { builtin: registry.names(), loaded: there.map(({ file }) => file.name), store };
    const context = { config, license, folder: this.#folder, describe: this.#describe, ...facts };
    const plugins = await loadSent(sent, context);
    const taken = new Set(plugins.flatMap(identitiesOf));
    const others = there.filter((plugin) => !identitiesOf(plugin).some((each) => taken.has(each)));
    const extended = await withLoadedModules(catalog.registry, plugins, config.plugins);
    return { ...catalog, registry: extended, plugins: [...others, ...plugins] };
  }

  /** Why plugins are not loaded; null if all are. */
  get fault(): string | null {
    const refused = this.listed.filter(({ error }) => error !== null);
    return refused.length === 0 ? null : refused.map(({ name, error }) => `${name}: ${error}`).join('; ');
  }

  /**
   * Exchanges packages with the database, for the other servers and the workers.
   * @returns whether the installed plugins of this machine have changed
   */
  async share(store: Store, plugins: readonly LoadedPlugin[]): Promise<boolean> {
    const { config, files } = this.#input;
    const local = new PluginStore(pluginsFolder(config));
    const before = JSON.stringify(await local.list());
    await sharePackages(store, local);
    for (const path of files) {
      const found = plugins.find(({ file }) => file.source === `file ${path}`);
      if (found) await shareFile(store, path, found);
    }
    return JSON.stringify(await local.list()) !== before;
  }

  /** Where scan processes of this server find the plugins of a scan. */
  place(request: ScanRequest, store: Store): Promise<PlacedPlugin[]> {
    const { config, license } = this.#input;
    return placePlugins(request, { store, config, license, folder: this.#folder });
  }

  /** Calls back when a gRPC plugin comes, goes or changes its module: then plugins are to be loaded anew. */
  followRemote(onChange: (() => Promise<void>) | null): void {
    this.#onRemoteChange = onChange;
    if (this.#remoteChanged) void onChange?.();
    this.#remoteChanged = false;
  }

  /** Puts the installed plugins in force after a change; scans that were accepted keep what they have. */
  async refresh(): Promise<void> {
    await this.#onRemoteChange?.();
  }

  /** Names of builtin modules. */
  get builtin(): string[] {
    return this.#input.registry.names();
  }

  async remove(): Promise<void> {
    await this.#remote?.close();
    await this.#folder.remove();
  }

  /** @returns null if none is configured */
  async #askRemote(): Promise<GrpcPlugins | null> {
    const { list, limits } = this.#input.config.plugins;
    if (list.length === 0) return null;
    const { GrpcPlugins } = await import('../plugins/grpc/grpc-plugins.ts');
    const plugins = new GrpcPlugins({ entries: list, limits, onChange: () => this.#noteRemoteChange() });
    await plugins.start();
    // All that was found until now is in the list.
    this.#remoteChanged = false;
    return plugins;
  }

  #noteRemoteChange(): void {
    if (this.#onRemoteChange) void this.#onRemoteChange();
    else this.#remoteChanged = true;
  }
}

function identitiesOf({ file, metadata }: LoadedPlugin): string[] {
  return [file.name.replaceAll('-', '_'), ...(metadata === null ? [] : [metadata.name])];
}

/** Only workers read it; it is never installed. */
async function shareFile(store: Store, path: string, { file }: LoadedPlugin): Promise<void> {
  const { archive: bytes, signature } = await readPackageFile(path);
  const { name, version, sha256, source, archive } = file;
  const installed_at = new Date().toISOString();
  const file_name = archive ? null : basename(path);
  const entry = { name, version, sha256, source, file_name, signature, bytes };
  const known = await store.pluginPackages.get({ name, version, sha256 });
  if (known?.state === 'installed') return;
  await store.pluginPackages.put({ ...entry, state: 'kept', installed_at });
}
