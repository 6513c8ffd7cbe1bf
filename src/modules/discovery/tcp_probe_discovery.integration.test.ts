import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { DiscoveryOutcome, DiscoveryTrial } from '../../../test/discovery-trial.ts';
import { closeServers, listen, loopbackGate, tryModule } from '../../../test/module-trial.ts';
import type { Host } from '../../domain/host.ts';
import type { ScanGate } from '../../net/gate/gate.ts';
import { canMakeNamespaces, Namespace, type OrderTaker } from '../../net/packets/fixtures/namespace.ts';
import { rawObstacle } from '../../net/packets/linux/rights.ts';
import tcp_probe_discovery from './tcp_probe_discovery.ts';

const script = fileURLToPath(new URL('../../../test/discovery-trial.ts', import.meta.url));

const gates: ScanGate[] = [];
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close();
  closeServers();
});

function gateTo(targets: string[]): ScanGate {
  const gate = loopbackGate(targets) as ScanGate;
  gates.push(gate);
  return gate;
}

const hosts = (trial: { published: Map<string, unknown[]> }) =>
  (trial.published.get('discovered_hosts') ?? []) as Host[];

const methods = rawObstacle() === null ? ['auto', 'syn', 'connect'] : ['auto', 'connect'];

describe('tcp_probe_discovery', () => {
  it.each(methods)('takes an open or a refused port as a sign of life (%s)', async (method) => {
    const port = await listen(() => undefined, '127.68.0.1');
    const trial = await tryModule(tcp_probe_discovery, {
      config: { ports: String(port), rate: 100_000, method },
      inputs: { targets: [] },
      gate: gateTo(['127.68.0.1-127.68.0.2', '::1']),
    });
    const found = hosts(trial).sort((a, b) => a.ip.localeCompare(b.ip));
    expect(found.map(({ ip, method }) => [ip, method])).toEqual([
      ['::1', 'tcp-rst'],
      ['127.68.0.1', 'tcp-syn-ack'],
      ['127.68.0.2', 'tcp-rst'],
    ]);
  });

  it('sends nothing without TCP ports', async () => {
    const gate = gateTo(['127.68.0.1']);
    const trial = await tryModule(tcp_probe_discovery, {
      config: { ports: 'U:53' },
      inputs: { targets: [] },
      gate,
    });
    expect(hosts(trial)).toEqual([]);
    expect(gate.packetsSent).toBe(0);
  });
});

describe.skipIf(!canMakeNamespaces)('tcp_probe_discovery by raw packets', () => {
  let own: Namespace;
  let peer: Namespace;
  let trials: OrderTaker;
  const near = [2, 3, 77].map((at) => `10.9.0.${at}`);
  const far = Array.from({ length: 16 }, (_, at) => `10.20.0.${at}`);

  beforeAll(() => {
    own = new Namespace();
    peer = new Namespace();
    trials = own.serve(script);
    own.join('eth0', peer);
    own.ip('addr add 10.9.0.1/24 dev eth0');
    own.ip('addr add fd09::1/64 dev eth0 nodad');
    for (const address of near) peer.ip(`addr add ${address}/24 dev eth0`);
    peer.ip('addr add fd09::5/64 dev eth0 nodad');
    own.ip('route add 10.20.0.0/16 via 10.9.0.2');
    peer.ip('route add local 10.20.0.0/28 dev lo');
    peer.ip('route add blackhole 10.20.0.0/16');
    // What is sent to port 81 is swallowed before anything else is looked at.
    peer.ip('rule add pref 1 lookup local');
    peer.ip('rule del pref 0');
    peer.ip('rule add pref 0 dport 81 ipproto tcp blackhole');
  });

  afterAll(async () => {
    await trials?.close();
    own?.close();
    peer?.close();
  });

  const run = ({ config, ...more }: Omit<DiscoveryTrial, 'module'>) => {
    const trial = { module: 'tcp_probe_discovery', ...more, config: { method: 'syn', ...config } };
    // Rights that a process gave up do not come back.
    return more.unprivileged ? own.run<DiscoveryOutcome>(script, trial) : trials.do<DiscoveryOutcome>(trial);
  };
  const addressesOf = (outcomes: DiscoveryOutcome[]) =>
    outcomes.flatMap((outcome) => outcome.hosts.map(({ ip }) => ip)).sort();

  it('finds hosts near and far, and sends no SYN to those that are silent to ARP', async () => {
    const outcome = await run({
      targets: ['10.9.0.0/24', '10.20.0.0-10.20.0.63', 'fd09::/124'],
      config: { ports: '1-20', retry: 0, rate: 100_000 },
    });
    expect(outcome.error).toBeNull();
    // Local addresses are probed too, through loopback.
    expect(addressesOf([outcome])).toEqual([...near, ...far, 'fd09::5', '10.9.0.1', 'fd09::1'].sort());
    expect(new Set(outcome.hosts.map(({ method }) => method))).toEqual(new Set(['tcp-rst']));
    expect(new Set(outcome.hosts.map(({ latency_ms }) => latency_ms))).toEqual(new Set([null]));
    expect(outcome.warnings).toEqual([]);
    const requests = 3 * (254 + 16 + 1);
    const probes = 20 * (outcome.hosts.length + 64 - far.length);
    expect(outcome.sent).toBeLessThanOrEqual(requests + probes);
  });

  it('stops probing a host at its first response and sends a silent one all tries', async () => {
    const config = { ports: '80,81', retry: 2, rate: 100_000, timeout: '300ms' };
    const live = await run({ targets: ['10.20.0.0/28'], config: { ...config, retry: 0 } });
    const again = await run({ targets: ['10.20.0.0/28'], config });
    expect(addressesOf([live])).toEqual(addressesOf([again]));
    // 14 hosts and the request for the gateway; the network of 16 loses its first and last.
    expect(again.sent).toBeLessThanOrEqual(live.sent + 14);
    const silent = await run({ targets: ['10.20.0.32/28'], config });
    expect(silent.hosts).toEqual([]);
    expect(silent.sent).toBeGreaterThanOrEqual(14 * 2 * 3);
  });

  it('publishes a host long before the sweep is over', async () => {
    const outcome = await run({
      targets: ['10.20.0.0-10.20.0.15', '10.20.1.0/24'],
      config: { ports: '80', retry: 10, rate: 1000 },
      after: { hosts: 16, what: 'cancel' },
    });
    expect(outcome.error).not.toBeNull();
    expect(addressesOf([outcome])).toEqual([...far].sort());
  });

  it('goes on where it was', async () => {
    const targets = ['10.20.0.0-10.20.0.15', '10.20.1.0-10.20.1.239'];
    const rate = 300;
    const config = { ports: '80,443', retry: 0, rate };
    const first = await run({ targets, config, after: { packets: 260, what: 'cancel' } });
    expect(first.sent).toBeGreaterThan(240);
    expect(first.sent).toBeLessThan(2 * 256);
    const second = await run({ targets, config: { ...config, rate: 5000 }, restored: first.state });
    expect(second.error).toBeNull();
    expect([...new Set(addressesOf([first, second]))]).toEqual([...far].sort());
    // The state is reported every 400 ms.
    expect(first.sent + second.sent).toBeLessThanOrEqual(2 * 256 + 0.6 * rate + 6);
    expect(second.state).toMatchObject({ way: 'syn', state: { walk: { open: [], taken: 256 }, jobs: [] } });
  });

  it('skips no host when it resumes with other addresses than before', async () => {
    const config = { ports: '80', retry: 0, rate: 200 };
    const before = ['10.20.0.8-10.20.0.15', '10.20.1.0-10.20.1.239'];
    const { state } = await run({ targets: before, config, after: { packets: 80, what: 'cancel' } });
    expect((state as { state: { walk: { open: string[] } } }).state.walk.open).not.toEqual([]);
    const targets = ['10.20.0.0-10.20.0.15', '10.20.1.0-10.20.1.100'];
    const second = await run({ targets, config: { ...config, rate: 100_000 }, restored: state });
    expect(second.error).toBeNull();
    expect(addressesOf([second])).toEqual([...far].sort());
  });

  it('rejects requested raw packets without the privilege; connections need none', async () => {
    const trial = { targets: ['10.9.0.2'], unprivileged: true };
    const syn = await run(trial);
    expect(syn.error).toMatch(/no raw packets.*CAP_NET_RAW/);
    expect(syn.sent).toBe(0);
    for (const method of ['auto', 'connect']) {
      const outcome = await run({ ...trial, config: { method } });
      expect([addressesOf([outcome]), outcome.warnings]).toEqual([['10.9.0.2'], []]);
    }
  });

  it('says so when there is no route', async () => {
    const outcome = await run({ targets: ['10.30.0.1-10.30.0.3', '10.9.0.2'], config: { ports: '80' } });
    expect(addressesOf([outcome])).toEqual(['10.9.0.2']);
    expect(outcome.warnings).toEqual([
      expect.stringMatching(/^not_tried: no route to 10\.30\.0\.\d.*; the same for 2 more$/),
    ]);
  });
});
