import type { PluginPin } from '../../domain/plugin-pin.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import type { Graph } from '../../engine/graph/graph.ts';
import type { Registry } from '../../engine/registry.ts';
import { absentModule } from '../../plugins/absent-module.ts';
import type { LoadedPlugin, PlannedPlugin, PluginMetadata } from '../../plugins/plugin.ts';
import type { PluginSettings } from '../../plugins/plugin-kinds.ts';
import { withPluginNodes } from './plugin-nodes.ts';

/** Module type that evaluates the rules of plugins. */
const rulesModule = 'rule_evaluator';

/** The plugins that a scan of this graph needs: added ones, those of its modules, and all rules. */
export function pluginsFor(graph: Graph | undefined, plugins: readonly PlannedPlugin[]): PluginPin[] {
  const types = new Set(graph?.nodes.map(({ moduleType }) => moduleType));
  return plugins
    .filter(({ metadata, added }) => added || metadata === null || types.has(metadata.name))
    .map(({ file, metadata, added }) => {
      const { name, version, kind, sha256, archive, entry, permissions, source } = file;
      return { file: { name, version, kind, sha256, archive, entry, permissions, source }, metadata, added };
    });
}

/** The plugins that a scan was planned with. */
export function plannedPlugins({ plugins = [] }: Pick<ScanRequest, 'plugins'>): PlannedPlugin[] {
  // What `pluginsFor` made of planned plugins.
  return plugins as PlannedPlugin[];
}

export type PluginWithModule = PlannedPlugin & { metadata: PluginMetadata };

export function hasModule(plugin: PlannedPlugin): plugin is PluginWithModule {
  return plugin.metadata !== null;
}

/** The modules for planning a scan: those of its plugins may be another version than the one in force, or gone. */
export function withPlannedModules(registry: Registry, request: ScanRequest): Registry {
  const lacking = plannedPlugins(request)
    .filter(hasModule)
    .filter(({ file, metadata }) => registry.get(metadata.name)?.producer?.sha256 !== file.sha256);
  if (lacking.length === 0) return registry;
  return registry.extended(
    lacking.map((plugin) => ({
      definition: absentModule(plugin, 'it is not loaded here'),
      source: `plugin ${plugin.file.name}`,
    })),
  );
}

/** These modules and those of the plugins. @throws Error if one has the name of a builtin module */
export async function withLoadedModules(
  registry: Registry,
  plugins: readonly LoadedPlugin[],
  settings: PluginSettings,
): Promise<Registry> {
  if (plugins.every(({ metadata }) => metadata === null)) return registry;
  // What runs plugins is loaded by those only who have some.
  const { moduleByKind } = await import('../../plugins/plugin-kinds.ts');
  const modules = plugins.flatMap(({ file, metadata }) =>
    metadata === null
      ? []
      : [{ definition: moduleByKind({ file, metadata }, settings), source: `plugin ${file.name}` }],
  );
  return registry.extended(modules);
}

/** Adds a node for each plugin that joins every graph. */
export function withAddedPlugins(graph: Graph, request: ScanRequest, registry: Registry): Graph {
  const added = plannedPlugins(request).filter((plugin) => plugin.added);
  const types = added.flatMap(({ metadata }) => (metadata === null ? [] : [metadata.name]));
  const hasRules = added.some(({ file }) => file.kind === 'rules');
  if (!hasRules) return withPluginNodes(graph, types, registry);
  // Whoever names rules wants them evaluated, also where the scan does not look for vulnerabilities.
  const nodes = graph.nodes.map((node) =>
    node.moduleType === rulesModule ? { ...node, condition: null } : node,
  );
  return withPluginNodes({ ...graph, nodes }, [...types, rulesModule], registry);
}
