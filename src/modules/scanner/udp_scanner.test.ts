import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { loopbackGate, type Trial, tryModule } from '../../../test/module-trial.ts';
import type { Port, PortCounts } from '../../domain/host.ts';
import type { NetworkGate, UdpTask } from '../../net/gate.ts';
import udp_scanner from './udp_scanner.ts';

const sockets: Socket[] = [];

/** Addresses of this run alone, so that two runs do not meet. */
const block = `127.${100 + ((process.pid >> 8) % 100)}.${process.pid & 255}`;

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** A UDP service on a loopback address: answers, or stays silent. Returns its port. */
function serve(host: string, port = 0, answer: Buffer | null = Buffer.from('hello')): Promise<number> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  sockets.push(socket);
  socket.on('message', (_bytes, from) => answer && socket.send(answer, from.port, from.address));
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
  it('tells answering, closed and silent ports apart', async () => {
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
      },
    ]);
    // Only the silent port was asked twice.
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
  }, 30_000);

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
    const answered = await tryModule(udp_scanner, { ...shared, config, inputs: { targets: [] } });
    expect(rows(answered).map(({ port }) => port)).toEqual([11_211]);
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

  it('ends within 200 ms of a cancel and counts the rest as not tried', async () => {
    const cancel = new AbortController();
    let canceledAt = 0;
    setTimeout(() => {
      canceledAt = performance.now();
      cancel.abort();
    }, 300);
    const published = new Map<string, unknown[]>();
    const run = tryModule(udp_scanner, {
      config: { ports: 'all', rate: 500 },
      inputs: { targets: [] },
      signal: cancel.signal,
      published,
    });
    await expect(run).rejects.toThrow();
    expect(performance.now() - canceledAt).toBeLessThan(200);
    const [count] = counts({ published });
    const { open = 0, closed = 0, filtered = 0, not_tried = 0 } = count ?? {};
    expect(open + closed + filtered + not_tried).toBe(65_535);
    expect(closed).toBeGreaterThan(0);
  });

  it('keeps the rate it was given', async () => {
    const startedAt = performance.now();
    const trial = await tryModule(udp_scanner, {
      config: { ...fast, ports: '1-400', rate: 400, retries: 0 },
      inputs: { targets: [] },
      targets: [`${block}.201`, `${block}.202`],
    });
    const seconds = (performance.now() - startedAt) / 1000;
    expect(trial.gate.packetsSent / seconds).toBeLessThan(420);
    expect(trial.gate.packetsSent).toBeGreaterThanOrEqual(800);
  }, 20_000);

  it('refuses another protocol', async () => {
    await expect(tryModule(udp_scanner, { config: { protocol: 'tcp' } })).rejects.toThrow(/protocol/);
  });
});

describe('an interrupted UDP sweep', () => {
  it.each(['discovered_hosts', 'targets'])(
    'goes on after a kill with exactly the pairs that were not done (from %s)',
    async (source) => {
      const hosts = Array.from({ length: 30 }, (_, i) => `${block}.${i + 1}`);
      const ports = Array.from({ length: 20 }, (_, i) => 41_000 + i);
      await serve(`${block}.7`, 41_005);
      const shared = {
        config: { ...fast, retries: 4, rate: 600, ports: ports.join(',') },
        inputs: {
          targets: [],
          ...(source === 'targets' ? {} : { discovered_hosts: hosts.map((ip) => ({ ip })) }),
        },
        targets: [`${block}.1-30`],
      };
      const killed = await runUntil(250, shared);
      const swept = new Set(killed.counts.map(({ host }) => host));
      const second = notingGate(shared.targets, () => undefined);
      const published = new Map<string, unknown[]>();
      await tryModule(udp_scanner, {
        ...shared,
        gate: second.gate,
        published,
        restored: killed.state,
        recorded: (key, record) => key === 'port_counts' && swept.has((record as { host: string }).host),
      });
      expect(second.pairs.filter((pair) => killed.done.has(pair))).toEqual([]);
      expect(new Set([...killed.done, ...second.pairs]).size).toBe(hosts.length * ports.length);
      const every = [...killed.counts, ...counts({ published })];
      expect(every.map(({ host }) => host).sort()).toEqual([...hosts].sort());
      for (const { host, open, closed, filtered, not_tried } of every) {
        expect([open, closed + filtered, not_tried]).toEqual(host === `${block}.7` ? [1, 19, 0] : [0, 20, 0]);
      }
    },
    30_000,
  );
});

/** A gate that notes every pair that it is given to probe, and counts outcomes. */
function notingGate(targets: string[], onOutcome: (count: number) => void) {
  const real = loopbackGate(targets);
  const pairs: string[] = [];
  let outcomes = 0;
  const noting = <T extends UdpTask>(task: T): T => {
    const nextPort = task.nextPort.bind(task);
    task.nextPort = () => {
      const port = nextPort();
      if (port !== null) pairs.push(`${task.host}:${port}`);
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
      for await (const outcome of real.sweepUdp(noted, options)) {
        yield outcome;
        outcomes += 1;
        onOutcome(outcomes);
      }
    },
  });
  return { gate, pairs };
}

/** Runs the sweep up to a number of outcomes; what it had saved and published then is what a kill leaves. */
async function runUntil(wanted: number, options: Parameters<typeof tryModule>[1] & { targets: string[] }) {
  const abort = new AbortController();
  const published = new Map<string, unknown[]>();
  let ask: () => unknown = () => null;
  let left: { state: unknown; counts: PortCounts[]; done: Set<string> } | null = null;
  const noting = notingGate(options.targets, (count) => {
    if (count !== wanted) return;
    const state = JSON.parse(JSON.stringify(ask())) as { hosts: { ip: string; again: number[] }[] };
    const open = new Set(state.hosts.flatMap(({ ip, again }) => again.map((port) => `${ip}:${port}`)));
    left = {
      state,
      counts: [...counts({ published })],
      done: new Set(noting.pairs.filter((pair) => !open.has(pair))),
    };
    abort.abort(new Error('killed'));
  });
  const run = tryModule(udp_scanner, {
    ...options,
    gate: noting.gate,
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
