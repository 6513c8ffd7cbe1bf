import { afterEach, describe, expect, it, vi } from 'vitest';
import { sweepWithKills } from '../../../test/interrupted-trial.ts';
import { closeServers, listen, loopbackGate, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import type { Port, PortCounts } from '../../domain/host.ts';
import { compileScope } from '../../domain/targets/scope.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import type { NetworkGate, ScanGate } from '../../net/gate/gate.ts';
import { PacketRateLimiter } from '../../net/gate/rate.ts';
import { createGate } from '../../net/gate/scoped-gate.ts';
import connect_scanner from './connect_scanner.ts';
import { acceptsEveryPort } from './tarpit.ts';

afterEach(closeServers);

const counts = (trial: { published: Map<string, unknown[]> }) =>
  (trial.published.get('port_counts') ?? []) as PortCounts[];
const openPorts = (trial: { published: Map<string, unknown[]> }) =>
  (trial.published.get('open_ports') ?? []) as Port[];

describe('connect_scanner', () => {
  it('finds exactly the open ports and accounts for every planned one', async () => {
    const ports = await Promise.all(Array.from({ length: 5 }, () => listen(() => undefined)));
    const spec = `${ports.join(',')},1-50`;
    const trial = await tryModule(connect_scanner, { config: { ports: spec }, inputs: { targets: [] } });
    expect(
      openPorts(trial)
        .map((port) => port.port)
        .sort(),
    ).toEqual([...ports].sort());
    expect(openPorts(trial)[0]).toEqual({
      host: '127.0.0.1',
      port: expect.any(Number),
      protocol: 'tcp',
      state: 'open',
      reason: 'syn-ack',
    });
    expect(counts(trial)).toEqual([
      {
        host: '127.0.0.1',
        protocol: 'tcp',
        open: 5,
        closed: 50,
        filtered: 0,
        not_tried: 0,
        all_ports_open: false,
      },
    ]);
  });

  it('takes hosts from discovery, IPv6 too, and leaves out excluded ports', async () => {
    const port = await listen(() => undefined, '::1');
    const trial = await tryModule(connect_scanner, {
      config: { ports: `${port},2,3`, exclude_ports: '3' },
      inputs: { targets: [], discovered_hosts: [{ ip: '::1', latency_ms: 1, method: 'icmp-echo' }] },
      targets: ['::1', '127.0.0.1'],
    });
    expect(openPorts(trial).map(({ host }) => host)).toEqual(['::1']);
    expect(counts(trial)).toMatchObject([{ host: '::1', open: 1, closed: 1 }]);
  });

  it('never touches a host outside the targets', async () => {
    const trial = await tryModule(connect_scanner, {
      config: { ports: '1-3' },
      inputs: { discovered_hosts: [{ ip: '127.0.0.2', latency_ms: 1, method: 'icmp-echo' }] },
      targets: ['127.0.0.1'],
    });
    expect(counts(trial)).toMatchObject([{ host: '127.0.0.2', not_tried: 3, closed: 0 }]);
    expect(trial.gate.packetsSent).toBe(0);
  });

  it('marks a host that accepts every port', async () => {
    const ports = await Promise.all(Array.from({ length: 110 }, () => listen(() => undefined)));
    const trial = await tryModule(connect_scanner, {
      config: { ports: ports.join(',') },
      inputs: { targets: [] },
    });
    expect(counts(trial)).toMatchObject([{ open: 110, all_ports_open: true }]);
  });

  it('ends at a cancel and sends hardly anything more', async () => {
    const cancel = new AbortController();
    const gate = loopbackGate(['127.0.0.1']);
    const run = tryModule(connect_scanner, {
      config: { ports: 'all', rate: 500 },
      inputs: { targets: [] },
      signal: cancel.signal,
      gate,
    });
    const canceled = expect(run).rejects.toThrow();
    await vi.waitFor(() => expect(gate.packetsSent).toBeGreaterThan(20), 30_000);
    const sent = gate.packetsSent;
    cancel.abort();
    await canceled;
    // What had its token already may still go.
    expect(gate.packetsSent - sent).toBeLessThan(50);
  });

  it('keeps the rate it was given', async () => {
    const { result: trial, ms } = await inVirtualTime(() =>
      tryModule(connect_scanner, { config: { ports: '1-600', rate: 1000 }, inputs: { targets: [] } }),
    );
    expect(trial.gate.packetsSent).toBe(600);
    expect(ms).toBeGreaterThan(540);
  });

  it('sweeps many hosts fast and finds the few that are open', async () => {
    const port = await listen(() => undefined, '127.66.1.7');
    await listen(() => undefined, '127.66.3.200', port);
    const trial = await tryModule(connect_scanner, {
      config: { ports: String(port), rate: 100_000 },
      inputs: { targets: [] },
      targets: ['127.66.0.0/22'],
    });
    expect(
      openPorts(trial)
        .map(({ host }) => host)
        .sort(),
    ).toEqual(['127.66.1.7', '127.66.3.200']);
    expect(counts(trial)).toHaveLength(1022);
  });

  it('sweeps all ports of a host completely and exactly', async () => {
    const ports = await Promise.all(Array.from({ length: 40 }, () => listen(() => undefined, '127.66.9.9')));
    const trial = await tryModule(connect_scanner, {
      config: { ports: 'all', rate: 100_000 },
      inputs: { targets: [] },
      targets: ['127.66.9.9'],
    });
    const found = openPorts(trial).map(({ port }) => port);
    expect(found).toEqual(expect.arrayContaining(ports));
    expect(new Set(found).size).toBe(found.length);
    const open = found.length;
    expect(counts(trial)).toMatchObject([{ open, closed: 65_535 - open, filtered: 0, not_tried: 0 }]);
  });

  it('sweeps 100 ports of 100 hosts completely', async () => {
    const port = await listen(() => undefined, '127.66.10.50');
    const trial = await tryModule(connect_scanner, {
      config: { ports: `${port},1-99`, rate: 100_000 },
      inputs: { targets: [] },
      targets: ['127.66.10.1-127.66.10.100'],
    });
    expect(openPorts(trial).map(({ host, port }) => [host, port])).toEqual([['127.66.10.50', port]]);
    const expected = { closed: 100, filtered: 0, not_tried: 0 };
    expect(counts(trial)).toHaveLength(100);
    for (const each of counts(trial))
      expect(each).toMatchObject(each.host === '127.66.10.50' ? { ...expected, closed: 99 } : expected);
  });

  it('distinguishes a service that resets accepted connections from a closed port', async () => {
    const port = await listen((socket) => socket.resetAndDestroy());
    const trial = await tryModule(connect_scanner, {
      config: { ports: `${port},1` },
      inputs: { targets: [] },
    });
    expect(openPorts(trial).map(({ port }) => port)).toEqual([port]);
  });

  it('never touches endpoints of this server', async () => {
    const [own, other] = [await listen(() => undefined), await listen(() => undefined)];
    const gate = createGate({
      addresses: parseTargets(['127.0.0.1']).addresses,
      scope: compileScope({ allow: ['127.0.0.0/8'], deny: [] }),
      rate: new PacketRateLimiter({ rate: 1000 }),
      isOwn: (_, port) => port === own,
    });
    const config = { ports: `${own},${other},1` };
    const trial = await tryModule(connect_scanner, { config, inputs: { targets: [] }, gate });
    expect(openPorts(trial).map(({ port }) => port)).toEqual([other]);
    expect(counts(trial)).toMatchObject([{ open: 1, closed: 1, not_tried: 1 }]);
    expect([gate.packetsSent, gate.spared]).toEqual([2, 1]);
    await gate.close();
  });

  it('leaves places for those who talk to the ports it finds', async () => {
    const targets = ['127.0.0.1-127.0.0.20'];
    const gate = loopbackGate(targets, 8);
    const port = await listen(() => undefined);
    const stop = new AbortController();
    // Longer than a test may take.
    const running = tryModule(connect_scanner, {
      config: { ports: 'all', rate: 25_000, concurrency: 1000 },
      inputs: { targets: [] },
      targets,
      gate,
      signal: stop.signal,
    }).catch(() => undefined);
    await vi.waitFor(() => expect(gate.packetsSent).toBeGreaterThan(1000), 30_000);
    const signal = new AbortController().signal;
    const { state } = await gate.probeTcp('127.0.0.1', port, { timeoutMs: 5000, signal });
    expect(state).toBe('open');
    stop.abort();
    await running;
  });
});

it('a host counts as a tarpit only on clear evidence', () => {
  const host = { host: 'h', protocol: 'tcp' as const, all_ports_open: false };
  const verdict = (open: number, closed: number) =>
    acceptsEveryPort({ ...host, open, closed, filtered: 0, not_tried: 0 });
  expect(verdict(91, 9)).toBe(true);
  expect(verdict(90, 10)).toBe(false);
  expect(verdict(65, 0)).toBe(true);
  expect(verdict(64, 0)).toBe(false);
});

it.each([
  [3, 3, 0, true],
  [3, 4, 900, false],
  [1, 3, 0, false],
  [20, 25, 975, true],
])(
  '%i of %i open ports accepted with window 0, beside %i closed ones, make a tarpit: %s',
  (zero, open, closed, is) => {
    const counts = {
      host: 'h',
      protocol: 'tcp' as const,
      open,
      closed,
      filtered: 0,
      not_tried: 0,
      all_ports_open: false,
    };
    expect(acceptsEveryPort(counts, zero)).toBe(is);
  },
);

describe('a sweep by threads', () => {
  it.each(['discovered_hosts', 'targets'])(
    'resumes after a kill without losing or repeating completed pairs (from %s)',
    async (source) => {
      const hosts = Array.from({ length: 100 }, (_, at) => `127.69.0.${at + 1}`);
      const shared = {
        config: { ports: '1-50', rate: 3000 },
        inputs: {
          targets: [],
          ...(source === 'targets' ? {} : { discovered_hosts: hosts.map((ip) => ({ ip, method: 'test' })) }),
        },
        targets: ['127.69.0.1-127.69.0.100'],
      };
      const first = loopbackGate(shared.targets) as ScanGate;
      const before = new Map<string, unknown[]>();
      let probe: () => unknown = () => null;
      const abort = new AbortController();
      const covered = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
      const running = tryModule(connect_scanner, {
        ...shared,
        gate: first,
        published: before,
        coverage: covered,
        signal: abort.signal,
        checkpoint: (state) => {
          probe = state;
        },
      }).catch(() => undefined);
      // More than half a second at that rate: by then the sweep has reported its state.
      await vi.waitFor(() => expect(first.packetsSent).toBeGreaterThan(2500), 30_000);
      const restored = JSON.parse(JSON.stringify(probe()));
      const coverage = { ...covered };
      const kept = [...((before.get('port_counts') ?? []) as PortCounts[])];
      abort.abort(new Error('killed'));
      await running;
      await first.close();

      const second = loopbackGate(shared.targets) as ScanGate;
      const after = new Map<string, unknown[]>();
      const trial = await tryModule(connect_scanner, {
        ...shared,
        gate: second,
        published: after,
        restored,
        recordedCounts: kept,
        coverage,
      });
      expect(trial.coverage).toEqual({ open: 0, closed: 5000, filtered: 0, not_tried: 0 });
      const all = [...kept, ...((after.get('port_counts') ?? []) as PortCounts[])];
      expect(all).toHaveLength(hosts.length);
      for (const each of all) expect(each).toMatchObject({ open: 0, closed: 50, filtered: 0, not_tried: 0 });
      // The second run need not do what the first one had done, but for its last half second.
      expect(second.packetsSent).toBeLessThan(5000);
      expect(first.packetsSent + second.packetsSent).toBeLessThan(5000 + 1800);
      await second.close();
    },
    20_000,
  );

  it('attempts nothing any more once it is canceled, and accounts for what was left', async () => {
    const gate = loopbackGate(['127.69.1.0/24']) as ScanGate;
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error('canceled')), 600);
    const published = new Map<string, unknown[]>();
    const running = tryModule(connect_scanner, {
      config: { ports: '1-1000', rate: 5000 },
      inputs: { targets: [] },
      targets: ['127.69.1.0/24'],
      gate,
      published,
      signal: abort.signal,
    });
    await expect(running).rejects.toThrow('canceled');
    const sent = gate.packetsSent;
    const all = (published.get('port_counts') ?? []) as PortCounts[];
    const sum = all.reduce((total, { closed }) => total + closed, 0);
    expect(sum).toBeGreaterThan(sent - 200);
    for (const { closed, not_tried } of all) expect(closed + not_tried).toBe(1000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(gate.packetsSent).toBe(sent);
    await gate.close();
  });

  it('goes on by socket objects where it began with them', async () => {
    const port = await listen(() => undefined);
    const host = { ip: '127.0.0.1', next: 1, first: 0, finished: 1, again: [] };
    const counted = { host: '127.0.0.1', protocol: 'tcp', open: 0, closed: 1, filtered: 0, not_tried: 0 };
    const key = [1, 2, 3, 4, 5, 6, 7, 8];
    let probe: () => unknown = () => null;
    const trial = await tryModule(connect_scanner, {
      config: { ports: `${port}` },
      inputs: { targets: [], discovered_hosts: [] },
      restored: {
        pairs: { key, walk: null, hosts: [{ ...host, counts: { ...counted, all_ports_open: false } }] },
      },
      checkpoint: (state) => {
        probe = state;
      },
    });
    expect(counts(trial)).toMatchObject([{ closed: 1 }]);
    expect(probe()).toMatchObject({ pairs: { hosts: [] } });
  });
});

it('a resumed sweep continues with exactly the silent ports of its slow retry', async () => {
  const open = await listen(() => undefined);
  const probed: string[] = [];
  const host = { ip: '127.0.0.1', next: 4, first: 0, finished: 4, again: [], slow: [open, 1] };
  const counted = { host: '127.0.0.1', protocol: 'tcp', open: 2, closed: 0, filtered: 2, not_tried: 0 };
  const key = [1, 2, 3, 4, 5, 6, 7, 8];
  const trial = await tryModule(connect_scanner, {
    config: { ports: `${open},1-3` },
    inputs: { targets: [], discovered_hosts: [] },
    gate: countingGate(['127.0.0.1'], (pair) => probed.push(pair)),
    restored: {
      pairs: { key, walk: null, hosts: [{ ...host, counts: { ...counted, all_ports_open: false } }] },
    },
  });
  expect(probed.toSorted()).toEqual([`127.0.0.1:${open}`, '127.0.0.1:1'].toSorted());
  expect(counts(trial)).toMatchObject([{ open: 3, closed: 1, filtered: 0, not_tried: 0 }]);
  expect(trial.published.get('open_ports')).toMatchObject([{ port: open, reason: 'syn-ack' }]);
  expect(trial.coverage).toEqual({ open: 3, closed: 1, filtered: 0, not_tried: 0 });
});

describe('an interrupted sweep', () => {
  it.each(['discovered_hosts', 'targets'])(
    'sweeps and counts each host once, however often it is killed (from %s)',
    async (source) => {
      const open = await listen(() => undefined);
      const hosts = Array.from({ length: 150 }, (_, i) => `127.66.0.${i + 1}`);
      const planned = [open, ...Array.from({ length: 19 }, (_, i) => i + 1)];
      const outcome = await sweepWithKills({
        module: connect_scanner,
        config: { ports: planned.join(','), rate: 100_000, concurrency: 60 },
        targets: ['127.66.0.1-127.66.0.150'],
        discovered: source === 'targets' ? null : hosts,
        // The first comes when the window of hosts and, beyond it, those with their last pairs are under way.
        checkpointsAt: [1270, 600, 300],
        gate: (onPair) => countingGate(['127.66.0.1-127.66.0.150'], onPair),
        openIn: (state) =>
          (state as { pairs: { hosts: { ip: string; again: number[] }[] } }).pairs.hosts.flatMap(
            ({ ip, again }) => again.map((port) => `${ip}:${port}`),
          ),
      });
      expect(outcome.repeated).toEqual([]);
      expect(outcome.pairs.size).toBe(3000);
      expect(outcome.coverage).toEqual({ open: 0, closed: 3000, filtered: 0, not_tried: 0 });
      expect(outcome.counts.map(({ host }) => host).toSorted()).toEqual(hosts.toSorted());
      for (const each of outcome.counts)
        expect(each).toMatchObject({ open: 0, closed: 20, filtered: 0, not_tried: 0 });
    },
  );
});

/** A gate that reports every pair it probes. */
function countingGate(targets: string[], onPair: (pair: string) => void): NetworkGate {
  const real = loopbackGate(targets);
  const gate = Object.assign(Object.create(real, { reached: { value: null } }) as NetworkGate, {
    connectObstacle: async () => 'every pair is counted',
    limitedTo: () => gate,
    probeTcp(...[host, port, options]: Parameters<NetworkGate['probeTcp']>) {
      onPair(`${host}:${port}`);
      return real.probeTcp(host, port, options);
    },
  });
  return gate;
}
