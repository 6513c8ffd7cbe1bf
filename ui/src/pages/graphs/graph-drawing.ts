import { essentialEdges } from '../../components/graph/essential-edges.ts';
import type { GraphEdge, GraphNode } from '../../components/graph/graph-props.ts';
import { conditionsOf, type GraphProblem } from './graph-text.ts';

/** A graph as the API describes it. */
export interface GraphView {
  name: string;
  description: string;
  nodes: readonly { instance_id: string; module_type: string; depends_on: readonly string[] }[];
  /** Once for each key that goes along a dependency. */
  edges: readonly { from: string; to: string; key: string | null }[];
}

/** Nodes and edges of a picture, with the problems of the text. */
export function drawingOf(
  { nodes, edges }: GraphView,
  text: string,
  problems: readonly GraphProblem[],
): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const conditions = conditionsOf(text);
  return {
    nodes: nodes.map(({ instance_id, module_type }) => ({
      id: instance_id,
      title: instance_id,
      text: module_type,
      state: 'none',
      condition: conditions.get(instance_id),
      problem: problems.find(({ node, severity }) => node === instance_id && severity === 'error')?.message,
    })),
    edges: [...linesOf(edges, conditions), ...missingLines(problems)],
  };
}

function linesOf(edges: GraphView['edges'], conditions: ReadonlyMap<string, string>): GraphEdge[] {
  const pairs = Map.groupBy(edges, ({ from, to }) => `${from}\n${to}`);
  const drawn = essentialEdges([...pairs.values()].flatMap((keys) => keys.slice(0, 1)));
  const count = (member: 'from' | 'to', id: string) => drawn.filter((each) => each[member] === id).length;
  return [...pairs.values()].flatMap((keys) => {
    const [first] = keys;
    if (first === undefined) return [];
    const { from, to } = first;
    // Words at lines that fan out would lie on each other.
    const isAlone = count('from', from) === 1 && count('to', to) === 1;
    const names = keys.flatMap(({ key }) =>
      key === null ? [] : [key.split('.').at(-1)?.replaceAll('_', ' ') ?? key],
    );
    const label = isAlone && names.length > 0 ? names.slice(0, 2).join(', ') : undefined;
    return [{ from, to, dashed: conditions.has(to), label }];
  });
}

/** From the node that was probably meant. */
function missingLines(problems: readonly GraphProblem[]): GraphEdge[] {
  return problems.flatMap(({ node, message, fix }) => {
    const [wrong, meant] = [
      /^depends on "([^"]+)"/.exec(message)?.[1],
      /^did you mean "([^"]+)"/.exec(fix ?? '')?.[1],
    ];
    return node === null || wrong === undefined || meant === undefined
      ? []
      : [{ from: meant, to: node, problem: true, label: wrong }];
  });
}
