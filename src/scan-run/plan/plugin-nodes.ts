import type { Graph, GraphNode } from '../../engine/graph/graph.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import type { Registry } from '../../engine/registry.ts';

/**
 * Appends a node of each module type that the graph does not have. It waits for the nodes that provide what it
 * requires; reporters wait for it.
 * @param types registered module types
 */
export function withPluginNodes(graph: Graph, types: readonly string[], registry: Registry): Graph {
  let result = graph;
  const missing = types.filter((type) => !graph.nodes.some(({ moduleType }) => moduleType === type));
  for (let open = missing; open.length > 0; ) {
    const ready = open.find((type) => isProvided(type, result, registry)) ?? (open[0] as string);
    result = withNode(result, ready, registry);
    open = open.filter((type) => type !== ready);
  }
  return result;
}

function isProvided(type: string, graph: Graph, registry: Registry): boolean {
  const provided = new Set(['targets', ...graph.nodes.flatMap((node) => outputsOf(node, registry))]);
  const { requires = [] } = registry.get(type) ?? {};
  return requires.every((requirement) => requirement.split('|').some((key) => provided.has(key)));
}

function withNode(graph: Graph, moduleType: string, registry: Registry): Graph {
  const definition = registry.get(moduleType) as ModuleDefinition;
  const isReporter = (node: GraphNode) => registry.get(node.moduleType)?.type === 'reporter';
  const wanted = new Set(definition.requires.flatMap((requirement) => requirement.split('|')));
  const dependsOn = graph.nodes
    .filter((node) => !isReporter(node) && outputsOf(node, registry).some((key) => wanted.has(key)))
    .map(({ instanceId }) => instanceId);
  const instanceId = freeId(moduleType, graph);
  const added: GraphNode = {
    instanceId,
    moduleType,
    config: {},
    dependsOn,
    condition: null,
    consumes: [],
    produces: [],
    timeoutMs: null,
    retry: { attempts: 1, backoffMs: 0 },
    positionOf: () => ({ line: 1, column: 1 }),
  };
  const others = graph.nodes.map((node) =>
    isReporter(node) && definition.type !== 'reporter'
      ? { ...node, dependsOn: [...node.dependsOn, instanceId] }
      : node,
  );
  return { ...graph, nodes: [...others, added] };
}

function outputsOf({ moduleType }: GraphNode, registry: Registry): string[] {
  return registry.get(moduleType)?.provides ?? [];
}

function freeId(moduleType: string, { nodes }: Graph): string {
  const taken = new Set(nodes.map(({ instanceId }) => instanceId));
  let id = moduleType;
  for (let count = 2; taken.has(id); count++) id = `${moduleType}-${count}`;
  return id;
}
