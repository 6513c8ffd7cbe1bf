import { nearest } from '../../domain/text/nearest.ts';
import { isStandardKey } from '../data/data-keys.ts';
import type { ModuleDefinition } from '../module.ts';
import { validateOptions } from '../options.ts';
import type { Registry } from '../registry.ts';
import { type Graph, type GraphIssue, type GraphNode, maxSuggestions } from './graph.ts';

export interface GraphCheck {
  errors: GraphIssue[];
  warnings: GraphIssue[];
}

/** Maximum number of dependencies of all nodes: the time of the checks grows with nodes times dependencies. */
const maxDependencies = 10_000;

/** Semantic checks: names, dependencies, options and data flow. */
export function validateGraph(graph: Graph, registry: Registry): GraphCheck {
  const check: GraphCheck = { errors: [], warnings: [] };
  if (graph.nodes.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0) > maxDependencies) {
    check.errors.push(issue('size', `more than ${maxDependencies} dependencies`, null, 'depends_on'));
    return check;
  }
  checkIds(graph, check);
  checkDependencies(graph, check);
  const modules = checkModules(graph, registry, check);
  if (check.errors.some((issue) => ['cycle', 'dependency', 'duplicate_id'].includes(issue.type)))
    return check;
  checkDataFlow(graph, modules, check);
  checkWriters(graph, modules, check);
  warnWithoutReporter(modules, check);
  warnOfMetadata(graph, check);
  return check;
}

function issue(
  type: string,
  message: string,
  node: GraphNode | null,
  field: string | null,
  fix: string | null = null,
): GraphIssue {
  const position = node ? node.positionOf(field ?? '') : { line: 1, column: 1 };
  return { type, message, node_id: node?.instanceId ?? null, field, fix, ...position };
}

function checkIds(graph: Graph, check: GraphCheck): void {
  const seen = new Set<string>();
  for (const node of graph.nodes) {
    if (seen.has(node.instanceId)) {
      const message = `the instance_id "${node.instanceId}" is used twice`;
      check.errors.push(
        issue('duplicate_id', message, node, 'instance_id', 'give each node a unique instance_id'),
      );
    }
    seen.add(node.instanceId);
  }
}

function checkDependencies(graph: Graph, check: GraphCheck): void {
  const ids = new Set(graph.nodes.map((node) => node.instanceId));
  for (const node of graph.nodes) {
    for (const name of node.dependsOn) {
      if (ids.has(name)) continue;
      const near = check.errors.length < maxSuggestions ? nearest(name, [...ids]) : null;
      const message = `depends on "${name}", which is not a node of this graph`;
      check.errors.push(issue('dependency', message, node, 'depends_on', near && `did you mean "${near}"?`));
    }
  }
  const cycle = findCycle(graph);
  if (cycle) {
    const node = graph.nodes.find((candidate) => candidate.instanceId === cycle[0]) ?? null;
    check.errors.push(
      issue('cycle', `the dependencies form a cycle: ${cycle.join(' -> ')}`, node, 'depends_on'),
    );
  }
}

/** The IDs along a cycle, the first again at the end; null if there is none. */
function findCycle(graph: Graph): string[] | null {
  const byId = new Map(graph.nodes.map((node) => [node.instanceId, node]));
  const finished = new Set<string>();
  for (const start of byId.keys()) {
    const path: string[] = [];
    const onPath = new Set<string>();
    const stack: { id: string; next: number }[] = [{ id: start, next: 0 }];
    while (stack.length > 0) {
      const frame = stack.at(-1) as { id: string; next: number };
      if (frame.next === 0) {
        path.push(frame.id);
        onPath.add(frame.id);
      }
      const dependency = byId.get(frame.id)?.dependsOn[frame.next++];
      if (dependency === undefined) {
        finished.add(frame.id);
        onPath.delete(frame.id);
        path.pop();
        stack.pop();
      } else if (onPath.has(dependency)) {
        return [...path.slice(path.indexOf(dependency)), dependency];
      } else if (byId.has(dependency) && !finished.has(dependency)) {
        stack.push({ id: dependency, next: 0 });
      }
    }
  }
  return null;
}

type Modules = Map<GraphNode, ModuleDefinition>;

function checkModules(graph: Graph, registry: Registry, check: GraphCheck): Modules {
  const modules: Modules = new Map();
  for (const node of graph.nodes) {
    const definition = registry.get(node.moduleType);
    if (!definition) {
      const near = check.errors.length < maxSuggestions ? nearest(node.moduleType, registry.names()) : null;
      const message = `"${node.moduleType}" is not a registered module`;
      check.errors.push(issue('module', message, node, 'module_type', near && `did you mean "${near}"?`));
      continue;
    }
    modules.set(node, definition);
    if (definition.unavailable !== undefined) {
      const message = `the module of plugin "${definition.name}" is not available, so this node fails: ${definition.unavailable}`;
      check.warnings.push(issue('unavailable', message, node, 'module_type', 'start the plugin'));
      continue;
    }
    for (const key of node.produces.filter((name) => !definition.provides.includes(name))) {
      check.errors.push(issue('data_flow', `${definition.name} does not provide "${key}"`, node, 'produces'));
    }
    for (const problem of validateOptions(definition.options, node.config).problems) {
      const message = `option ${problem.field} of ${definition.name} ${problem.reason}`;
      check.errors.push(
        issue(
          'option',
          message,
          node,
          `config.${problem.field}`,
          optionFix(problem.field, definition, check),
        ),
      );
    }
  }
  return modules;
}

/** For a mistyped option. */
function optionFix(name: string, { options }: ModuleDefinition, { errors }: GraphCheck): string | null {
  if (Object.hasOwn(options, name) || errors.length >= maxSuggestions) return null;
  const near = nearest(name, Object.keys(options));
  return near && `did you mean "${near}"?`;
}

/** IDs of all direct and indirect dependencies of a node. */
export function ancestorsOf(node: GraphNode, graph: Graph): Set<string> {
  const byId = new Map(graph.nodes.map((candidate) => [candidate.instanceId, candidate]));
  const found = new Set<string>();
  const open = [...node.dependsOn];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(byId.get(id)?.dependsOn ?? []));
  }
  return found;
}

function checkDataFlow(graph: Graph, modules: Modules, check: GraphCheck): void {
  for (const [node, definition] of modules) {
    const ancestors = ancestorsOf(node, graph);
    const available = new Set(['targets']);
    let isKnown = true;
    for (const [other, otherDefinition] of modules) {
      if (!ancestors.has(other.instanceId)) continue;
      if (otherDefinition.unavailable !== undefined) isKnown = false;
      for (const key of otherDefinition.provides) {
        available.add(key);
        available.add(instanceKey(other, key));
      }
    }
    // What an unavailable module provides is not known: the plan skips the nodes that lack an input.
    if (!isKnown) continue;
    for (const requirement of [...definition.requires, ...node.consumes]) {
      if (requirement.split('|').some((key) => available.has(key))) continue;
      const producers = [...modules].filter(([, d]) =>
        requirement.split('|').some((key) => d.provides.includes(key)),
      );
      const fix =
        producers.length > 0 ? `depend on ${producers.map(([n]) => n.instanceId).join(' or ')}` : null;
      const message = `${definition.name} requires "${requirement.replaceAll('|', '" or "')}", which no upstream node provides`;
      check.errors.push(issue('data_flow', message, node, 'depends_on', fix));
    }
  }
}

/** `<module_type>.<instance_id>.<output>` */
export function instanceKey(node: Pick<GraphNode, 'instanceId' | 'moduleType'>, key: string): string {
  return `${node.moduleType}.${node.instanceId}.${key}`;
}

function checkWriters(graph: Graph, modules: Modules, check: GraphCheck): void {
  const writers = new Map<string, GraphNode>();
  for (const node of graph.nodes) {
    for (const key of modules.get(node)?.provides ?? []) {
      const first = writers.get(key);
      if (first && !isStandardKey(key)) {
        const message = `writes "${key}", which "${first.instanceId}" writes too, and no merge rule exists for it`;
        check.errors.push(issue('two_writers', message, node, 'module_type'));
      }
      writers.set(key, node);
    }
  }
}

function warnOfMetadata({ metadata: { vuln } }: Graph, check: GraphCheck): void {
  if (vuln === undefined || vuln === null || typeof vuln === 'boolean') return;
  const message = 'metadata.vuln is neither true nor false: it has no effect';
  check.warnings.push(issue('metadata', message, null, 'metadata.vuln', 'write vuln: true'));
}

function warnWithoutReporter(modules: Modules, check: GraphCheck): void {
  const types = [...modules.values()].map((definition) => definition.type);
  if (types.length > 0 && !types.includes('reporter')) {
    check.warnings.push(
      issue('no_reporter', 'the graph has no reporter: no report file will be written', null, 'nodes'),
    );
  }
}
