import { expect, it } from 'vitest';
import { drawingOf, type GraphView } from './graph-drawing.ts';
import type { GraphProblem } from './graph-text.ts';

const node = (instance_id: string, ...depends_on: string[]) => ({
  instance_id,
  module_type: `${instance_id}_x`,
  depends_on,
});
const graph: GraphView = {
  name: 'g',
  description: '',
  nodes: [node('ping'), node('connect', 'ping'), node('tls')],
  edges: [
    { from: 'ping', to: 'connect', key: 'hosts' },
    { from: 'ping', to: 'connect', key: 'a.b.live_hosts' },
  ],
};

it('draws one line for several keys', () => {
  expect(drawingOf(graph, '', []).edges).toEqual([
    { from: 'ping', to: 'connect', dashed: false, label: 'hosts, live hosts' },
  ]);
});

it('draws problems at their nodes and the dependency that was meant', () => {
  const problem: GraphProblem = {
    severity: 'error',
    line: 1,
    column: 1,
    node: 'tls',
    message: 'depends on "conect", which is not a node of this graph',
    fix: 'did you mean "connect"?',
  };
  const drawn = drawingOf(graph, 'instance_id: tls\ncondition: "${vuln}"', [problem]);
  expect(drawn.nodes[2]).toMatchObject({ problem: problem.message, condition: 'if vuln' });
  expect(drawn.edges.at(-1)).toEqual({ from: 'connect', to: 'tls', problem: true, label: 'conect' });
});
