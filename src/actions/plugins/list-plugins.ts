import { pluginsFolder } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { PluginManifest } from '../../plugins/manifest.ts';
import type { LoadedPlugin } from '../../plugins/plugin.ts';
import { type InstalledPlugin, PluginStore } from '../../plugins/plugin-store.ts';
import { PrivateFolder } from '../../plugins/private-folder.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import { type LoadContext, loadPlugins } from './load-plugins.ts';
import { type PlacedRow, withGraphs } from './where-plugins-run.ts';

/** What decides which plugins are loaded, and where they run. */
export interface ListContext extends Omit<LoadContext, 'folder'> {
  /** Modules and graphs of this machine with these plugins. */
  catalog(plugins: readonly LoadedPlugin[]): Promise<Pick<ModuleCatalog, 'library' | 'registry'>>;
}

export interface PluginDetails extends PlacedRow {
  installed_at: string;
  manifest: (Omit<PluginManifest, 'files'> & { files: Record<string, string> }) | null;
}

/** Loads each installed plugin anew. @throws PortolanError `configuration` if the registry is damaged */
export async function listPlugins(context: ListContext): Promise<PlacedRow[]> {
  const folder = new PrivateFolder();
  try {
    const { listed, plugins } = await loadPlugins([], { ...context, folder });
    return withGraphs(listed, { ...(await context.catalog(plugins)), plugins });
  } finally {
    await folder.remove();
  }
}

/** @throws PortolanError `usage`, `not_found`, `configuration` */
export async function showPlugin(name: string, context: ListContext): Promise<PluginDetails> {
  const store = storeOf(context.config);
  const { current } = await store.get(name);
  const row = (await listPlugins(context)).find((plugin) => plugin.name === name);
  if (!row) throw new PortolanError('not_found', `no plugin "${name}" is installed any more`);
  const { installed_at } = current;
  const content = await store.load(name, current).catch((error: unknown) => {
    if (error instanceof PortolanError) return null;
    throw error;
  });
  const manifest = content?.package.manifest;
  return {
    ...row,
    installed_at,
    manifest: manifest ? { ...manifest, files: Object.fromEntries(manifest.files) } : null,
  };
}

/** @throws PortolanError `usage`, `not_found`, `configuration`; `conflict` if others require it and `force` is not set */
export async function removePlugin(
  name: string,
  config: Pick<Config, 'plugins'>,
  { force }: { force: boolean },
): Promise<InstalledPlugin> {
  const store = storeOf(config);
  await store.get(name);
  const dependents = force ? [] : await dependentsOf(name, store);
  if (dependents.length === 0) return store.remove(name);
  const others = dependents.join(', ');
  throw new PortolanError('conflict', `${others} requires ${name}; remove ${others} first, or give --force`);
}

/** Switches an installed plugin of this machine off or on. @throws PortolanError `usage`, `not_found` */
export function disablePlugin(
  name: string,
  config: Pick<Config, 'plugins'>,
  disabled: boolean,
): Promise<InstalledPlugin> {
  return storeOf(config).disable(name, disabled);
}

/** One that was altered or cannot be read requires nothing: it is not loaded. */
async function dependentsOf(name: string, store: PluginStore): Promise<string[]> {
  const dependents: string[] = [];
  for (const other of await store.list()) {
    const content = await store.load(other.name, other.current).catch((error: unknown) => {
      if (error instanceof PortolanError) return null;
      throw error;
    });
    if (other.name !== name && content?.package.manifest.requires.includes(name)) dependents.push(other.name);
  }
  return dependents;
}

function storeOf(config: Pick<Config, 'plugins'>): PluginStore {
  return new PluginStore(pluginsFolder(config));
}
