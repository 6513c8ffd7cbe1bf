import type { Graph, GraphNode } from '../../engine/graph/graph.ts';
import { ancestorsOf } from '../../engine/graph/validate.ts';
import { type ModuleDefinition, type ModuleType, moduleTypes } from '../../engine/module.ts';
import type { Registry } from '../../engine/registry.ts';

/** A module of a plugin that joins a graph. */
export interface JoiningModule {
  /** Registered module type. */
  type: string;
  /** Modules of later stages that read what it provides wait for it; null = none does. */
  stage: ModuleType | null;
  /** Left out where nothing provides what it requires; evaluates only where the scan looks for vulnerabilities. */
  isOptional: boolean;
}

/**
 * Appends a node of each module that the graph does not have. It waits for the nodes that provide what it requires;
 * reporters wait for it.
 */
export function withPluginNodes(graph: Graph, joining: readonly JoiningModule[], registry: Registry): Graph {
  let result = graph;
  const missing = joining.filter(({ type }) => !graph.nodes.some(({ moduleType }) => moduleType === type));
  for (let open = missing; open.length > 0; ) {
    const ready = open.find(({ type }) => isProvided(type, result, registry));
    const next = ready ?? open.find(({ isOptional }) => !isOptional);
    if (next === undefined) break;
    result = withNode(result, next, registry);
    open = open.filter((each) => each !== next);
  }
  return result;
}

function isProvided(type: string, graph: Graph, registry: Registry): boolean {
  const provided = new Set(['targets', ...graph.nodes.flatMap((node) => outputsOf(node, registry))]);
  const { requires = [] } = registry.get(type) ?? {};
  return requires.every((requirement) => requirement.split('|').some((key) => provided.has(key)));
}

function withNode(
  graph: Graph,
  { type: moduleType, stage, isOptional }: JoiningModule,
  registry: Registry,
): Graph {
  const definition = registry.get(moduleType) as ModuleDefinition;
  const instanceId = freeId(moduleType, graph);
  const dependsOn = graph.nodes
    .filter((node) => registry.get(node.moduleType)?.type !== 'reporter')
    .filter((node) => outputsOf(node, registry).some((key) => wants(definition, key)))
    .map((node) => node.instanceId);
  const added: GraphNode = {
    instanceId,
    moduleType,
    config: {},
    dependsOn,
    condition: isOptional && stage === 'evaluation' ? ({ vuln }) => vuln : null,
    consumes: [],
    produces: [],
    timeoutMs: null,
    retry: { attempts: 1, backoffMs: 0 },
    positionOf: () => ({ line: 1, column: 1 }),
  };
  const before = ancestorsOf(added, graph);
  const waits = (node: GraphNode) => {
    if (before.has(node.instanceId)) return false;
    const reader = registry.get(node.moduleType);
    if (reader?.type === 'reporter') return definition.type !== 'reporter';
    return isAfter(reader?.type, stage) && definition.provides.some((key) => reader && wants(reader, key));
  };
  const others = graph.nodes.map((node) =>
    waits(node) ? { ...node, dependsOn: [...node.dependsOn, instanceId] } : node,
  );
  return { ...graph, nodes: [...others, added] };
}

/** Whether modules of a type come after a stage. */
function isAfter(type: ModuleType | undefined, stage: ModuleType | null): boolean {
  return type !== undefined && stage !== null && moduleTypes.indexOf(type) > moduleTypes.indexOf(stage);
}

function wants({ requires, reads }: ModuleDefinition, key: string): boolean {
  return [...requires, ...reads].some((requirement) => requirement.split('|').includes(key));
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
