import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DiscoveryOutcome, DiscoveryTrial } from '../../../test/discovery-trial.ts';
import { tryModule } from '../../../test/module-trial.ts';
import { canMakeNamespaces, Namespace, type OrderTaker } from '../../net/packets/fixtures/namespace.ts';
import arp_discovery from './arp_discovery.ts';

const script = fileURLToPath(new URL('../../../test/discovery-trial.ts', import.meta.url));

describe('arp_discovery', () => {
  it('passes loopback over in silence: it is no link', async () => {
    const trial = await tryModule(arp_discovery, {
      inputs: { targets: [] },
      targets: ['127.0.0.0/24', '::1'],
    });
    expect(trial.published.size).toBe(0);
    expect(trial.warnings).toEqual([]);
    expect(trial.gate.packetsSent).toBe(0);
  });
});

describe.skipIf(!canMakeNamespaces)('arp_discovery on the links of a namespace', () => {
  let own: Namespace;
  let peer: Namespace;
  let trials: OrderTaker;
  const live = [2, 3, 77, 200, 253].map((at) => `10.9.0.${at}`);

  beforeAll(() => {
    own = new Namespace();
    peer = new Namespace();
    trials = own.serve(script);
    for (const name of ['eth0', 'eth1', 'eth2']) own.join(name, peer);
    peer.ip('link set eth0 address 00:0c:29:00:00:02');
    own.ip('addr add 10.9.0.1/24 dev eth0');
    own.ip('addr add fd09::1/64 dev eth0 nodad');
    for (const address of live) peer.ip(`addr add ${address}/24 dev eth0`);
    peer.ip('addr add fd09::5/64 dev eth0 nodad');
    own.ip('addr add 10.8.0.1/24 dev eth1');
    peer.ip('addr add 10.8.0.2/24 dev eth1');
    own.ip('addr add 10.7.0.1/24 dev eth2');
    peer.ip('link set eth2 down');
    own.ip('route add 10.20.0.0/16 via 10.9.0.2');
  });

  afterAll(async () => {
    await trials?.close();
    own?.close();
    peer?.close();
  });

  const run = (more: Omit<DiscoveryTrial, 'module'>) => {
    const trial = { module: 'arp_discovery', ...more };
    // Rights that a process gave up do not come back.
    return more.unprivileged ? own.run<DiscoveryOutcome>(script, trial) : trials.do<DiscoveryOutcome>(trial);
  };
  const quick = { timeout: '200ms', retry: 1, rate: 100_000 };

  it('finds the hosts of attached networks with MAC and vendor, and sends nothing beyond them', async () => {
    const { hosts, warnings, sent, state } = await run({
      targets: ['10.0.0.0/8', 'fd09::/120'],
      config: quick,
    });
    expect(hosts.map(({ ip }) => ip).sort()).toEqual([...live, '10.8.0.2', 'fd09::5'].sort());
    expect(hosts.find(({ ip }) => ip === '10.9.0.77')).toMatchObject({
      mac: '00:0c:29:00:00:02',
      vendor: 'VMware',
      method: 'arp',
      latency_ms: expect.any(Number),
    });
    expect(hosts.find(({ ip }) => ip === 'fd09::5')).toMatchObject({ method: 'ndp' });
    // The MAC of the other link is a random one, given locally.
    expect(hosts.find(({ ip }) => ip === '10.8.0.2')).not.toHaveProperty('vendor');
    expect(warnings).toEqual([
      'link_down: interface eth2 has no carrier: 254 addresses on it were not probed',
    ]);
    // Two /24 without broadcast and own address, and a /120: the silent ones twice.
    const requested = 254 + 254 + 255;
    expect(sent).toBeLessThanOrEqual(2 * requested);
    expect(state).toMatchObject({ open: [] });
  });

  it('sends on one interface only if configured, and names the available ones', async () => {
    const targets = ['10.8.0.0/23', '10.9.0.0/24'];
    const { hosts } = await run({ targets, config: { ...quick, interface: 'eth1' } });
    expect(hosts.map(({ ip }) => ip)).toEqual(['10.8.0.2']);
    const missing = await run({ targets, config: { ...quick, interface: 'eth9' } });
    expect(missing.error).toBe('no such interface: eth9');
    const dead = await run({ targets: ['10.7.0.0/24'], config: { ...quick, interface: 'eth2' } });
    expect(dead.error).toMatch(/^interface eth2 has no carrier: 253 addresses/);
  });

  it('names the right that is missing', async () => {
    const { hosts, warnings, sent } = await run({ targets: ['10.9.0.0/24'], unprivileged: true });
    expect(warnings).toEqual([
      'arp_unavailable: ARP discovery skipped: cannot open a packet socket (EPERM); grant CAP_NET_RAW',
    ]);
    expect(hosts).toEqual([]);
    expect(sent).toBe(0);
  });

  it('keeps to its rate', async () => {
    const startedAt = performance.now();
    const { sent } = await run({
      targets: ['10.9.0.0/24'],
      config: { timeout: '100ms', retry: 0, rate: 200 },
    });
    expect(performance.now() - startedAt).toBeGreaterThan(((sent - 12) / 200) * 1000);
    expect(sent).toBe(253);
  });

  it.each(['cancel', 'hold', 'narrow'] as const)('sends nothing after %s', async (what) => {
    const config = { timeout: '300ms', retry: 0, rate: 200 };
    const { sentAfter } = await run({ targets: ['10.9.0.0/26'], config, after: { packets: 30, what } });
    const [before, later] = sentAfter ?? [0, 1000];
    expect(before).toBeGreaterThan(0);
    // What had its token already may be on the way.
    expect(later - before).toBeLessThan(8);
  });

  it('goes on after a pause and misses nothing', async () => {
    const config = { timeout: '300ms', retry: 1, rate: 400 };
    const { hosts } = await run({ targets: ['10.9.0.0/24'], config, after: { packets: 60, what: 'hold' } });
    expect(hosts.map(({ ip }) => ip).sort()).toEqual([...live].sort());
  });

  it('goes on where it was, unless the networks changed', async () => {
    const targets = ['10.9.0.0/24'];
    const config = { timeout: '100ms', retry: 0, rate: 200 };
    const first = await run({ targets, config, after: { packets: 100, what: 'cancel' } });
    expect(first.sent).toBeLessThan(253);
    const quickly = { ...config, rate: 5000 };
    const second = await run({ targets, config: quickly, restored: first.state });
    const { taken, open } = first.state as { taken: number; open: string[] };
    expect(second.sent).toBe(253 - taken + open.length);
    const found = new Set([...first.hosts, ...second.hosts].map(({ ip }) => ip));
    expect([...found].sort()).toEqual([...live].sort());
    const other = await run({ targets: ['10.8.0.0/24'], config: quickly, restored: first.state });
    expect(other.sent).toBe(253);
  });

  it('sends no request to excluded addresses', async () => {
    const capture = () => Number(peer.exec('cat', '/sys/class/net/eth0/statistics/rx_packets'));
    const before = capture();
    const { hosts, sent } = await run({ targets: ['10.9.0.70-10.9.0.80'], config: { ...quick, retry: 0 } });
    expect(hosts.map(({ ip }) => ip)).toEqual(['10.9.0.77']);
    expect(sent).toBe(11);
    expect(capture() - before).toBeLessThan(20);
  });
});
