import { dataKeys } from '../data/data-keys.ts';
import type { ModuleDefinition } from '../module.ts';
import type { Registry } from '../registry.ts';
import type { ConditionVariables } from './condition.ts';
import { type Graph, type GraphNode, requestsVuln } from './graph.ts';
import { ancestorsOf, instanceKey } from './validate.ts';

/** One input of a node: a plain or instance-scoped key and the nodes that produce it. */
export interface PlannedInput {
  key: string;
  /** Instance ids; the scan itself, which provides `targets`, is the empty string. */
  producers: string[];
  /** Whether the node requires it. */
  required: boolean;
}

export interface PlannedNode {
  instanceId: string;
  definition: ModuleDefinition;
  config: Record<string, unknown>;
  inputs: PlannedInput[];
  /** IDs of all upstream nodes. */
  ancestors: string[];
  dependsOn: string[];
  timeoutMs: number | null;
  retry: { attempts: number; backoffMs: number };
  /** Why the node is skipped, or null. */
  skipped: string | null;
}

export interface Plan {
  name: string;
  /** Whether its graph looks for vulnerabilities. */
  vuln?: boolean;
  nodes: PlannedNode[];
}

/** Options of a submission that override those of the graph file, by module type and option name. */
export type ConfigOverlay = (
  definition: ModuleDefinition,
  config: Record<string, unknown>,
) => Record<string, unknown>;

/** Why a submission skips a node, or null. */
export type SkipRule = (definition: ModuleDefinition, config: Record<string, unknown>) => string | null;

/**
 * Decides which nodes of a valid graph run, and which streams each of them reads. Keeps the order of the file.
 * @param graph a graph without validation errors
 */
export function planGraph(
  graph: Graph,
  registry: Registry,
  variables: ConditionVariables,
  overlay: ConfigOverlay,
  skip: SkipRule = () => null,
): Plan {
  const nodes = graph.nodes.map((node) => {
    const definition = registry.get(node.moduleType);
    if (!definition) throw new Error(`module "${node.moduleType}" is not registered`);
    const skipped = skippedByVariables(node, definition, variables) ?? skip(definition, node.config);
    return { node, definition, skipped };
  });
  const running = new Map(
    nodes.filter((entry) => !entry.skipped).map((entry) => [entry.node.instanceId, entry]),
  );
  return {
    name: graph.name,
    vuln: requestsVuln(graph),
    nodes: nodes.map(({ node, definition, skipped }) => {
      const ancestors = [...ancestorsOf(node, graph)];
      const producersOf = (key: string) => producers(key, ancestors, running);
      const inputs = planInputs(node, definition, producersOf);
      return {
        instanceId: node.instanceId,
        definition,
        // Options of an unavailable module are not known either.
        config: definition.unavailable === undefined ? overlay(definition, node.config) : {},
        inputs: inputs.found,
        ancestors,
        dependsOn: node.dependsOn,
        timeoutMs: node.timeoutMs,
        retry: node.retry,
        skipped: skipped ?? inputs.missing,
      };
    }),
  };
}

function skippedByVariables(
  node: GraphNode,
  definition: ModuleDefinition,
  variables: ConditionVariables,
): string | null {
  if (definition.type === 'discovery' && !variables.discover) return 'discovery is off';
  if (node.condition && !node.condition(variables)) return 'its condition is false';
  return null;
}

type Running = Map<string, { node: GraphNode; definition: ModuleDefinition }>;

function producers(key: string, ancestors: string[], running: Running): string[] {
  if (key === 'targets') return [''];
  return ancestors.filter((id) => {
    const entry = running.get(id);
    return entry?.definition.provides.some(
      (output) => output === key || instanceKey(entry.node, output) === key,
    );
  });
}

function planInputs(
  node: GraphNode,
  definition: ModuleDefinition,
  producersOf: (key: string) => string[],
): { found: PlannedInput[]; missing: string | null } {
  const found = new Map<string, PlannedInput>();
  let missing: string | null = null;
  for (const requirement of [...definition.requires, ...node.consumes]) {
    const key = requirement.split('|').find((alternative) => producersOf(alternative).length > 0);
    if (key === undefined) missing ??= `no running node provides ${requirement}`;
    else found.set(key, { key, producers: producersOf(key), required: true });
  }
  for (const key of optionalKeys(definition)) {
    const available = producersOf(key);
    if (found.has(key) || available.length === 0) continue;
    found.set(key, { key, producers: available, required: false });
  }
  return { found: [...found.values()], missing };
}

function optionalKeys(definition: ModuleDefinition): string[] {
  return definition.reads.includes('*') ? Object.keys(dataKeys) : definition.reads;
}
