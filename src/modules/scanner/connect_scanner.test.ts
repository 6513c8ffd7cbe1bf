import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen, loopbackGate, tryModule } from '../../../test/module-trial.ts';
import type { Port, PortCounts } from '../../domain/host.ts';
import type { NetworkGate } from '../../net/gate.ts';
import connect_scanner from './connect_scanner.ts';
import { answersEverything } from './liar.ts';

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

  it('T-011 marks a host that accepts every port', async () => {
    const ports = await Promise.all(Array.from({ length: 110 }, () => listen(() => undefined)));
    const trial = await tryModule(connect_scanner, {
      config: { ports: ports.join(',') },
      inputs: { targets: [] },
    });
    expect(counts(trial)).toMatchObject([{ open: 110, all_ports_open: true }]);
  });

  it('ends within 200 ms of a cancel and counts the rest as not tried', async () => {
    const cancel = new AbortController();
    let canceledAt = 0;
    setTimeout(() => {
      canceledAt = performance.now();
      cancel.abort();
    }, 100);
    const run = tryModule(connect_scanner, {
      config: { ports: 'all', rate: 500 },
      inputs: { targets: [] },
      signal: cancel.signal,
    });
    await expect(run).rejects.toThrow();
    expect(performance.now() - canceledAt).toBeLessThan(200);
  });

  it('keeps the rate it was given', async () => {
    const started = performance.now();
    const trial = await tryModule(connect_scanner, {
      config: { ports: '1-600', rate: 1000 },
      inputs: { targets: [] },
    });
    expect(trial.gate.packetsSent).toBe(600);
    expect(performance.now() - started).toBeGreaterThan(540);
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

  it('refuses UDP with the name of the module for it', async () => {
    await expect(tryModule(connect_scanner, { config: { protocol: 'udp' } })).rejects.toThrow(/udp_scanner/);
  });
});

it('a host counts as answering everything only on clear evidence', () => {
  const host = { host: 'h', protocol: 'tcp' as const, all_ports_open: false };
  const verdict = (open: number, closed: number) =>
    answersEverything({ ...host, open, closed, filtered: 0, not_tried: 0 });
  expect(verdict(91, 9)).toBe(true);
  expect(verdict(90, 10)).toBe(false);
  expect(verdict(65, 0)).toBe(true);
  expect(verdict(64, 0)).toBe(false);
});

describe('an interrupted sweep', () => {
  it.each(['discovered_hosts', 'targets'])(
    'goes on after a kill with exactly the pairs that were not done (from %s)',
    async (source) => {
      const open = await listen(() => undefined);
      const hosts = Array.from({ length: 100 }, (_, i) => `127.66.0.${i + 1}`);
      const planned = [open, ...Array.from({ length: 19 }, (_, i) => i + 1)];
      const inputs = {
        targets: [],
        ...(source === 'targets' ? {} : { discovered_hosts: hosts.map((ip) => ({ ip, method: 'test' })) }),
      };
      const shared = {
        config: { ports: planned.join(','), rate: 100_000, concurrency: 20 },
        inputs,
        targets: ['127.66.0.1-127.66.0.100'],
      };
      const killed = await runUntil(700, shared);
      const swept = new Set(killed.counts.map(({ host }) => host));
      const second = countingGate(shared.targets, () => undefined);
      const published = new Map<string, unknown[]>();
      await tryModule(connect_scanner, {
        ...shared,
        gate: second.gate,
        published,
        restored: killed.state,
        recorded: (key, record) => key === 'port_counts' && swept.has((record as { host: string }).host),
      });

      expect(second.pairs.filter((pair) => killed.done.has(pair))).toEqual([]);
      expect(new Set([...killed.done, ...second.pairs]).size).toBe(hosts.length * planned.length);
      const all = [...killed.counts, ...(published.get('port_counts') as PortCounts[])];
      expect(new Set(all.map(({ host }) => host)).size).toBe(hosts.length);
      expect(all.length).toBe(hosts.length);
      for (const each of all)
        expect(each).toMatchObject({ open: 0, closed: planned.length, filtered: 0, not_tried: 0 });
    },
  );
});

/** A gate that notes every pair it is asked to probe. */
function countingGate(targets: string[], onProbe: (count: number) => void) {
  const real = loopbackGate(targets);
  const pairs: string[] = [];
  const gate: NetworkGate = {
    throughPauses: (work) => work(),
    synObstacle: (signal) => real.synObstacle(signal),
    sweepSyn: (job) => real.sweepSyn(job),
    addresses: real.addresses,
    packetsSent: 0,
    unsent: new Map(),
    probeTcp(host, port, options) {
      pairs.push(`${host}:${port}`);
      onProbe(pairs.length);
      return real.probeTcp(host, port, options);
    },
    connect: (host, port, options) => real.connect(host, port, options),
    ping: (addresses, options) => real.ping(addresses, options),
    sweepUdp: (tasks, options) => real.sweepUdp(tasks, options),
    neighbourhood: (name) => real.neighbourhood(name),
    sweepNeighbours: (hosts, options) => real.sweepNeighbours(hosts, options),
    pingMethod: () => real.pingMethod(),
    limitedTo: () => gate,
  };
  return { gate, pairs };
}

/** Runs the sweep up to a number of probes; what it had saved and published at that moment is what a kill leaves. */
async function runUntil(probes: number, options: Parameters<typeof tryModule>[1] & { targets: string[] }) {
  const abort = new AbortController();
  const published = new Map<string, unknown[]>();
  let ask: () => unknown = () => null;
  let left: { state: unknown; counts: PortCounts[]; done: Set<string> } | null = null;
  const counting = countingGate(options.targets, (count) => {
    if (count !== probes) return;
    const state = JSON.parse(JSON.stringify(ask())) as { hosts: { ip: string; again: number[] }[] };
    const open = new Set(state.hosts.flatMap(({ ip, again }) => again.map((port) => `${ip}:${port}`)));
    left = {
      state,
      counts: [...((published.get('port_counts') ?? []) as PortCounts[])],
      done: new Set(counting.pairs.filter((pair) => !open.has(pair))),
    };
    abort.abort(new Error('killed'));
  });
  const run = tryModule(connect_scanner, {
    ...options,
    gate: counting.gate,
    published,
    signal: abort.signal,
    checkpoint: (state) => {
      ask = state;
    },
  });
  await run.catch(() => undefined);
  if (!left) throw new Error('the sweep ended before it could be killed');
  return left as { state: unknown; counts: PortCounts[]; done: Set<string> };
}
