import type { Config } from '../config/schema.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { absentModule } from '../plugins/absent-module.ts';
import { isRemote, type LoadedPlugin, type PlacedPlugin, type PlannedPlugin } from '../plugins/plugin.ts';
import { verifyPlaced } from '../plugins/private-folder.ts';
import { hasModule, plannedPlugins } from './plan/plan-plugins.ts';
import type { ModuleCatalog } from './plan/plan-scan.ts';

/**
 * The modules and rules of a scan in a process of its own: builtin ones and those of the plugins that it was planned
 * with. A plugin that is not there or was altered costs its nodes, not the scan.
 * @param placed where this machine has them
 */
export async function withScanPlugins(
  catalogue: ModuleCatalog,
  request: ScanRequest,
  placed: readonly PlacedPlugin[],
  { plugins: settings }: Config,
): Promise<ModuleCatalog> {
  const planned = plannedPlugins(request);
  if (planned.length === 0) return catalogue;
  const { moduleByKind } = await import('../plugins/plugin-kinds.ts');
  const states = await Promise.all(planned.map((plugin) => stateOf(plugin, placed)));
  const modules = states.flatMap(({ plugin, problem }) => {
    if (!hasModule(plugin)) return [];
    const definition =
      problem === null
        ? moduleByKind(plugin as typeof plugin & LoadedPlugin, settings)
        : absentModule(plugin, problem);
    return [{ definition, source: `plugin ${plugin.file.name}` }];
  });
  return {
    ...catalogue,
    registry: catalogue.registry.extended(modules),
    plugins: states.flatMap(({ plugin, problem }) => (problem === null ? [plugin as LoadedPlugin] : [])),
  };
}

async function stateOf(
  plugin: PlannedPlugin,
  placed: readonly PlacedPlugin[],
): Promise<{ plugin: PlannedPlugin; problem: string | null }> {
  const { sha256, name } = plugin.file;
  if (isRemote(plugin.file))
    return { plugin: { ...plugin, file: { ...plugin.file, folder: '' } } as LoadedPlugin, problem: null };
  const place = placed.find((each) => each.sha256 === sha256 && each.name === name);
  if (!place?.file) return { plugin, problem: place?.problem ?? 'it is not on this machine' };
  const file = { ...plugin.file, folder: place.file.folder };
  try {
    await verifyPlaced(file);
    return { plugin: { ...plugin, file }, problem: null };
  } catch (error) {
    return { plugin, problem: (error as Error).message };
  }
}
