import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { Registry } from '../../engine/registry.ts';
import type { LoadedPlugin } from '../../plugins/plugin.ts';
import { printableLines } from '../terminal/draw/printable.ts';
import { note } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';

/** The plugins that a command loads. */
export interface PluginChoice {
  /** Of `--plugin`. */
  files: readonly string[];
  /** `all`, or only those of the files, what they require, and rules. */
  modules: 'all' | 'files';
}

export interface CommandPlugins {
  /** With the modules of the plugins. */
  registry: Registry;
  plugins: LoadedPlugin[];
  /** Removes the files that the plugins were loaded from. */
  release(): Promise<void>;
}

/**
 * Loads the installed plugins and those of files; installed ones that are refused are reported on stderr.
 * @throws PortolanError `configuration` for a file that is refused
 */
export async function loadCommandPlugins(
  registry: Registry,
  config: Config,
  { files, modules }: PluginChoice,
): Promise<CommandPlugins> {
  const none = { registry, plugins: [], release: () => Promise.resolve() };
  const { pluginsFolder } = await import('../../config/load.ts');
  const isInstalled = existsSync(join(pluginsFolder(config), 'registry.json'));
  if (files.length === 0 && config.plugins.list.length === 0 && !isInstalled) return none;
  const [{ requireFiles, loadPlugins }, { PrivateFolder }, { readLicense }, { withLoadedModules }] =
    await Promise.all([
      import('../../actions/plugins/load-plugins.ts'),
      import('../../plugins/private-folder.ts'),
      import('../../workspace/license/read-license.ts'),
      import('../../scan-run/plan/plan-plugins.ts'),
    ]);
  const folder = new PrivateFolder();
  const release = () => folder.remove();
  try {
    const license = await readLicense(config);
    const context = { config, license, builtin: registry.names(), folder, modules };
    const loaded = await loadPlugins(files, context);
    requireFiles(loaded, files);
    for (const { name, error } of loaded.listed)
      if (error !== null) note(`warning: plugin ${printableLines(`${name} is not loaded: ${error}`)}`);
    const { plugins } = loaded;
    const extended = await withLoadedModules(registry, plugins, config.plugins);
    return { registry: extended, plugins, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The builtin modules and those of installed plugins, for commands that run none. */
export async function loadInstalledRegistry(wiring: CliWiring, config: Config): Promise<Registry> {
  const builtin = await wiring.loadRegistry(config);
  const { registry, release } = await loadCommandPlugins(builtin, config, { files: [], modules: 'all' });
  await release();
  return registry;
}
