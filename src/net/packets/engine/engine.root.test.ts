import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PacketRateLimiter } from '../../gate/rate.ts';
import { randomPermutationKey } from '../frame/permutation.ts';
import { rawObstacle } from '../linux/rights.ts';
import type { ChunkPlan, ChunkState } from './chunk.ts';
import { PacketEngine } from './engine.ts';
import type { ChunkEnd } from './engine-control.ts';

const obstacle = rawObstacle();
const servers: Server[] = [];
const listening: number[] = [];
const engines: PacketEngine[] = [];

async function listen(host: string): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as { port: number }).port;
}

beforeAll(async () => {
  for (let n = 0; n < 20; n++) listening.push(await listen('127.91.0.1'));
  return () => {
    for (const server of servers) server.close();
  };
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

async function start(rate: number, senders?: number, clock = () => performance.now()): Promise<PacketEngine> {
  const engine = await PacketEngine.start(new PacketRateLimiter({ rate, clock }), { senders });
  engines.push(engine);
  return engine;
}

const ports20k = Uint16Array.from({ length: 20_000 }, (_, at) => at + 20_000);

function plan(more: Partial<Omit<ChunkPlan, 'id'>> = {}): Omit<ChunkPlan, 'id'> {
  return {
    family: 4,
    hosts: Uint8Array.from([127, 91, 0, 1, 127, 91, 0, 2]),
    ports: Uint16Array.from({ length: 40_000 }, (_, at) => at + 20_000),
    rung: 'ip',
    link: 1,
    source: Uint8Array.from([127, 0, 0, 1]),
    ownMac: null,
    macs: null,
    tries: 2,
    hostRate: 0,
    key: randomPermutationKey(),
    waits: { between: 100, final: 200, most: 1000 },
    spared: new Uint32Array(0),
    restored: null,
    ...more,
  };
}

/** A clock of its own for the rate: what the machine does meanwhile costs no time. */
class SteppedClock {
  ms = 0;
  readonly read = () => this.ms;

  /** Lets five milliseconds after the other pass until the work is over, with a check before each. */
  async stepUntil(work: Promise<unknown>, check: () => void): Promise<void> {
    let over = false;
    const ended = work.finally(() => {
      over = true;
    });
    for (; !over; this.ms += 5) {
      check();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await ended;
  }
}

interface Swept extends ChunkEnd {
  /** Open endpoints in the order of their reports. */
  open: number[];
  states: ChunkState[];
}

async function sweep(engine: PacketEngine, of: Omit<ChunkPlan, 'id'>, signal?: AbortSignal): Promise<Swept> {
  const open: number[] = [];
  const states: ChunkState[] = [];
  const { outcome } = engine.run({
    plan: of,
    signal: signal ?? new AbortController().signal,
    onOpen: (endpoints) => open.push(...endpoints),
    onState: (state) => states.push(state),
  });
  return { ...(await outcome), open, states };
}

/** Sends UDP to a closed port, until the ICMP error about it has come. */
async function refusedDatagram(host: string): Promise<void> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => {
    socket.once('error', () => resolve());
    socket.connect(1, host, () => socket.send('x'));
  });
  socket.close();
}

describe.runIf(obstacle === null)('the packet engine on loopback', () => {
  it('finds every open port once, reports closed ones and retransmits only when needed', async () => {
    const engine = await start(500_000);
    const { open, state, failure } = await sweep(engine, plan());
    const expected = listening.map((port) => port - 20_000);
    expect(open.filter((at) => at < 40_000).toSorted((a, b) => a - b)).toEqual(
      expect.arrayContaining(expected.toSorted((a, b) => a - b)),
    );
    expect(new Set(open).size).toBe(open.length);
    const { counts } = state;
    expect([counts.open[0], counts.open[1]]).toEqual([
      open.filter((at) => at < 40_000).length,
      open.filter((at) => at >= 40_000).length,
    ]);
    for (const host of [0, 1]) {
      const settled = (counts.open[host] as number) + (counts.closed[host] as number);
      expect([counts.probed[host], settled]).toEqual([40_000, 40_000]);
    }
    expect(failure).toBeNull();
    expect(engine.figures.sent).toBe(80_000);
    expect(engine.figures.retransmitted).toBe(0);
  });

  it('shows how far a sweep is several times in a second of packets', async () => {
    const engine = await start(1000);
    const ports = Uint16Array.from({ length: 2000 }, (_, at) => at + 1);
    const { states } = await sweep(engine, plan({ hosts: Uint8Array.from([127, 91, 0, 2]), ports }));
    const shown = new Set(states.map(({ counter }) => counter));
    expect(shown.size).toBeGreaterThanOrEqual(10);
  });

  it('counts responses, and errors about packets of others, which complete nothing', async () => {
    const engine = await start(500_000);
    const ports = Uint16Array.from({ length: 100 }, (_, at) => at + 1);
    const { state } = await sweep(engine, plan({ ports }));
    const { open, closed, rejected } = state.counts;
    await refusedDatagram('127.91.0.1');
    await vi.waitFor(() => expect(engine.figures.foreign).toBeGreaterThan(0), 30_000);
    const { received, dropped, valid, repeated, foreign } = engine.figures;
    const settled = [...open, ...closed, ...rejected].reduce((sum, count) => sum + count);
    expect([settled, valid]).toEqual([200, 200]);
    expect(valid + repeated + foreign).toBeLessThanOrEqual(received - dropped);
  });

  it('shares the rate among two senders, and sends no first probe twice', async () => {
    const clock = new SteppedClock();
    const engine = await start(100_000, 2, clock.read);
    const running = Promise.all(
      [1, 2, 3, 4].map((host) =>
        sweep(engine, plan({ hosts: Uint8Array.from([127, 91, host, 1, 127, 91, host, 2]) })),
      ),
    );
    await clock.stepUntil(running, () =>
      expect(engine.figures.sent).toBeLessThanOrEqual(3000 + 100 * clock.ms),
    );
    const chunks = await running;
    // A busy machine may read a response too late: then its probe is repeated, and counted as such.
    expect(engine.figures.sent - engine.figures.retransmitted).toBe(320_000);
    for (const { state, open } of chunks) {
      const { probed, closed } = state.counts;
      expect([...probed]).toEqual([40_000, 40_000]);
      expect((closed[0] as number) + (closed[1] as number) + open.length).toBe(80_000);
    }
  });

  it('gives the rate to chunks in the order they came', async () => {
    const clock = new SteppedClock();
    const engine = await start(100_000, undefined, clock.read);
    const hosts = [1, 2].map((host) => Uint8Array.from([127, 91, host, 1, 127, 91, host, 2]));
    const sentOfSecond = () => engine.figures.sent - 80_000;
    const first = sweep(engine, plan({ hosts: hosts[0] as Uint8Array })).then(sentOfSecond);
    const second = sweep(engine, plan({ hosts: hosts[1] as Uint8Array }));
    const both = Promise.all([first, second]);
    await clock.stepUntil(both, () => undefined);
    const [before] = await both;
    expect(before).toBeLessThan(40_000);
  });

  it('credits a chunk with responses that another running chunk received first', async () => {
    const engine = await start(100_000);
    const ports = Uint16Array.from([...listening, ...ports20k.subarray(0, 300)]);
    const stop = new AbortController();
    const slow = plan({ hosts: Uint8Array.from([127, 91, 0, 1]), ports, hostRate: 200 });
    const found = Promise.withResolvers<number>();
    const { outcome } = engine.run({
      plan: slow,
      signal: stop.signal,
      onOpen: ([endpoint]) => found.resolve(ports[endpoint as number] as number),
      onState: () => undefined,
    });
    const again = Uint16Array.from([await found.promise]);
    const { open } = await sweep(engine, { ...slow, ports: again, tries: 1 });
    expect(open).toEqual([0]);
    stop.abort();
    await outcome;
  });

  it('works over IPv6', async () => {
    const port = await listen('::1');
    const engine = await start(100_000);
    const loopback = new Uint8Array(16);
    loopback[15] = 1;
    const ports = Uint16Array.from([port, 1, 2, 3]);
    const { open, state } = await sweep(
      engine,
      plan({ family: 6, hosts: loopback, source: loopback, ports }),
    );
    expect(open).toEqual([0]);
    expect([state.counts.open[0], state.counts.closed[0]]).toEqual([1, 3]);
  });

  it('keeps the rate', async () => {
    const clock = new SteppedClock();
    const engine = await start(10_000, 1, clock.read);
    const running = sweep(engine, plan({ hosts: Uint8Array.from([127, 91, 0, 2]), ports: ports20k }));
    // A burst is 3 % of the rate.
    await expect.poll(() => engine.figures.sent).toBe(300);
    await clock.stepUntil(running, () =>
      expect(engine.figures.sent).toBeLessThanOrEqual(300 + 10 * clock.ms),
    );
    expect(engine.figures.sent).toBeGreaterThanOrEqual(20_000);
  });

  it('goes on where it was: what was probed before is not probed again', async () => {
    const first = await start(40_000);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 700);
    const whole = plan();
    const { open: before, state } = await sweep(first, whole, stop.signal);
    const sentBefore = first.figures.sent;
    expect(state.counter).toBeGreaterThan(0);
    const second = await start(500_000);
    const rest = await sweep(second, { ...whole, restored: state });
    // Probes whose responses were in flight at the stop are sent once more.
    const sent = sentBefore + second.figures.sent;
    expect(sent).toBeGreaterThanOrEqual(80_000);
    expect(sent).toBeLessThan(81_000);
    expect(new Set([...before, ...rest.open]).size).toBe(before.length + rest.open.length);
    const { counts } = rest.state;
    expect([counts.probed[0], counts.probed[1]]).toEqual([40_000, 40_000]);
    expect((counts.open[0] as number) + (counts.closed[0] as number)).toBe(40_000);
  });

  it('leaves alone what is spared, and hosts that are dropped', async () => {
    const engine = await start(20_000);
    const spared = Uint32Array.from(listening, (port) => port - 20_000);
    const { outcome, drop } = engine.run({
      plan: plan({ spared }),
      signal: new AbortController().signal,
      onOpen: () => undefined,
      onState: () => undefined,
    });
    drop([1]);
    const { state } = await outcome;
    expect(state.counts.probed[1]).toBeLessThan(2000);
    expect(state.counts.probed[0]).toBe(40_000 - listening.length);
  });

  it('ends with whoever ordered the work', async () => {
    const engine = await start(1000);
    const running = sweep(engine, plan());
    const refused = expect(running).rejects.toThrow('the packet engine exited');
    await engine.close();
    await refused;
    await expect(sweep(engine, plan())).rejects.toThrow('the packet engine exited');
  });
});
