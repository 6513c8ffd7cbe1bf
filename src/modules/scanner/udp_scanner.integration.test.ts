import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sweepWithKills } from '../../../test/interrupted-trial.ts';
import { loopbackGate, type Trial, tryModule } from '../../../test/module-trial.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import type { Port, PortCounts } from '../../domain/host.ts';
import type { NetworkGate, UdpTask } from '../../net/gate/gate.ts';
import connect_scanner from './connect_scanner.ts';
import syn_scanner from './syn_scanner.ts';
import udp_scanner from './udp_scanner.ts';

const sockets: Socket[] = [];

/** Addresses of this run alone, so that two runs do not meet. */
const block = `127.${100 + ((process.pid >> 8) % 100)}.${process.pid & 255}`;

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** A UDP service on a loopback address: responds, or stays silent. Returns its port. */
function serve(host: string, port = 0, response: Buffer | null = Buffer.from('hello')): Promise<number> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  sockets.push(socket);
  socket.on('message', (_bytes, from) => response && socket.send(response, from.port, from.address));
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, host, () => resolve(socket.address().port));
  });
}

const counts = ({ published }: Pick<Trial, 'published'>) =>
  (published.get('port_counts') ?? []) as PortCounts[];
const rows = ({ published }: Pick<Trial, 'published'>) => (published.get('open_ports') ?? []) as Port[];
const fast = { timeout: '300ms', retries: 1, rate: 5000 };

describe('udp_scanner', () => {
  it('distinguishes responding, closed and silent ports', async () => {
    const open = await serve('127.0.0.1');
    const silent = await serve('127.0.0.1', 0, null);
    const trial = await tryModule(udp_scanner, {
      config: { ...fast, ports: `${open},${silent},2-4` },
      inputs: { targets: [] },
    });
    expect(rows(trial)).toEqual([
      { host: '127.0.0.1', port: open, protocol: 'udp', state: 'open', reason: 'udp-response' },
    ]);
    expect(counts(trial)).toEqual([
      {
        host: '127.0.0.1',
        protocol: 'udp',
        open: 1,
        closed: 3,
        filtered: 1,
        not_tried: 0,
        all_ports_open: false,
        rejected: [
          { state: 'closed', reason: 'port-unreachable', icmp: null, from: null, count: 3, ports: [2, 3, 4] },
        ],
        ports: [2, 3, 4, open, silent].sort((a, b) => a - b),
      },
    ]);
    // Only the silent port was probed twice.
    expect(trial.gate.packetsSent).toBe(6);
  });

  it('finds every open port of many hosts and accounts for every planned one', async () => {
    const hosts = Array.from({ length: 20 }, (_, i) => `${block}.${i + 1}`);
    const planned = Array.from({ length: 100 }, (_, i) => 40_000 + i);
    const open = hosts.flatMap((host, at) =>
      [0, 1, 2, 3, 4].map((step) => [host, 40_000 + ((at * 7 + step * 19) % 100)] as const),
    );
    await Promise.all(open.map(([host, port]) => serve(host, port)));
    const trial = await tryModule(udp_scanner, {
      config: { ...fast, retries: 4, timeout: '2s', rate: 800, ports: planned.join(',') },
      inputs: { targets: [], discovered_hosts: hosts.map((ip) => ({ ip })) },
      targets: [`${block}.0/24`],
    });
    const found = rows(trial).map(({ host, port }) => `${host} ${port}`);
    expect(found.sort()).toEqual(open.map(([host, port]) => `${host} ${port}`).sort());
    expect(counts(trial)).toHaveLength(hosts.length);
    for (const each of counts(trial)) {
      expect(each).toMatchObject({ open: 5, closed: 95, filtered: 0, not_tried: 0 });
    }
  });

  it('lists a silent port only where a payload fits and the host is known to live', async () => {
    // No service of its own listens on these; 11211 has a payload, 40001 has none.
    await serve(`${block}.101`, 11_211, null);
    await serve(`${block}.101`, 40_001, null);
    const shared = { config: { ...fast, ports: '11211,40001' }, targets: [`${block}.101`] };
    const discovered_hosts = [{ ip: `${block}.101` }];
    const known = await tryModule(udp_scanner, { ...shared, inputs: { targets: [], discovered_hosts } });
    expect(rows(known)).toEqual([
      {
        host: `${block}.101`,
        port: 11_211,
        protocol: 'udp',
        state: 'open|filtered',
        reason: 'no-response',
      },
    ]);
    expect(counts(known)).toMatchObject([{ open: 0, closed: 0, filtered: 2, not_tried: 0 }]);
    const unknown = await tryModule(udp_scanner, { ...shared, inputs: { targets: [] } });
    expect([rows(unknown), counts(unknown)]).toEqual([[], []]);
    const config = { ...shared.config, ports: '11211,40001,40002' };
    const responded = await tryModule(udp_scanner, { ...shared, config, inputs: { targets: [] } });
    expect(rows(responded).map(({ port }) => port)).toEqual([11_211]);
  });

  it('scans IPv6 and leaves out excluded ports', async () => {
    const open = await serve('::1');
    const trial = await tryModule(udp_scanner, {
      config: { ...fast, ports: `${open},2,3`, exclude_ports: '3' },
      inputs: { targets: [] },
      targets: ['::1'],
    });
    expect(rows(trial)).toMatchObject([{ host: '::1', port: open, state: 'open' }]);
    expect(counts(trial)).toMatchObject([{ host: '::1', open: 1, closed: 1 }]);
  });

  it('never touches a host outside the targets, nor sends a byte to a printer port', async () => {
    const lengths: number[] = [];
    const printer = createSocket('udp4', ({ length }) => lengths.push(length));
    sockets.push(printer);
    await new Promise<void>((resolve) => printer.bind(9100, `${block}.102`, resolve));
    const trial = await tryModule(udp_scanner, {
      config: { ...fast, ports: '9100' },
      inputs: { discovered_hosts: [{ ip: `${block}.102` }, { ip: `${block}.103` }] },
      targets: [`${block}.102`],
    });
    expect(lengths).toEqual([0, 0]);
    expect(counts(trial)).toMatchObject([
      { host: `${block}.103`, not_tried: 1 },
      { host: `${block}.102`, filtered: 1, not_tried: 0 },
    ]);
  });

  it('sends control systems one read of their own protocol, or no byte', async () => {
    const received = new Map<number, Set<string>>();
    for (const port of [2222, 9600, 20_000, 44_818, 47_808]) {
      const device = createSocket('udp4', (bytes) => {
        received.set(port, (received.get(port) ?? new Set()).add(bytes.toString('hex')));
      });
      sockets.push(device);
      await new Promise<void>((resolve) => device.bind(port, `${block}.104`, resolve));
    }
    await tryModule(udp_scanner, {
      config: { ...fast, ports: '2222,9600,20000,44818,47808' },
      inputs: { discovered_hosts: [{ ip: `${block}.104` }] },
      targets: [`${block}.104`],
    });
    expect(Object.fromEntries([...received].map(([port, each]) => [port, [...each]]))).toEqual({
      2222: [''],
      9600: ['800002000000006300ef050100'],
      20000: [''],
      44818: [`63${'00'.repeat(11)}${Buffer.from('PORTOLAN').toString('hex')}00000000`],
      47808: ['810a001101040005010c0c023fffff1979'],
    });
  });

  it('ends at a cancel, sends nothing more and counts the rest as not tried', async () => {
    const cancel = new AbortController();
    const gate = loopbackGate(['127.0.0.1']);
    const published = new Map<string, unknown[]>();
    const run = tryModule(udp_scanner, {
      config: { ports: 'all', rate: 500 },
      inputs: { targets: [] },
      signal: cancel.signal,
      published,
      gate,
    });
    const canceled = expect(run).rejects.toThrow();
    await vi.waitFor(() => expect(gate.packetsSent).toBeGreaterThan(100), 30_000);
    const sent = gate.packetsSent;
    cancel.abort();
    await canceled;
    expect(gate.packetsSent).toBe(sent);
    const [count] = counts({ published });
    const { open = 0, closed = 0, filtered = 0, not_tried = 0 } = count ?? {};
    expect(open + closed + filtered + not_tried).toBe(65_535);
    expect(closed).toBeGreaterThan(0);
  });

  it('keeps the rate it was given', async () => {
    const { result: trial, ms } = await inVirtualTime(() =>
      tryModule(udp_scanner, {
        config: { ...fast, ports: '1-400', rate: 400, retries: 0 },
        inputs: { targets: [] },
        targets: [`${block}.201`, `${block}.202`],
      }),
    );
    expect(trial.gate.packetsSent / (ms / 1000)).toBeLessThan(420);
    expect(trial.gate.packetsSent).toBeGreaterThanOrEqual(800);
  });

  it('refuses another protocol', async () => {
    await expect(tryModule(udp_scanner, { config: { protocol: 'tcp' } })).rejects.toThrow(/protocol/);
  });
});

it.each([{ module: connect_scanner }, { module: syn_scanner, interface: 'lo' }])(
  '$module.name with protocol udp is this scanner',
  async ({ module, ...options }) => {
    const open = await serve('127.0.0.1');
    const silent = await serve('127.0.0.1', 0, null);
    let stateOf: () => unknown = () => null;
    const trial = await tryModule(module, {
      config: { ...fast, ...options, protocol: 'udp', ports: `${open},${silent},2-5`, exclude_ports: '5' },
      inputs: { targets: [] },
      checkpoint: (state) => {
        stateOf = state;
      },
    });
    expect(rows(trial)).toMatchObject([
      { port: open, protocol: 'udp', state: 'open', reason: 'udp-response' },
    ]);
    expect(counts(trial)).toMatchObject([{ protocol: 'udp', open: 1, closed: 3, filtered: 1, not_tried: 0 }]);
    expect(trial.coverage).toEqual({ open: 1, closed: 3, filtered: 1, not_tried: 0 });
    expect(trial.methods).toEqual(['UDP probes: protocol is udp']);
    expect(trial.warnings).toEqual([]);
    expect(stateOf()).toMatchObject({ hosts: [], walk: { taken: 1, open: [] } });
  },
);

describe('an interrupted UDP sweep', () => {
  it.each(['discovered_hosts', 'targets'])(
    'sweeps and counts each host once, however often it is killed (from %s)',
    async (source) => {
      const hosts = Array.from({ length: 60 }, (_, i) => `${block}.${i + 1}`);
      const ports = Array.from({ length: 20 }, (_, i) => 41_000 + i);
      await serve(`${block}.7`, 41_005);
      const outcome = await sweepWithKills({
        module: udp_scanner,
        config: { ...fast, retries: 4, rate: 2000, ports: ports.join(',') },
        targets: [`${block}.1-60`],
        discovered: source === 'targets' ? null : hosts,
        checkpointsAt: [400, 200, 100],
        gate: (onPair) => notingGate([`${block}.1-60`], onPair),
        openIn: (state) =>
          (state as { hosts: { ip: string; again: number[] }[] }).hosts.flatMap(({ ip, again }) =>
            again.map((port) => `${ip}:${port}`),
          ),
      });
      expect(outcome.repeated).toEqual([]);
      expect(outcome.pairs.size).toBe(1200);
      const { open, closed, filtered, not_tried } = outcome.coverage;
      expect([open, closed + filtered, not_tried]).toEqual([1, 1199, 0]);
      expect(outcome.counts.map(({ host }) => host).toSorted()).toEqual(hosts.toSorted());
      for (const each of outcome.counts)
        expect([each.open, each.closed + each.filtered]).toEqual(
          each.host === `${block}.7` ? [1, 19] : [0, 20],
        );
    },
    30_000,
  );
});

/** A gate that reports every pair it probes. */
function notingGate(targets: string[], onPair: (pair: string) => void): NetworkGate {
  const real = loopbackGate(targets);
  const noting = <T extends UdpTask>(task: T): T => {
    const nextPort = task.nextPort.bind(task);
    task.nextPort = () => {
      const port = nextPort();
      if (port !== null) onPair(`${task.host}:${port}`);
      return port;
    };
    return task;
  };
  const gate = Object.assign(Object.create(real) as NetworkGate, {
    limitedTo: () => gate,
    async *sweepUdp<T extends UdpTask>(
      tasks: AsyncIterable<T> | Iterable<T>,
      options: Parameters<NetworkGate['sweepUdp']>[1],
    ) {
      const noted = (async function* () {
        for await (const task of tasks) yield noting(task);
      })();
      yield* real.sweepUdp(noted, options);
    },
  });
  return gate;
}
