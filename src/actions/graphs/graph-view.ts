import type { Graph, GraphNode } from '../../engine/graph/graph.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import type { Registry } from '../../engine/registry.ts';

/** A graph as clients draw it. */
export interface GraphView {
  name: string;
  description: string;
  nodes: NodeView[];
  edges: EdgeView[];
}

interface NodeView {
  instance_id: string;
  module_type: string;
  /** Null for a module that is not registered. */
  type: string | null;
  depends_on: string[];
  options: Record<string, unknown>;
  requires: string[];
  provides: string[];
}

/** A dependency, once for each key that goes along it; the key is null where it only orders. */
interface EdgeView {
  from: string;
  to: string;
  key: string | null;
}

/** A graph with more dependencies is not drawn. */
export const maxShownEdges = 2000;

export function edgeCount({ nodes }: Graph): number {
  return nodes.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0);
}

export function graphView(graph: Graph, registry: Registry): GraphView {
  const modules = new Map(graph.nodes.map((node) => [node.instanceId, registry.get(node.moduleType)]));
  const nodes = new Map(graph.nodes.map((node) => [node.instanceId, node]));
  return {
    name: graph.name,
    description: graph.description,
    nodes: graph.nodes.map((node) => nodeView(node, modules.get(node.instanceId))),
    edges: [...nodes.values()].flatMap((node) =>
      [...new Set(node.dependsOn)]
        .filter((id) => nodes.has(id))
        .flatMap((id) => edgesBetween(id, modules.get(id), node, modules.get(node.instanceId))),
    ),
  };
}

function nodeView(node: GraphNode, definition: ModuleDefinition | undefined): NodeView {
  return {
    instance_id: node.instanceId,
    module_type: node.moduleType,
    type: definition?.type ?? null,
    depends_on: node.dependsOn,
    options: node.config,
    requires: [...(definition?.requires ?? []), ...node.consumes],
    provides: [...(definition?.provides ?? [])],
  };
}

function edgesBetween(
  from: string,
  source: ModuleDefinition | undefined,
  node: GraphNode,
  target: ModuleDefinition | undefined,
): EdgeView[] {
  const to = node.instanceId;
  const wanted = new Set(
    [...(target?.requires ?? []), ...(target?.reads ?? []), ...node.consumes].flatMap((key) =>
      key.split('|'),
    ),
  );
  const keys = (source?.provides ?? []).filter(
    (key) => wanted.has('*') || wanted.has(key) || wanted.has(`${source?.name}.${from}.${key}`),
  );
  return keys.length === 0 ? [{ from, to, key: null }] : keys.map((key) => ({ from, to, key }));
}
