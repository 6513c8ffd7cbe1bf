import { describe, expect, it } from 'vitest';
import { AddressSet } from '../domain/targets/address-set.ts';
import { planOf, runTrial, silent } from './fixtures/graph-trial.ts';
import { ModuleLifecycle } from './lifecycle.ts';
import type { Module, ModuleDefinition } from './module.ts';

/** A module type that records the calls of its operations. */
function recorded(calls: string[], initialize: () => void = () => undefined): ModuleDefinition {
  const name = 'recorder';
  const note = (call: string) => void calls.push(call);
  const create = (): Module => {
    let node = '';
    return {
      name: () => name,
      description: () => name,
      version: () => '1.0.0',
      configSchema: () => ({}),
      requires: () => [],
      provides: () => [],
      initialize() {
        note('initialize');
        initialize();
      },
      configure(config) {
        node = String(config['node']);
        note(`configure ${node}`);
      },
      async execute() {
        note(`execute ${node}`);
      },
      cleanup: () => note('cleanup'),
    };
  };
  const options = { node: { Type: 'string', Description: 'its name' } } as const;
  const keys = { requires: ['targets'], provides: [], reads: [] };
  const about = { name, type: 'evaluation', version: '1.0.0', description: name } as const;
  const ends = { prepare: () => note('prepare'), endScan: async () => note('end of scan') };
  return { ...about, options, ...keys, create, ...ends };
}

const graph = `nodes:
  - {instance_id: a, module_type: recorder, config: {node: a}}
  - {instance_id: b, module_type: recorder, config: {node: b}}
`;

async function scan(lifecycle: ModuleLifecycle, definition: ModuleDefinition) {
  const modules = lifecycle.forScan();
  const result = await runTrial({ modules: [definition], graph, environment: { modules } });
  await modules.end(silent);
  return result;
}

describe('the lifecycle of modules', () => {
  it('initializes and cleans up a type once per process, configures and executes each node once per scan', async () => {
    const calls: string[] = [];
    const definition = recorded(calls);
    const lifecycle = new ModuleLifecycle();
    await scan(lifecycle, definition);
    await scan(lifecycle, { ...definition });
    await lifecycle.cleanUp(silent);
    await lifecycle.cleanUp(silent);
    const times = (call: string) => calls.filter((other) => other === call).length;
    expect(calls[0]).toBe('initialize');
    expect(calls.at(-1)).toBe('cleanup');
    const counts = ['initialize', 'configure a', 'execute a', 'configure b', 'execute b', 'cleanup'].map(
      times,
    );
    expect(counts).toEqual([1, 2, 2, 2, 2, 1]);
    expect(times('end of scan')).toBe(2);
  });

  it('fails every node of a type that cannot initialize; the next scan tries again', async () => {
    const calls: string[] = [];
    let broken = true;
    const definition = recorded(calls, () => {
      if (broken) throw new Error('no rules', { cause: new Error('disk is full') });
    });
    const lifecycle = new ModuleLifecycle();
    const first = await scan(lifecycle, definition);
    expect(first.stages.map(({ error }) => error)).toEqual([
      'no rules: disk is full',
      'no rules: disk is full',
    ]);
    expect(calls).toEqual(['initialize', 'end of scan']);
    broken = false;
    const second = await scan(lifecycle, definition);
    expect(second.states).toEqual({ a: 'completed', b: 'completed' });
    expect(second.stages[0]).toMatchObject({ module_type: 'recorder', version: definition.version });
    await lifecycle.cleanUp(silent);
    expect(calls.filter((call) => call === 'initialize' || call === 'cleanup')).toEqual([
      'initialize',
      'initialize',
      'cleanup',
    ]);
  });

  it('a type that hangs while it initializes fails its nodes at their timeout', async () => {
    const definition = recorded([]);
    const hanging: ModuleDefinition = {
      ...definition,
      create: () => ({ ...definition.create(), initialize: () => new Promise(() => undefined) }),
    };
    const { stages } = await runTrial({
      modules: [hanging],
      graph: 'nodes:\n  - {instance_id: a, module_type: recorder, timeout: 20ms}\n',
    });
    expect(stages[0]?.error).toBe('ran longer than its timeout of 20 ms');
  });

  it('prepares each node once, and ends a type that was only prepared', async () => {
    const calls: string[] = [];
    const { nodes } = planOf({ modules: [recorded(calls)], graph });
    const modules = new ModuleLifecycle().forScan();
    modules.prepare(nodes, AddressSet.empty);
    modules.prepare(nodes, AddressSet.empty);
    expect(calls).toEqual(['prepare', 'prepare']);
    await modules.end(silent);
    await modules.end(silent);
    expect(calls).toEqual(['prepare', 'prepare', 'end of scan']);
  });

  it('logs what fails at the end, and goes on', async () => {
    const lines: string[] = [];
    const log = { ...silent, warn: (message: string) => void lines.push(message) };
    const definition = recorded([]);
    const failing: ModuleDefinition = {
      ...definition,
      create: () => ({
        ...definition.create(),
        cleanup: () => {
          throw new Error('busy');
        },
      }),
      endScan: () => Promise.reject(new Error('busy')),
    };
    const lifecycle = new ModuleLifecycle();
    const modules = lifecycle.forScan();
    const { states } = await runTrial({ modules: [failing], graph, environment: { modules } });
    expect(states).toEqual({ a: 'completed', b: 'completed' });
    await modules.end(log);
    await lifecycle.cleanUp(log);
    expect(lines).toEqual(['end of scan failed', 'cleanup failed']);
  });
});
