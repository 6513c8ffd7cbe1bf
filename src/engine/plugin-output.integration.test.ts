import { describe, expect, it } from 'vitest';
import { parseTargets } from '../domain/targets/target.ts';
import type { NetworkGate } from '../net/gate/gate.ts';
import { moduleOf, runTrial } from './fixtures/graph-trial.ts';
import type { DataContext, ModuleDefinition } from './module.ts';
import type { RunEnvironment } from './run.ts';

const producer = { name: 'my_plugin', version: '1.2.3', sha256: 'ab'.repeat(32) };
const finding = (id: string) => ({ host: '192.0.2.7', id, title: id, severity: 'high' });
const graph = `nodes:
  - {instance_id: p, module_type: my_plugin}
  - {instance_id: r, module_type: reader, depends_on: [p]}
`;

async function trial(
  publish: (data: DataContext) => Promise<void>,
  environment: Partial<RunEnvironment> = {},
) {
  const read: unknown[] = [];
  const provides = ['vulnerabilities', 'my_key'];
  const plugin: ModuleDefinition = {
    ...moduleOf('my_plugin', 'evaluation', { provides }, (_, data) => publish(data)),
    producer,
  };
  const reader = moduleOf('reader', 'evaluation', { requires: ['vulnerabilities'] }, async (_, data) => {
    for await (const item of data.stream('vulnerabilities')) read.push((item as { id: string }).id);
  });
  const net = { addresses: parseTargets(['192.0.2.7']).addresses } as NetworkGate;
  const result = await runTrial({ modules: [plugin, reader], graph, environment: { net, ...environment } });
  return { ...result, read, error: result.stages[0]?.error };
}

describe('a node of a plugin', () => {
  it('publishes nothing of a batch with a bad item, and fails', async () => {
    const { error, read, taps } = await trial(async (data) => {
      await data.append('vulnerabilities', finding('a'));
      await data.append<unknown>('vulnerabilities', finding('b'), { ...finding('c'), severity: 1 });
    });
    expect(error).toMatch(/^item 2 of "vulnerabilities" has a bad "severity"/);
    expect(read).toEqual(['a']);
    expect(taps).toHaveLength(1);
  });

  it('fails also if it ignores the error, and publishes nothing more', async () => {
    const { error, read } = await trial(async (data) => {
      await data.append('vulnerabilities', { id: 1 }).catch(() => undefined);
      await data.append('vulnerabilities', finding('b')).catch(() => undefined);
    });
    expect(error).toMatch(/^item 0 of "vulnerabilities"/);
    expect(read).toEqual([]);
  });

  it.each([
    ['append', (data: DataContext) => data.append('open_ports', { host: '192.0.2.7', port: 1 })],
    ['set', (data: DataContext) => data.set('open_ports', [])],
  ])('fails for a key that it does not declare: %s', async (_, publish) => {
    const { error } = await trial((data) => publish(data).catch(() => undefined));
    expect(error).toBe('this module does not declare "open_ports" in the keys it provides');
  });

  it('publishes up to its limits, over all its batches; a warning counts what was dropped', async () => {
    const { states, read, taps, warnings } = await trial(
      async (data) => {
        await data.append('vulnerabilities', finding('a'), finding('b'));
        await data.append('vulnerabilities', finding('c'), finding('d'));
        await data.set('my_key', { more: true });
      },
      { pluginOutput: { node_items: 3, node_bytes: 1e6, scan_items: 1e6, scan_bytes: 1e6 } },
    );
    expect(states['p']).toBe('completed');
    expect(read).toEqual(['a', 'b', 'c']);
    expect(taps).toHaveLength(3);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^p: my_plugin published too much: 2 items beyond plugins\.limits\.node_items \(3\) dropped, 3 kept/,
      ),
    ]);
  });

  it('drops results about hosts outside of the scan, with one warning', async () => {
    const { states, read, warnings } = await trial(async (data) => {
      await data.set('vulnerabilities', [finding('a'), { ...finding('b'), host: '192.0.2.8' }]);
      await data.set('my_key', { host: '192.0.2.9' });
    });
    expect(states['p']).toBe('completed');
    expect(read).toEqual(['a']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('hosts that are not addresses of the scan, such as 192.0.2.8');
  });
});
