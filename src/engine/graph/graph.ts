import { isAlias, isMap, isNode, isPair, isSeq, type YAMLMap } from 'yaml';
import { nearest } from '../../domain/text/nearest.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { type Condition, compileCondition } from './condition.ts';
import { type Position, SafeYaml } from './safe-yaml.ts';

/** Maximum size of a graph file, bytes. */
export const maxGraphBytes = 1024 * 1024;
/** Maximum number of nodes in a graph. */
export const maxGraphNodes = 1000;
/** Unknown names for which a known one is suggested, per graph: comparing names takes time. */
export const maxSuggestions = 50;

/** A problem in a graph: its position and a suggested fix. */
export interface GraphIssue extends Position {
  type: string;
  message: string;
  node_id: string | null;
  field: string | null;
  fix: string | null;
}

export interface GraphNode {
  instanceId: string;
  moduleType: string;
  config: Record<string, unknown>;
  dependsOn: string[];
  condition: Condition | null;
  /** Further keys to read, plain or `<module_type>.<instance_id>.<output>`. */
  consumes: string[];
  /** Expected outputs of the node; checked against its module. */
  produces: string[];
  timeoutMs: number | null;
  retry: { attempts: number; backoffMs: number };
  /** Position of a field's value (or of the node itself) for messages; `config.ports` is resolved within the map. */
  positionOf(field: string): Position;
}

export interface Graph {
  name: string;
  description: string;
  version: string | null;
  metadata: Record<string, unknown>;
  nodes: GraphNode[];
}

/** Whether a graph looks for vulnerabilities: `metadata: { vuln: true }`. */
export function requestsVuln({ metadata }: Pick<Graph, 'metadata'>): boolean {
  return metadata['vuln'] === true;
}

export interface LoadedGraph {
  graph: Graph;
  issues: GraphIssue[];
}

const graphFields = ['name', 'description', 'version', 'metadata', 'nodes'];
const nodeFields = [
  'instance_id',
  'id',
  'module_type',
  'module',
  'config',
  'depends_on',
  'condition',
  'consumes',
  'produces',
  'timeout',
  'retry',
];
const idPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Parses a graph file (YAML or JSON). Reports every syntactic problem as an issue with line and column. */
export function loadGraph(text: string, fallbackName: string): LoadedGraph {
  return new GraphReader(text, fallbackName).read();
}

class GraphReader {
  readonly #file: SafeYaml;
  readonly #fallbackName: string;
  readonly #issues: GraphIssue[] = [];

  constructor(text: string, fallbackName: string) {
    this.#file = new SafeYaml(text, maxGraphBytes, 'a list "nodes"');
    this.#fallbackName = fallbackName;
  }

  read(): LoadedGraph {
    const graph: Graph = {
      name: this.#fallbackName,
      description: '',
      version: null,
      metadata: {},
      nodes: [],
    };
    for (const { type, message, ...position } of this.#file.problems) {
      if (type === 'form') this.#issue('syntax', message, null, 'nodes', position);
      else this.#issue(type, message, null, null, position);
    }
    if (this.#file.root) this.#readGraph(this.#file.root, graph);
    return { graph, issues: this.#issues };
  }

  #readGraph(root: YAMLMap, graph: Graph): void {
    this.#rejectUnknown(root, graphFields, null);
    graph.name = this.#textOf(root, 'name', null) ?? this.#fallbackName;
    graph.description = this.#textOf(root, 'description', null) ?? '';
    graph.version = this.#scalarText(root, 'version');
    graph.metadata = this.#map(root, 'metadata', null);
    const nodes = root.get('nodes', true);
    if (!isSeq(nodes)) {
      this.#issue('missing_field', 'a list "nodes" is required', null, 'nodes', this.#of(nodes ?? root));
      return;
    }
    if (nodes.items.length === 0)
      this.#issue('empty', 'the graph has no nodes', null, 'nodes', this.#of(nodes));
    if (nodes.items.length > maxGraphNodes) {
      this.#issue('size', `more than ${maxGraphNodes} nodes`, null, 'nodes', this.#of(nodes));
      return;
    }
    for (const item of nodes.items) {
      const node = this.#readNode(item);
      if (node) graph.nodes.push(node);
    }
  }

  #readNode(item: unknown): GraphNode | null {
    if (!isMap(item)) {
      this.#issue('type', 'a node must be a map', null, 'nodes', this.#of(item));
      return null;
    }
    const id = this.#textOf(item, 'instance_id', null) ?? this.#textOf(item, 'id', null);
    const moduleType = this.#textOf(item, 'module_type', id) ?? this.#textOf(item, 'module', id);
    this.#rejectUnknown(item, nodeFields, id);
    if (id === null)
      this.#issue('missing_field', 'instance_id is required', null, 'instance_id', this.#of(item));
    else if (!idPattern.test(id)) {
      const message = `instance_id "${id}" must start with a letter and contain only letters, digits, _ and -`;
      this.#issue('value', message, id, 'instance_id', this.#field(item, 'instance_id'));
    }
    if (moduleType === null)
      this.#issue('missing_field', 'module_type is required', id, 'module_type', this.#of(item));
    if (id === null || moduleType === null) return null;
    return {
      instanceId: id,
      moduleType,
      config: this.#map(item, 'config', id),
      dependsOn: this.#names(item, 'depends_on', id),
      condition: this.#condition(item, id),
      consumes: this.#names(item, 'consumes', id),
      produces: this.#names(item, 'produces', id),
      timeoutMs: this.#duration(item, 'timeout', id),
      retry: this.#retry(item, id),
      positionOf: (field) => this.#field(item, field),
    };
  }

  #map(map: YAMLMap, field: string, id: string | null): Record<string, unknown> {
    const value = map.get(field, true);
    if (value === undefined || (isNode(value) && value.toJSON() === null)) return {};
    if (isMap(value)) return value.toJSON() as Record<string, unknown>;
    this.#issue('type', `${field} must be a map`, id, field, this.#of(value));
    return {};
  }

  #condition(item: YAMLMap, id: string): Condition | null {
    const value = item.get('condition');
    if (value === undefined || value === null) return null;
    if (typeof value === 'boolean') return () => value;
    try {
      if (typeof value !== 'string') throw new Error('condition must be text such as "${vuln}"');
      return compileCondition(value);
    } catch (error) {
      this.#issue('condition', (error as Error).message, id, 'condition', this.#field(item, 'condition'));
      return null;
    }
  }

  #retry(item: YAMLMap, id: string): { attempts: number; backoffMs: number } {
    const none = { attempts: 1, backoffMs: 0 };
    const retry = item.get('retry', true);
    if (retry === undefined) return none;
    if (!isMap(retry)) {
      this.#issue('type', 'retry must be a map with attempts and backoff', id, 'retry', this.#of(retry));
      return none;
    }
    this.#rejectUnknown(retry, ['attempts', 'backoff'], id);
    const attempts = retry.get('attempts') ?? 1;
    if (!Number.isInteger(attempts) || (attempts as number) < 1 || (attempts as number) > 10) {
      this.#issue(
        'value',
        'retry.attempts must be a whole number from 1 to 10',
        id,
        'retry.attempts',
        this.#of(retry),
      );
      return none;
    }
    return { attempts: attempts as number, backoffMs: this.#duration(retry, 'backoff', id) ?? 1000 };
  }

  #duration(map: YAMLMap, field: string, id: string): number | null {
    const value = map.get(field);
    if (value === undefined || value === null) return null;
    const ms = typeof value === 'string' ? parseDuration(value) : null;
    if (ms === null)
      this.#issue('type', `${field} must be a duration such as 30s`, id, field, this.#field(map, field));
    return ms;
  }

  #names(map: YAMLMap, field: string, id: string): string[] {
    const value = map.get(field, true);
    if (value === undefined || (isNode(value) && value.toJSON() === null)) return [];
    const names = isSeq(value) ? (value.toJSON() as unknown[]) : null;
    if (names?.every((name) => typeof name === 'string')) return names as string[];
    this.#issue('type', `${field} must be a list of names`, id, field, this.#of(value));
    return [];
  }

  #textOf(map: YAMLMap, field: string, id: string | null): string | null {
    const value = map.get(field);
    if (value === undefined || value === null) return null;
    if (typeof value === 'string') return value;
    this.#issue('type', `${field} must be text`, id, field, this.#field(map, field));
    return null;
  }

  #scalarText(map: YAMLMap, field: string): string | null {
    const value = map.get(field);
    return value === undefined || value === null ? null : String(value);
  }

  #rejectUnknown(map: YAMLMap, known: string[], id: string | null): void {
    for (const pair of map.items) {
      const name = isPair(pair) && isNode(pair.key) ? String((pair.key as { value?: unknown }).value) : '';
      if (isAlias(pair.value) || known.includes(name)) continue;
      const near = this.#issues.length < maxSuggestions ? nearest(name, known) : null;
      this.#issue(
        'unknown_field',
        `unknown field "${name}"; known: ${known.join(', ')}`,
        id,
        name,
        this.#of(pair.key),
        near && `did you mean "${near}"?`,
      );
    }
  }

  /** Position of `a.b` below a map, or of the nearest existing part. */
  #field(map: YAMLMap, field: string): Position {
    let node: unknown = map;
    for (const name of field.split('.')) {
      const next = isMap(node) ? (node.get(name, true) ?? node.get(aliasOf(name), true)) : undefined;
      if (next === undefined) break;
      node = next;
    }
    return this.#of(node);
  }

  #of(node: unknown): Position {
    return this.#file.placeOf(node);
  }

  #issue(
    type: string,
    message: string,
    nodeId: string | null,
    field: string | null,
    position: Position,
    fix: string | null = null,
  ): void {
    this.#issues.push({ type, message, node_id: nodeId, field, fix, ...position });
  }
}

function aliasOf(field: string): string {
  return { instance_id: 'id', module_type: 'module' }[field] ?? field;
}
