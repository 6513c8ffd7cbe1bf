import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DiscoveryOutcome, DiscoveryTrial } from '../../../test/discovery-trial.ts';
import { tryModule } from '../../../test/module-trial.ts';
import type { Host } from '../../domain/host.ts';
import { canMakeNamespaces, Namespace, type OrderTaker } from '../../net/packets/fixtures/namespace.ts';
import icmp_discovery from './icmp_discovery.ts';

const script = fileURLToPath(new URL('../../../test/discovery-trial.ts', import.meta.url));

const hosts = (trial: { published: Map<string, unknown[]> }) =>
  (trial.published.get('discovered_hosts') ?? []) as Host[];

describe('icmp_discovery', () => {
  it('finds every host of a network once, by TCP where it may send no ICMP', async () => {
    const trial = await tryModule(icmp_discovery, {
      config: { timeout: '500ms', rate: 100_000 },
      inputs: { targets: [] },
      targets: ['127.67.0.0/24', '::1'],
    });
    const { method } = trial.gate.pingMethod();
    if (method === 'none') {
      expect(trial.warnings[0]).toMatch(/^icmp_unavailable: .*CAP_NET_RAW.*ping_group_range/);
      expect(new Set(hosts(trial).map((found) => found.method))).toEqual(new Set(['tcp-rst']));
    }
    expect(new Set(hosts(trial).map(({ ip }) => ip)).size).toBe(255);
    expect(hosts(trial)).toHaveLength(255);
    if (method === 'none') return;
    expect(hosts(trial).find(({ ip }) => ip === '::1')).toMatchObject({ method: 'icmp-echo' });
    for (const { latency_ms } of hosts(trial)) expect(latency_ms).toBeGreaterThanOrEqual(0);
  });
});

describe.skipIf(!canMakeNamespaces)('icmp_discovery with timestamps', () => {
  let own: Namespace;
  let peer: Namespace;
  let trials: OrderTaker;

  beforeAll(() => {
    own = new Namespace();
    peer = new Namespace();
    trials = own.serve(script);
    own.join('eth0', peer);
    own.ip('addr add 10.9.0.1/24 dev eth0');
    own.ip('addr add fd09::1/64 dev eth0 nodad');
    for (const at of [2, 3]) peer.ip(`addr add 10.9.0.${at}/24 dev eth0`);
    peer.ip('addr add fd09::5/64 dev eth0 nodad');
    for (const key of ['icmp_ratelimit=0', 'icmp_msgs_per_sec=100000'])
      peer.exec('sysctl', '-qw', `net.ipv4.${key}`);
  });

  afterAll(async () => {
    await trials?.close();
    own?.close();
    peer?.close();
  });

  const run = ({ types, ...more }: Partial<DiscoveryTrial> & { types: string }) => {
    const trial = {
      module: 'icmp_discovery',
      targets: ['10.9.0.2', '10.9.0.3', '10.9.0.9', 'fd09::5'],
      config: { timeout: '300ms', retry: 1, rate: 100_000, types },
      ...more,
    };
    // Rights that a process gave up do not come back.
    return more.unprivileged ? own.run<DiscoveryOutcome>(script, trial) : trials.do<DiscoveryOutcome>(trial);
  };
  const found = ({ hosts }: DiscoveryOutcome) => hosts.map(({ ip, method }) => `${ip} ${method}`).sort();

  it('takes a timestamp for a sign of life; IPv6 has none, which is said', async () => {
    const outcome = await run({ types: 'timestamp' });
    expect(found(outcome)).toEqual(['10.9.0.2 icmp-timestamp', '10.9.0.3 icmp-timestamp']);
    for (const { latency_ms } of outcome.hosts) expect(latency_ms).toBeGreaterThan(0);
    expect(outcome.warnings).toEqual([
      'timestamp_unavailable: IPv6 addresses are not probed: ICMPv6 has no timestamps',
    ]);
    // The silent one twice.
    expect(outcome.sent).toBe(4);
  });

  it('tries the other message type when the first gets no response', async () => {
    expect(found(await run({ types: 'echo,timestamp' }))).toEqual([
      '10.9.0.2 icmp-echo',
      '10.9.0.3 icmp-echo',
      'fd09::5 icmp-echo',
    ]);
    peer.exec('sysctl', '-qw', 'net.ipv4.icmp_echo_ignore_all=1');
    try {
      const outcome = await run({ types: 'echo,timestamp' });
      expect(found(outcome)).toEqual([
        '10.9.0.2 icmp-timestamp',
        '10.9.0.3 icmp-timestamp',
        'fd09::5 icmp-echo',
      ]);
      // Two and two, one for IPv6, and both messages twice for the silent one.
      expect(outcome.sent).toBe(2 + 2 + 1 + 4);
      expect(outcome.warnings).toEqual([
        'timestamp_unavailable: IPv6 addresses are probed by echo only: ICMPv6 has no timestamps',
      ]);
    } finally {
      peer.exec('sysctl', '-qw', 'net.ipv4.icmp_echo_ignore_all=0');
    }
  });

  it('says that datagram sockets cannot send timestamp requests', async () => {
    own.exec('sysctl', '-qw', 'net.ipv4.ping_group_range=0 2147483647');
    const targets = ['10.9.0.2'];
    const both = await run({ types: 'echo,timestamp', targets, unprivileged: true });
    expect(found(both)).toEqual(['10.9.0.2 icmp-echo']);
    expect(both.warnings).toEqual([
      expect.stringMatching(/^timestamp_unavailable: IPv4 addresses are probed by echo only: .*CAP_NET_RAW/),
    ]);
    const alone = await run({ types: 'timestamp', targets, unprivileged: true });
    expect(alone.warnings).toEqual([expect.stringMatching(/IPv4 addresses are not probed/)]);
    expect([alone.hosts, alone.sent]).toEqual([[], 0]);
  });
});
