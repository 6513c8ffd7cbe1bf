import { Graph, layout } from '@dagrejs/dagre';
import type { GraphEdge, GraphNode } from './graph-props.ts';

/** Sizes of a picture, pixels. */
interface Sizes {
  node: { width: number; height: number };
  /** Between nodes side by side, and between one rank and the next. */
  gap: number;
  rank: number;
}

const sizes: Record<'right' | 'down', Sizes> = {
  right: { node: { width: 110, height: 42 }, gap: 6, rank: 22 },
  down: { node: { width: 168, height: 46 }, gap: 12, rank: 32 },
};
/** A node is no narrower and no wider when the width of the page decides. */
const nodeWidths = { right: { least: 88, most: 150 }, down: { least: 96, most: 168 } };

export interface PlacedNode {
  id: string;
  x: number;
  y: number;
}

export interface GraphLayout {
  nodes: PlacedNode[];
  node: { width: number; height: number };
  width: number;
  height: number;
}

/**
 * Places nodes so that edges run in one direction. Cycles, which a text that is being edited may have, are allowed.
 * @param room width of the page for it, pixels, which the nodes of a line share
 */
export function layoutGraph(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  direction: 'right' | 'down',
  room: number,
): GraphLayout {
  const own = sizes[direction];
  const first = place(nodes, edges, direction, own);
  if (room <= 0) return first;
  const [inLine, gap] = direction === 'right' ? [rankCount(first), own.rank] : [widestRank(first), own.gap];
  const { least, most } = nodeWidths[direction];
  const fair = Math.floor((room - (inLine - 1) * gap) / Math.max(1, inLine));
  const width = Math.max(least, Math.min(most, fair));
  return place(nodes, edges, direction, { ...own, node: { ...own.node, width } });
}

/** Ranks of a picture to the right. */
function rankCount({ nodes }: GraphLayout): number {
  return new Set(nodes.map(({ x }) => Math.round(x))).size;
}

/** Most nodes side by side in a picture that runs down. */
function widestRank({ nodes }: GraphLayout): number {
  const ranks = Map.groupBy(nodes, ({ y }) => Math.round(y));
  return Math.max(0, ...[...ranks.values()].map(({ length }) => length));
}

function place(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  direction: 'right' | 'down',
  { node, gap, rank }: Sizes,
): GraphLayout {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction === 'right' ? 'LR' : 'TB', nodesep: gap, ranksep: rank });
  for (const { id } of nodes) graph.setNode(id, { ...node });
  for (const { from, to } of edges) {
    if (from !== to && graph.hasNode(from) && graph.hasNode(to)) graph.setEdge(from, to, {});
  }
  layout(graph);
  const placed = inOrder(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
      return { id, x: x - node.width / 2, y: y - node.height / 2 };
    }),
    direction,
  );
  return {
    nodes: placed,
    node,
    width: Math.max(0, ...placed.map(({ x }) => x + node.width)),
    height: Math.max(0, ...placed.map(({ y }) => y + node.height)),
  };
}

/** Mirrored if that puts more nodes of a rank into the order in which they are listed. */
function inOrder(nodes: PlacedNode[], direction: 'right' | 'down'): PlacedNode[] {
  const [rank, side] = direction === 'right' ? (['x', 'y'] as const) : (['y', 'x'] as const);
  const ranks = Map.groupBy(nodes, (each) => Math.round(each[rank]));
  const steps = [...ranks.values()].flatMap((own) =>
    own.slice(1).map((each, k) => each[side] - (own[k] as PlacedNode)[side]),
  );
  const isReversed = steps.filter((step) => step < 0).length > steps.length / 2;
  const most = Math.max(0, ...nodes.map((each) => each[side]));
  return isReversed ? nodes.map((each) => ({ ...each, [side]: most - each[side] })) : nodes;
}
