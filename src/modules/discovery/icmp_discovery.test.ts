import { describe, expect, it } from 'vitest';
import { tryModule } from '../../../test/module-trial.ts';
import type { Host } from '../../domain/host.ts';
import icmp_discovery from './icmp_discovery.ts';

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
