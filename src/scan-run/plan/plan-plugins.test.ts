import { expect, it } from 'vitest';
import { loadGraph } from '../../engine/graph/graph.ts';
import { defineModule } from '../../engine/module.ts';
import { Registry } from '../../engine/registry.ts';
import type { PlannedPlugin } from '../../plugins/plugin.ts';
import { graphsWith, pluginsFor } from './plan-plugins.ts';

function script(more: Partial<PlannedPlugin['file']> = {}, off = false): PlannedPlugin {
  const file = {
    name: 'old-ssh',
    version: '1.0.0',
    kind: 'script' as const,
    sha256: 'ab',
    archive: true,
    entry: 'main.mjs',
    permissions: [],
    source: 'installed',
    ...more,
  };
  const metadata = { name: 'old_ssh', type: 'evaluation' as const, version: '1.0.0', description: '' };
  const keys = { options: {}, requires: ['banners'], provides: ['vulnerabilities'] };
  return { file, metadata: { ...metadata, ...keys }, added: false, off };
}
const rules: PlannedPlugin = { ...script({ kind: 'rules', name: 'more-rules' }), metadata: null };

const registry = new Registry();
const define = (name: string, requires: string[], provides: string[]) =>
  registry.register(
    defineModule({
      name,
      type: 'evaluation',
      version: '1.0.0',
      description: '',
      options: {},
      requires,
      provides,
      execute: async () => undefined,
    }),
    'test',
  );
define('grab', ['targets'], ['banners']);
define('ping', ['targets'], ['discovered_hosts']);
define('rule_evaluator', ['banners'], ['vulnerabilities']);
define('old_ssh', ['banners'], ['vulnerabilities']);

const graph = (name: string, source: string, ...modules: string[]) => ({
  name,
  source,
  graph: loadGraph(
    `nodes:\n${modules.map((module, at) => `  - {id: n${at}, module: ${module}}\n`).join('')}`,
    name,
  ).graph,
});
const graphs = [
  graph('usual', 'builtin', 'grab', 'rule_evaluator'),
  graph('hosts', 'builtin', 'ping'),
  graph('mine', 'workspace', 'grab'),
  graph('named', 'workspace', 'grab', 'old_ssh'),
];

it('a plugin runs where a graph names it, with a stage also in builtin graphs that have what it requires', () => {
  expect(graphsWith(script(), graphs, registry)).toEqual(['named']);
  expect(graphsWith(script({ stage: 'evaluation' }), graphs, registry)).toEqual(['usual', 'named']);
  expect(graphsWith({ ...script(), added: true }, graphs.slice(0, 1), registry)).toEqual(['usual']);
  expect(graphsWith(rules, graphs, registry)).toEqual(['usual']);
});

it('a plugin that is switched off runs nowhere', () => {
  expect(graphsWith(script({ stage: 'evaluation' }, true), graphs, registry)).toEqual([]);
  expect(graphsWith({ ...rules, off: true }, graphs, registry)).toEqual([]);
});

it('a scan takes along what runs in it, and the module of a graph also where its plugin is switched off', () => {
  const [usual, , mine, named] = graphs.map((each) => ({ ...each, isBuiltin: each.source === 'builtin' }));
  const plugins = [script({ stage: 'evaluation' }), rules];
  const taken = (planned: typeof usual, off: string[] = []) =>
    pluginsFor(planned, plugins, off).map(({ file, added }) => [file.name, added]);
  expect(taken(usual)).toEqual([
    ['old-ssh', true],
    ['more-rules', false],
  ]);
  expect(taken(mine)).toEqual([['more-rules', false]]);
  expect(taken(usual, ['old-ssh', 'more-rules'])).toEqual([]);
  expect(taken(named, ['old-ssh', 'more-rules'])).toEqual([['old-ssh', false]]);
});
