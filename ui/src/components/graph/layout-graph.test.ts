import { expect, it } from 'vitest';
import type { GraphNode } from './graph-props.ts';
import { layoutGraph } from './layout-graph.ts';

const node = (id: string): GraphNode => ({ id, title: id, text: '', state: 'none' });
const nodes = ['ping', 'syn', 'http', 'ssh', 'report'].map(node);
const edges = [
  { from: 'ping', to: 'syn' },
  { from: 'syn', to: 'http' },
  { from: 'syn', to: 'ssh' },
  { from: 'http', to: 'report' },
  { from: 'ssh', to: 'report' },
];

function placeOf(direction: 'right' | 'down', room = 0) {
  const laid = layoutGraph(nodes, edges, direction, room);
  return { ...laid, at: Object.fromEntries(laid.nodes.map((each) => [each.id, each])) };
}

it('runs to the right or down', () => {
  const right = placeOf('right').at;
  expect(right['syn']?.x).toBeGreaterThan(right['ping']?.x ?? 0);
  expect(right['http']?.x).toBe(right['ssh']?.x);
  const down = placeOf('down').at;
  expect(down['report']?.y).toBeGreaterThan(down['ssh']?.y ?? 0);
});

it('gives nodes the width of the page, within limits', () => {
  expect(placeOf('right', 600).node.width).toBe(133);
  expect(placeOf('right', 4000).node.width).toBe(150);
  expect(placeOf('right', 100).node.width).toBe(88);
  expect(placeOf('down', 250).node.width).toBe(119);
  expect(placeOf('down', 2000).node.width).toBe(168);
});

it('does not overlap nodes', () => {
  const { at, node: size } = placeOf('right', 1000);
  const [a, b] = [at['http'], at['ssh']];
  expect(Math.abs((a?.y ?? 0) - (b?.y ?? 0))).toBeGreaterThanOrEqual(size.height);
});

it('puts nodes of a rank in the order of the list', () => {
  expect(placeOf('right').at['http']?.y).toBeLessThan(placeOf('right').at['ssh']?.y ?? 0);
  expect(placeOf('down').at['http']?.x).toBeLessThan(placeOf('down').at['ssh']?.x ?? 0);
});

it('takes cycles, loops and edges to nowhere', () => {
  const broken = [
    ...edges,
    { from: 'report', to: 'ping' },
    { from: 'syn', to: 'syn' },
    { from: 'gone', to: 'syn' },
  ];
  expect(layoutGraph(nodes, broken, 'down', 0).nodes).toHaveLength(5);
  expect(layoutGraph([], [], 'right', 500)).toMatchObject({ width: 0, height: 0 });
});
