import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import { PacketRateLimiter } from '../../gate/rate.ts';
import type { ChunkState } from '../engine/chunk.ts';
import { randomPermutationKey } from '../frame/permutation.ts';
import { ConnectEngine, type ConnectRun } from './connect-engine.ts';

type Plan = ConnectRun['plan'];

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function listen(host: string, port = 0): Promise<number> {
  const server: Server = createServer((socket) => socket.on('error', () => undefined));
  ends.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return (server.address() as AddressInfo).port;
}

interface Started {
  engine: ConnectEngine;
  rate: PacketRateLimiter;
  sent: () => number;
  repeated: () => number;
}

async function start(perSecond: number, most = 200, clock = () => performance.now()): Promise<Started> {
  let [sent, repeated] = [0, 0];
  const rate = new PacketRateLimiter({ rate: perSecond, clock });
  const engine = await ConnectEngine.start(rate, {
    onSent: (count) => {
      sent += count;
    },
    onRepeated: (count) => {
      repeated += count;
    },
    onTrouble: () => undefined,
  });
  engine.most = most;
  ends.push(() => engine.close());
  return { engine, rate, sent: () => sent, repeated: () => repeated };
}

function plan(more: Partial<Plan> = {}): Plan {
  return {
    family: 4,
    hosts: Uint8Array.from([127, 92, 0, 1, 127, 92, 0, 2]),
    scopes: new Uint32Array(2),
    egress: null,
    ports: Uint16Array.from({ length: 20_000 }, (_, at) => at + 40_000),
    tries: 2,
    furtherTries: 0,
    inOrder: [],
    key: randomPermutationKey(),
    patienceMs: 900,
    slowPatienceMs: 3000,
    slowAnswerMs: 300,
    slow: [],
    spared: new Uint32Array(0),
    restored: null,
    ...more,
  };
}

interface Swept {
  open: number[];
  states: ChunkState[];
  outcome: Promise<ChunkState>;
  drop(hosts: number[]): void;
}

function sweep(engine: ConnectEngine, of: Plan, signal = new AbortController().signal): Swept {
  const open: number[] = [];
  const states: ChunkState[] = [];
  const run = engine.run({
    plan: of,
    signal,
    onOpen: (endpoint) => open.push(endpoint),
    onState: (state) => states.push(state),
    onSlow: () => undefined,
  });
  return { open, states, ...run };
}

/** TCP ports of this machine that are in state LISTEN (0A), proc(5). */
function listeningPorts(): number[] {
  const lines = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').split('\n'));
  return lines.flatMap((line) => {
    const [, port] = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:0000 0A /.exec(line) ?? [];
    return port === undefined ? [] : [Number.parseInt(port, 16)];
  });
}

/** A port whose queue of connections is full, so that further SYNs get no response. */
async function silentPort(): Promise<number> {
  const script =
    "const s=require('net').createServer();s.listen({port:0,host:'127.92.0.1',backlog:1},()=>process.send(s.address().port))";
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  ends.push(() => child.kill('SIGKILL'));
  const [port] = (await once(child, 'message')) as [number];
  child.kill('SIGSTOP');
  for (let at = 0; at < 4; at++) {
    const socket = connect({ host: '127.92.0.1', port });
    socket.on('error', () => undefined);
    ends.push(() => socket.destroy());
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  return port;
}

describe.runIf(process.platform === 'linux')('threads that connect', () => {
  it('find every open port once, report closed ones and attempt each once', async () => {
    const ports = await Promise.all(Array.from({ length: 30 }, () => listen('127.92.0.1')));
    const { engine, sent } = await start(500_000);
    const all = Uint16Array.from({ length: 65_535 }, (_, at) => at + 1);
    const { open, outcome } = sweep(engine, plan({ ports: all }));
    const { counts } = await outcome;
    const first = open.filter((at) => at < 65_535).map((at) => at + 1);
    expect(first).toEqual(expect.arrayContaining(ports));
    expect(new Set(open).size).toBe(open.length);
    const others = open.length - first.length;
    expect([...counts.open]).toEqual([first.length, others]);
    expect([...counts.closed]).toEqual([65_535 - first.length, 65_535 - others]);
    expect([...counts.probed]).toEqual([65_535, 65_535]);
    expect(sent()).toBeGreaterThanOrEqual(2 * 65_535);
    // A few more where a socket met itself.
    expect(sent()).toBeLessThan(2 * 65_535 + 20);
  });

  it('work over IPv6', async () => {
    const port = await listen('::1');
    const { engine } = await start(100_000);
    const hosts = new Uint8Array(16);
    hosts[15] = 1;
    const { open, outcome } = sweep(engine, plan({ family: 6, hosts, ports: Uint16Array.of(port, 1, 2, 3) }));
    const { counts } = await outcome;
    expect(open).toEqual([0]);
    expect([counts.open[0], counts.closed[0]]).toEqual([1, 3]);
  });

  it('call no port open that is only their own', async () => {
    const { engine } = await start(500_000, 1000);
    for (let round = 0; round < rounds(3, 1); round++) {
      // Other programs of this machine open and close listeners meanwhile.
      const listening = new Set(listeningPorts());
      const watch = setInterval(() => {
        for (const port of listeningPorts()) listening.add(port);
      }, 5);
      const { outcome, open } = sweep(engine, plan({ hosts: Uint8Array.from([127, 0, 0, 1]) }));
      const { counts } = await outcome;
      clearInterval(watch);
      expect(open.map((at) => at + 40_000).filter((port) => !listening.has(port))).toEqual([]);
      expect((counts.open[0] as number) + (counts.closed[0] as number)).toBe(20_000);
    }
  });

  it('keep the rate', async () => {
    let now = 0;
    const { engine, sent } = await start(5000, 200, () => now);
    const ports = Uint16Array.from({ length: 1000 }, (_, at) => at + 40_000);
    const { outcome } = sweep(engine, plan({ ports }));
    const burst = 150;
    await expect.poll(sent).toBe(burst);
    let over = false;
    void outcome.finally(() => (over = true));
    for (; !over; await new Promise((resolve) => setTimeout(resolve, 2))) {
      expect(sent()).toBeLessThanOrEqual(burst + 5 * now);
      now += 10;
    }
    expect(sent()).toBeGreaterThanOrEqual(2000);
  });

  it('keep to the number of sockets', async () => {
    const port = await silentPort();
    const { engine, sent } = await start(100_000, 3);
    const hosts = Uint8Array.from([127, 92, 0, 1]);
    const stop = new AbortController();
    // The same port again and again stands for many silent ones.
    const { outcome } = sweep(engine, plan({ hosts, ports: new Uint16Array(50).fill(port) }), stop.signal);
    await vi.waitFor(() => expect(sent()).toBe(3), 30_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    stop.abort();
    await outcome;
    expect(sent()).toBe(3);
  });

  it('try a silent port again, before the kernel does, and then call it silent', async () => {
    const port = await silentPort();
    const { engine, sent, repeated } = await start(1000);
    const hosts = Uint8Array.from([127, 92, 0, 1]);
    const { outcome, open } = sweep(engine, plan({ hosts, ports: Uint16Array.of(port), patienceMs: 600 }));
    const { counts } = await outcome;
    expect(open).toEqual([]);
    expect(counts).toMatchObject({ probed: Uint32Array.of(1), closed: Uint32Array.of(0) });
    expect([sent(), repeated()]).toEqual([2, 0]);
  });

  it('charge what the kernel repeats to slow hosts', async () => {
    const port = await silentPort();
    const { engine, sent, repeated } = await start(1000);
    const hosts = Uint8Array.from([127, 92, 0, 1]);
    const { outcome } = sweep(
      engine,
      plan({ hosts, ports: Uint16Array.of(port), tries: 1, slow: [0], slowPatienceMs: 2500 }),
    );
    await outcome;
    expect([sent(), repeated()]).toEqual([1, 2]);
  });

  it('attempt nothing while they are held, and do anew what the kernel would have repeated', async () => {
    const port = await silentPort();
    const { engine, sent, rate, repeated } = await start(100_000, 10);
    const hosts = Uint8Array.from([127, 92, 0, 1]);
    const ports = new Uint16Array(20).fill(port);
    const { outcome } = sweep(engine, plan({ hosts, ports, tries: 1, slow: [0], slowPatienceMs: 1500 }));
    await vi.waitFor(() => expect(sent()).toBe(10), 30_000);
    rate.hold();
    engine.hold(true);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect([sent(), repeated()]).toEqual([10, 0]);
    rate.release();
    engine.hold(false);
    const { counts } = await outcome;
    expect(sent()).toBe(10 + 20);
    expect(counts.probed[0]).toBe(20);
  });

  it('resume: complete endpoints are not attempted again', async () => {
    const first = await start(10_000);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 700);
    const whole = plan();
    const { states, outcome: cut } = sweep(first.engine, whole, stop.signal);
    const state = await cut;
    expect(states.length).toBeGreaterThan(0);
    const before = first.sent();
    expect(state.counts.closed.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1000);
    const second = await start(500_000);
    const { counts } = await sweep(second.engine, { ...whole, restored: state }).outcome;
    expect([...counts.probed]).toEqual([20_000, 20_000]);
    // A connection that was cut off in the middle is attempted again.
    expect(before + second.sent()).toBeGreaterThanOrEqual(40_000);
    expect(before + second.sent()).toBeLessThan(40_000 + 250);
  });

  it('leave alone what is spared, and hosts that are dropped', async () => {
    const port = await listen('127.92.0.1', 0);
    const ports = Uint16Array.from([port, ...Array.from({ length: 10_000 }, (_, at) => at + 1)]);
    const { engine, sent } = await start(10_000);
    const { outcome, drop, open } = sweep(engine, plan({ ports, spared: Uint32Array.of(0) }));
    drop([1]);
    const { counts } = await outcome;
    expect(open.includes(0)).toBe(false);
    expect(counts.probed[0]).toBe(10_000);
    expect(counts.probed[1]).toBeLessThan(1000);
    expect(sent()).toBeLessThan(11_100);
  });

  it('end what is under way to a host that is dropped, before the kernel sends more', async () => {
    const port = await silentPort();
    const { engine, sent, repeated } = await start(1000);
    const hosts = Uint8Array.from([127, 92, 0, 1]);
    const slow = { slow: [0], slowPatienceMs: 3000, tries: 1 };
    const { outcome, drop } = sweep(engine, plan({ hosts, ports: Uint16Array.of(port), ...slow }));
    await vi.waitFor(() => expect(sent()).toBe(1), 30_000);
    drop([0]);
    expect((await outcome).counts.probed[0]).toBe(0);
    expect(repeated()).toBe(0);
  });

  it('end with whoever ordered the work', async () => {
    const { engine } = await start(100);
    const refused = expect(sweep(engine, plan()).outcome).rejects.toThrow('were closed');
    await engine.close();
    await refused;
    await expect(sweep(engine, plan()).outcome).rejects.toThrow('were closed');
  });
});
