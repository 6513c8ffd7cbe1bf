import { expect, it } from 'vitest';
import { loadGraph } from '../../engine/graph/graph.ts';
import { validateGraph } from '../../engine/graph/validate.ts';
import { defineModule, type ModuleType } from '../../engine/module.ts';
import { Registry } from '../../engine/registry.ts';
import { withPluginNodes } from './plugin-nodes.ts';

function registryOf(types: Record<string, [ModuleType, string[], string[]]>): Registry {
  const registry = new Registry();
  for (const [name, [type, requires, provides]] of Object.entries(types)) {
    const definition = defineModule({
      name,
      type,
      version: '1.0.0',
      description: name,
      options: {},
      requires,
      provides,
      execute: async () => undefined,
    });
    registry.register(definition, 'test');
  }
  return registry;
}

const registry = registryOf({
  ping: ['discovery', ['targets'], ['live_hosts']],
  sweep: ['scanner', ['live_hosts'], ['open_ports']],
  grab: ['scanner', ['open_ports'], ['banners']],
  write: ['reporter', [], []],
  weigh: ['evaluation', ['banners|tls_info', 'open_ports'], ['scores']],
  judge: ['evaluation', ['scores'], ['vulnerabilities']],
  lone: ['evaluation', ['nothing_provides_this'], ['other']],
});

const { graph } = loadGraph(
  `nodes:
  - {id: a, module: ping}
  - {id: b, module: sweep, depends_on: [a]}
  - {id: c, module: grab, depends_on: [b]}
  - {id: report, module: write, depends_on: [b]}
`,
  'some',
);

const named = (types: readonly string[]) => types.map((type) => ({ type, stage: null, isOptional: false }));
const edges = (types: string[], given = graph) =>
  Object.fromEntries(
    withPluginNodes(given, named(types), registry).nodes.map(({ instanceId, dependsOn }) => [
      instanceId,
      dependsOn,
    ]),
  );

it('a plugin waits for those that provide what it requires, and reporters wait for it', () => {
  expect(edges(['weigh'])).toEqual({ a: [], b: ['a'], c: ['b'], report: ['b', 'weigh'], weigh: ['b', 'c'] });
  const check = validateGraph(withPluginNodes(graph, named(['weigh']), registry), registry);
  expect(check.errors).toEqual([]);
});

it('a plugin that requires what another one provides waits for it, in whatever order they are named', () => {
  const expected = { weigh: ['b', 'c'], judge: ['weigh'], report: ['b', 'weigh', 'judge'] };
  expect(edges(['judge', 'weigh'])).toMatchObject(expected);
  expect(edges(['weigh', 'judge'])).toMatchObject(expected);
});

it('a module that the graph names is not added again, and an id that is taken is not reused', () => {
  expect(edges(['sweep', 'grab'])).toEqual(edges([]));
  const { graph: named } = loadGraph('nodes:\n  - {id: weigh, module: ping}\n', 'other');
  expect(Object.keys(edges(['weigh'], named))).toEqual(['weigh', 'weigh-2']);
});

it('a plugin whose inputs nobody provides has a node, which the plan skips with its reason', () => {
  expect(edges(['lone'])['lone']).toEqual([]);
});

const reading = registryOf({
  grab: ['scanner', ['targets'], ['banners']],
  read: ['parser', ['banners'], ['parsed_services']],
  name: ['fingerprint', ['parsed_services'], ['service_fingerprints']],
  judge: ['evaluation', ['service_fingerprints'], ['vulnerabilities']],
  write: ['reporter', [], []],
  more: ['parser', ['banners'], ['parsed_services']],
  weigh: ['evaluation', ['service_fingerprints'], ['vulnerabilities']],
  lone: ['evaluation', ['nothing_provides_this'], ['other']],
});
const builtin = loadGraph(
  `nodes:
  - {id: a, module: grab}
  - {id: b, module: read, depends_on: [a]}
  - {id: c, module: name, depends_on: [b]}
  - {id: d, module: judge, depends_on: [c]}
  - {id: report, module: write, depends_on: [d]}
`,
  'builtin',
).graph;

it('later stages that read what a plugin with a stage provides wait for it', () => {
  const joined = withPluginNodes(builtin, [{ type: 'more', stage: 'parser', isOptional: true }], reading);
  const found = Object.fromEntries(joined.nodes.map(({ instanceId, dependsOn }) => [instanceId, dependsOn]));
  expect(found).toEqual({ a: [], b: ['a'], c: ['b', 'more'], d: ['c'], report: ['d', 'more'], more: ['a'] });
  expect(validateGraph(joined, reading).errors).toEqual([]);
});

it('an installed plugin evaluates only where the scan does, and joins no graph that lacks what it requires', () => {
  const joining = ['weigh', 'lone'].map((type) => ({ type, stage: 'evaluation' as const, isOptional: true }));
  const { nodes } = withPluginNodes(builtin, joining, reading);
  const off = { profile: 'x', discover: true, privileged: false, compliance: false, intrusive: false };
  expect(nodes.map(({ moduleType }) => moduleType)).not.toContain('lone');
  const { condition } = nodes.find(({ moduleType }) => moduleType === 'weigh') ?? {};
  expect([condition?.({ ...off, vuln: true }), condition?.({ ...off, vuln: false })]).toEqual([true, false]);
});
