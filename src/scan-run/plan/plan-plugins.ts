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

/** A graph, and whether it ships with the program: then installed plugins with a stage join it. */
export interface PlannedGraph {
  graph: Graph;
  isBuiltin: boolean;
}

/**
 * The plugins that a scan of this graph needs: added ones, those of its modules, those with a stage in a builtin graph,
 * and all rules.
 * @param off names of plugins that are switched off
 */
export function pluginsFor(
  planned: PlannedGraph | undefined,
  plugins: readonly PlannedPlugin[],
  off: readonly string[],
): PluginPin[] {
  const types = new Set(planned?.graph.nodes.map(({ moduleType }) => moduleType));
  return plugins.flatMap(({ file, metadata, ...plugin }) => {
    const { name, version, kind, sha256, archive, entry, permissions, stage = null, source } = file;
    const isOff = off.includes(name);
    const added = !isOff && (plugin.added || (stage !== null && (planned?.isBuiltin ?? false)));
    if (!added && !(metadata === null ? !isOff : types.has(metadata.name))) return [];
    const facts = { name, version, kind, sha256, archive, entry, permissions, stage, source };
    return { file: facts, metadata, added };
  });
}

/** Names of the graphs in which a plugin runs. @param graphs those of a library */
export function graphsWith(
  plugin: PlannedPlugin,
  graphs: readonly { name: string; source: string; graph: Graph }[],
  registry: Registry,
): string[] {
  const runsIn = ({ graph, source }: { source: string; graph: Graph }) => {
    const pins = pluginsFor({ graph, isBuiltin: source === 'builtin' }, [plugin], namesOfOff([plugin]));
    const types = graph.nodes.map(({ moduleType }) => moduleType);
    const { metadata } = plugin;
    if (pins.length === 0 || plugin.off) return false;
    if (metadata === null) return plugin.added || types.includes(rulesModule);
    return (
      types.includes(metadata.name) || withJoining(graph, [pins[0] as PlannedPlugin], registry) !== graph
    );
  };
  return graphs.filter(runsIn).map(({ name }) => name);
}

/** Names of the plugins that the configuration switches off. */
export function namesOfOff(plugins: readonly PlannedPlugin[]): string[] {
  return plugins.filter(({ off }) => off).map(({ file }) => file.name);
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
  const joined = withJoining(graph, added, registry);
  if (!added.some(({ file }) => file.kind === 'rules')) return joined;
  // Whoever names rules wants them evaluated, also where the scan does not look for vulnerabilities.
  const nodes = joined.nodes.map((node) =>
    node.moduleType === rulesModule ? { ...node, condition: null } : node,
  );
  return withPluginNodes(
    { ...joined, nodes },
    [{ type: rulesModule, stage: null, isOptional: false }],
    registry,
  );
}

function withJoining(graph: Graph, plugins: readonly PlannedPlugin[], registry: Registry): Graph {
  const joining = plugins.filter(hasModule).map(({ file, metadata }) => ({
    type: metadata.name,
    stage: file.stage ?? null,
    // Nobody named an installed one for this scan.
    isOptional: file.source === 'installed',
  }));
  return withPluginNodes(graph, joining, registry);
}
