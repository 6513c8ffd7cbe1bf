import { afterEach, describe, expect, it } from 'vitest';
import type { Host } from '../../domain/host.ts';
import { closeServers, listen, tryModule } from '../scanner/trial-run.ts';
import icmp_discovery from './icmp_discovery.ts';
import tcp_probe_discovery from './tcp_probe_discovery.ts';

afterEach(closeServers);

const hosts = (trial: { published: Map<string, unknown[]> }) =>
  (trial.published.get('discovered_hosts') ?? []) as Host[];

describe('icmp_discovery', () => {
  it('finds every host of a network once, or says why it cannot', async () => {
    const trial = await tryModule(icmp_discovery, {
      config: { timeout: '500ms', rate: 100_000 },
      inputs: { targets: [] },
      targets: ['127.67.0.0/24', '::1'],
    });
    if (trial.gate.pingMethod().method === 'none') {
      expect(trial.warnings[0]).toMatch(/^icmp_unavailable: .*CAP_NET_RAW.*ping_group_range/);
      expect(hosts(trial)).toEqual([]);
      return;
    }
    expect(new Set(hosts(trial).map(({ ip }) => ip)).size).toBe(255);
    expect(hosts(trial)).toHaveLength(255);
    expect(hosts(trial).find(({ ip }) => ip === '::1')).toMatchObject({ method: 'icmp-echo' });
    for (const { latency_ms } of hosts(trial)) expect(latency_ms).toBeGreaterThanOrEqual(0);
  });
});

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
