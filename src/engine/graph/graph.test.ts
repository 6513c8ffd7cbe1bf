import { describe, expect, it } from 'vitest';
import { defineModule } from '../module.ts';
import { Registry } from '../registry.ts';
import { loadGraph } from './graph.ts';
import { formatIssue } from './graph-library.ts';
import { validateGraph } from './validate.ts';

const registry = new Registry();
registry.register(
  defineModule({
    name: 'finder',
    type: 'discovery',
    version: '1.0.0',
    description: 'finds',
    options: { retry: { Type: 'int', Description: 'Tries.', Default: 2, Min: 0, Max: 10 } },
    requires: ['targets'],
    provides: ['discovered_hosts'],
    async execute() {},
  }),
  'test',
);
registry.register(
  defineModule({
    name: 'sweeper',
    type: 'scanner',
    version: '1.0.0',
    description: 'sweeps',
    options: { timeout: { Type: 'duration', Description: 'Wait.', Default: '3s', Min: 100 } },
    requires: ['discovered_hosts|targets'],
    provides: ['open_ports', 'private_notes'],
    async execute() {},
  }),
  'test',
);
registry.register(
  defineModule({
    name: 'talker',
    type: 'scanner',
    version: '1.0.0',
    description: 'talks',
    options: {},
    requires: ['open_ports'],
    provides: ['banners'],
    async execute() {},
  }),
  'test',
);

function problems(text: string): string[] {
  const { graph, issues } = loadGraph(text, 'test');
  const all = issues.length > 0 ? issues : validateGraph(graph, registry).errors;
  return all.map(formatIssue);
}

describe('graph files', () => {
  it('says once that a file is nested too deeply', () => {
    expect(problems('['.repeat(100_000))).toEqual([
      expect.stringMatching(/^1:\d+: the document is nested too deeply$/),
    ]);
  });

  it('accepts the documented form, JSON too, and a bare list of nodes', () => {
    expect(problems('nodes:\n  - {instance_id: a, module_type: finder, config: {retry: 3}}\n')).toEqual([]);
    expect(problems('{"name":"x","nodes":[{"id":"a","module":"finder"}]}')).toEqual([]);
  });

  it('warn of a metadata.vuln that is no boolean', () => {
    const warnings = (vuln: string) => {
      const text = `metadata: {vuln: ${vuln}}\nnodes: [{id: a, module: finder}]\n`;
      return validateGraph(loadGraph(text, 'test').graph, registry).warnings.map(({ type }) => type);
    };
    expect([warnings('"true"'), warnings('true')]).toEqual([['no_reporter', 'metadata'], ['no_reporter']]);
  });

  it.each([
    [
      'nodes:\n  - instance_id: a\n    module_type: findr\n',
      '3:18: node "a", module_type: "findr" is not a registered module (did you mean "finder"?)',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: finder, config: {retry: 99}}\n',
      '2:59: node "a", config.retry: option retry of finder must be at most 10, not 99',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: finder, config: {retry: "3"}}\n',
      '2:59: node "a", config.retry: option retry of finder must be a whole number, not "3"',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: finder, config: {speed: 1}}\n',
      '2:59: node "a", config.speed: option speed of finder is unknown; known options: retry',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: sweeper, config: {timeout: 3}}\n',
      '2:62: node "a", config.timeout: option timeout of sweeper must be a duration such as 2s or 500ms, not 3',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: finder, depends_on: [b]}\n',
      '2:55: node "a", depends_on: depends on "b", which is not a node of this graph',
    ],
    [
      'nodes:\n  - {instance_id: t, module_type: talker}\n',
      '2:5: node "t", depends_on: talker requires "open_ports", which no upstream node provides',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: finder}\n  - {instance_id: a, module_type: finder}\n',
      '3:19: node "a", instance_id: the instance_id "a" is used twice (give each node a unique instance_id)',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: finder, condition: "${vul}"}\n',
      '2:54: node "a", condition: unknown variable ${vul}; known: vuln, profile, discover, privileged, compliance, intrusive',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: finder, timeout: 5}\n',
      '2:52: node "a", timeout: timeout must be a duration such as 30s',
    ],
    [
      'nodes:\n  - {instance_id: a, module_type: finder, colour: red}\n',
      '2:43: node "a", colour: unknown field "colour"; known: instance_id, id, module_type, module, config, depends_on, condition, consumes, produces, timeout, retry',
    ],
    ['nodes: []\n', '1:8: nodes: the graph has no nodes'],
    ['name: x\n', '1:1: nodes: a list "nodes" is required'],
    ['', '1:1: nodes: the document is empty; it needs a list "nodes"'],
  ])('says exactly what is wrong: %j', (text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });

  it('prints the path of a cycle', () => {
    const text = `nodes:
  - {instance_id: a, module_type: finder, depends_on: [c]}
  - {instance_id: b, module_type: finder, depends_on: [a]}
  - {instance_id: c, module_type: finder, depends_on: [b]}
`;
    expect(problems(text)).toEqual([
      '2:55: node "a", depends_on: the dependencies form a cycle: a -> c -> b -> a',
    ]);
  });

  it('refuses two writers of a key that has no merge rule', () => {
    const text = `nodes:
  - {instance_id: a, module_type: sweeper}
  - {instance_id: b, module_type: sweeper}
`;
    expect(problems(text)).toEqual([
      '3:35: node "b", module_type: writes "private_notes", which "a" writes too, and no merge rule exists for it',
    ]);
  });

  it('warns of a node whose plugin is not available, and does not blame those that follow it', () => {
    const plugin = defineModule({
      name: 'remote_notes',
      type: 'evaluation',
      version: '0.0.0',
      description: 'remote',
      options: {},
      requires: [],
      provides: [],
      async execute() {},
    });
    const more = new Registry();
    for (const definition of [{ ...plugin, unavailable: 'connection refused' }, ...registry.list()]) {
      more.register(definition, 'test');
    }
    const text = `nodes:
  - {instance_id: a, module_type: remote_notes, config: {depth: 3}, produces: [notes]}
  - {instance_id: b, module_type: talker, depends_on: [a]}
`;
    const { errors, warnings } = validateGraph(loadGraph(text, 'test').graph, more);
    expect(errors).toEqual([]);
    expect(warnings.map(formatIssue)[0]).toBe(
      '2:35: node "a", module_type: the module of plugin "remote_notes" is not available, so this node fails: connection refused (start the plugin)',
    );
  });

  it('refuses YAML traps with a line, and runs nothing', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 12; i++) {
      const [name, previous] = [String.fromCharCode(97 + i), String.fromCharCode(96 + i)];
      bomb.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${previous}`).join(',')}]`);
    }
    const traps: [string, RegExp][] = [
      [`${bomb.join('\n')}\nnodes: *l\n`, /^\d+:\d+: /],
      ['nodes: !!js/function "function(){ process.exit(1) }"\n', /^1:8: /],
      ['base: &b {x: 1}\nnodes:\n  - <<: *b\n    instance_id: a\n    module_type: finder\n', /^\d+:\d+: /],
      ['nodes:\n\t- {instance_id: a}\n', /^2:/],
      ['nodes: []\nnodes: []\n', /^2:1: .*unique/i],
      [`nodes: [${'x'.repeat(10 * 1024 * 1024)}]`, /^1:1: the file is larger than 1 MiB/],
      ['nodes:\n  - {instance_id: a, module_type: finder\n', /^\d+:\d+: /],
    ];
    for (const [text, expected] of traps) {
      // The bomb alone would be 9^11 words.
      expect(problems(text)[0]).toMatch(expected);
    }
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});
