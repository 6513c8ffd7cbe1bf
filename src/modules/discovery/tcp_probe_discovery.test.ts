import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen, tryModule } from '../../../test/module-trial.ts';
import type { Host } from '../../domain/host.ts';
import tcp_probe_discovery from './tcp_probe_discovery.ts';

afterEach(closeServers);

const hosts = (trial: { published: Map<string, unknown[]> }) =>
  (trial.published.get('discovered_hosts') ?? []) as Host[];

describe('tcp_probe_discovery', () => {
  it('takes an open or a refused port as a sign of life', async () => {
    const port = await listen(() => undefined, '127.68.0.1');
    const trial = await tryModule(tcp_probe_discovery, {
      config: { ports: String(port), rate: 100_000 },
      inputs: { targets: [] },
      targets: ['127.68.0.1-127.68.0.2'],
    });
    const found = hosts(trial).sort((a, b) => a.ip.localeCompare(b.ip));
    expect(found.map(({ ip, method }) => [ip, method])).toEqual([
      ['127.68.0.1', 'tcp-syn-ack'],
      ['127.68.0.2', 'tcp-rst'],
    ]);
  });

  it('refuses the method that is not there', async () => {
    await expect(tryModule(tcp_probe_discovery, { config: { method: 'syn' } })).rejects.toThrow(
      /auto or connect/,
    );
  });
});
