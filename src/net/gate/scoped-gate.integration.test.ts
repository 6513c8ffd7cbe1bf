import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import { compileScope } from '../../domain/targets/scope.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import { AdaptiveRate } from '../adaptive/rate.ts';
import { localListeners } from '../local-listeners.ts';
import type { Connection, NetworkGate } from './gate.ts';
import { openFilesLimit } from './open-files-limit.ts';
import { PauseGate } from './pause-gate.ts';
import { PacketRateLimiter } from './rate.ts';
import { createGate, type GateOptions } from './scoped-gate.ts';

const servers = new Set<Server>();
const accepted = new Set<Socket>();

async function listen(serve: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
  const server = createServer((socket) => {
    accepted.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

afterEach(() => {
  for (const socket of accepted) socket.destroy();
  for (const server of servers) server.close();
  servers.clear();
  accepted.clear();
});

const { signal } = new AbortController();
/** For listeners that count connections: no other test scans it. */
const ownHost = '127.86.0.6';
const patient = { timeoutMs: 500, signal };

function gateOf(
  targets: string[],
  extra: { deny?: string[]; block?: string[]; rate?: number; most?: number } & Partial<
    Pick<GateOptions, 'hold' | 'signal' | 'isOwn'>
  > = {},
) {
  return createGate({
    addresses: parseTargets(targets).addresses,
    scope: compileScope({ allow: ['127.0.0.0/8', '::1/128'], deny: extra.deny ?? [] }),
    blocklist: parseTargets(extra.block ?? []).addresses,
    rate: new PacketRateLimiter({ rate: extra.rate ?? 100_000 }),
    ...(extra.most === undefined ? {} : { maxConnections: extra.most }),
    ...(extra.hold && { hold: extra.hold }),
    ...(extra.signal && { signal: extra.signal }),
    ...(extra.isOwn && { isOwn: extra.isOwn }),
  });
}

async function connected(
  gate: NetworkGate,
  port: number,
  maxBytes = 1000,
  deadlineMs = 1000,
  host = '127.0.0.1',
): Promise<Connection> {
  const result = await gate.connect(host, port, { deadlineMs, maxBytes, signal });
  if ('failure' in result) throw new Error(result.failure.reason);
  return result.connection;
}

describe('probeTcp', () => {
  it('distinguishes open from closed ports, on IPv4 and IPv6', async () => {
    const gate = gateOf(['127.0.0.1', '::1']);
    const v4 = await listen(() => undefined);
    const v6 = await listen(() => undefined, '::1');
    expect(await gate.probeTcp('127.0.0.1', v4, patient)).toMatchObject({ state: 'open', reason: 'syn-ack' });
    expect(await gate.probeTcp('::1', v6, patient)).toMatchObject({ state: 'open', reason: 'syn-ack' });
    expect(await gate.probeTcp('127.0.0.1', 1, patient)).toMatchObject({ state: 'closed', reason: 'rst' });
  });

  it.each([
    ['10.0.0.1', 'not a target'],
    ['127.0.0.5', 'denied by the scope'],
    ['::ffff:127.0.0.5', 'denied, spelled as IPv6'],
    ['127.0.0.6', 'on the block list'],
    ['localhost', 'a name'],
    ['127.1', 'no address'],
  ])('sends nothing to %s: %s', async (host) => {
    const gate = gateOf(['127.0.0.0/24'], { deny: ['127.0.0.5'], block: ['127.0.0.6'] });
    expect(await gate.probeTcp(host, 80, patient)).toEqual({
      state: 'not_tried',
      reason: 'out_of_scope',
      latencyMs: 0,
    });
    const dialed = await gate.connect(host, 80, { deadlineMs: 100, maxBytes: 10, signal });
    expect(dialed).toEqual({ failure: { state: 'not_tried', reason: 'out_of_scope', latencyMs: 0 } });
    expect(gate.packetsSent).toBe(0);
  });

  it('is canceled by the signal', async () => {
    const cancel = new AbortController();
    const waiting = gateOf(['127.0.0.1'], { rate: 1 });
    await waiting.probeTcp('127.0.0.1', 1, patient);
    const probe = waiting.probeTcp('127.0.0.1', 1, { timeoutMs: 500, signal: cancel.signal });
    cancel.abort();
    expect(await probe).toMatchObject({ state: 'not_tried', reason: 'canceled' });
  });
});

describe('Connection', () => {
  it('splits received bytes at the end of a response', async () => {
    const port = await listen((socket) => socket.write('one\ntwo\n'));
    const connection = await connected(gateOf(['127.0.0.1']), port);
    const line = (bytes: Buffer) => bytes.indexOf(10) + 1;
    expect(await connection.read({ idleMs: 300, done: line })).toEqual({
      bytes: Buffer.from('one\n'),
      end: 'match',
    });
    expect(await connection.read({ idleMs: 300, done: line })).toEqual({
      bytes: Buffer.from('two\n'),
      end: 'match',
    });
    connection.close();
  });

  it('ends a read by silence, close, reset, cap and deadline', async () => {
    const gate = gateOf(['127.0.0.1']);
    const read = async (serve: (socket: Socket) => void, maxBytes = 1000, deadlineMs = 1000) => {
      const connection = await connected(gate, await listen(serve), maxBytes, deadlineMs);
      const { bytes, end } = await connection.read({ idleMs: 150 });
      connection.close();
      return [bytes.toString(), end, connection.truncated];
    };
    expect(await read((socket) => socket.write('hi'))).toEqual(['hi', 'idle', false]);
    expect(await read((socket) => socket.end('bye'))).toEqual(['bye', 'closed', false]);
    expect(await read((socket) => socket.write('12345678'), 5)).toEqual(['12345', 'cap', true]);
    const drip = (socket: Socket) => {
      const timer = setInterval(() => socket.write('.'), 50);
      socket.on('close', () => clearInterval(timer));
    };
    expect((await read(drip, 1000, 300))[1]).toBe('deadline');
    const abort = (socket: Socket) =>
      socket.write('x'.repeat(20), () => setTimeout(() => socket.resetAndDestroy(), 20));
    expect(await read(abort)).toEqual(['x'.repeat(20), 'reset', false]);
  });

  it('gives up writing to a peer that never reads', async () => {
    const port = await listen((socket) => socket.pause());
    const { ms } = await inVirtualTime(async () => {
      const connection = await connected(gateOf(['127.0.0.1']), port, 1000, 300);
      expect(await connection.write(Buffer.alloc(32 * 1024 * 1024))).toBe(false);
      expect(await connection.write(Buffer.from('x'))).toBe(false);
    });
    expect(ms).toBeLessThan(600);
  });

  it('records the probe session', async () => {
    const port = await listen((socket) => {
      socket.write('hello\n');
      socket.on('data', () => socket.write('pong\n'));
    });
    const connection = await connected(gateOf(['127.0.0.1']), port);
    const done = (bytes: Buffer) => bytes.includes(10);
    await connection.read({ idleMs: 300, done });
    await connection.write(Buffer.from('ping\n'));
    await connection.read({ idleMs: 300, done });
    const texts = connection.exchanges.map((each) =>
      [each.sent_b64, each.received_b64].map((text) => atob(text)),
    );
    expect(texts).toEqual([
      ['', 'hello\n'],
      ['ping\n', 'pong\n'],
    ]);
    connection.close();
  });

  it('closes its half and still receives what the peer sends', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let said = '';
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => (said += bytes.toString('latin1')));
      socket.on('end', () => socket.end(`heard ${said}\n`));
    });
    servers.add(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const connection = await connected(gateOf(['127.0.0.1']), (server.address() as AddressInfo).port);
    expect(await connection.write(Buffer.from('ping'), true)).toBe(true);
    const { bytes } = await connection.read({ idleMs: 500, done: () => 0 });
    expect(bytes.toString()).toBe('heard ping\n');
    connection.close();
  });

  it('is bounded in number: one that is closed makes room', async () => {
    const port = await listen(() => undefined);
    const gate = gateOf(['127.0.0.1'], { most: 1 });
    const first = await connected(gate, port);
    let second: Connection | null = null;
    const waiting = connected(gate, port).then((connection) => {
      second = connection;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(second).toBeNull();
    first.close();
    await waiting;
    (second as unknown as Connection).close();
  });
});

describe('ping', () => {
  it('raises an adaptive rate while hosts respond', async ({ skip }) => {
    const { addresses } = parseTargets(['127.86.8.0/21']);
    const adaptive = new AdaptiveRate({ start: 1000, least: 100, most: 100_000 });
    const rate = new PacketRateLimiter({ rate: adaptive.rate, ceiling: 100_000 });
    adaptive.onChange = (now) => rate.setRate(now);
    const gate = createGate({ addresses, scope: compileScope({ allow: [], deny: [] }), rate, adaptive });
    skip(gate.pingMethod().method === 'none', 'this user may not ping');
    const found = await Array.fromAsync(gate.ping(gate.addresses, { timeoutMs: 2000, retries: 2, signal }));
    expect(found).toHaveLength(2046);
    expect(gate.reached?.highest).toBeGreaterThan(1000);
  });

  it('finds hosts that respond and drops those that do not', async () => {
    const gate = gateOf(['127.70.0.0/28', '::1'], { deny: ['127.70.0.3'] });
    if (gate.pingMethod().method === 'none') {
      expect(gate.pingMethod().reason).toMatch(/CAP_NET_RAW/);
      return;
    }
    const found: string[] = [];
    for await (const { host } of gate.ping(gate.addresses, { timeoutMs: 200, retries: 1, signal }))
      found.push(host);
    expect(found).toHaveLength(14);
    expect(found).not.toContain('127.70.0.3');
    expect(found).toContain('::1');
    expect(gate.packetsSent).toBe(14);
  });

  it('takes hosts as they come', async ({ skip }) => {
    const gate = gateOf(['127.0.0.1-127.0.0.3']);
    skip(gate.pingMethod().method === 'none', 'this user may not ping');
    const hosts = async function* () {
      yield '127.0.0.1';
      await new Promise((resolve) => setTimeout(resolve, 50));
      yield '127.0.0.2';
    };
    const found: string[] = [];
    for await (const { host } of gate.ping(hosts(), { timeoutMs: 200, retries: 0, signal })) found.push(host);
    expect(found).toEqual(['127.0.0.1', '127.0.0.2']);
  });
});

describe('a held gate', () => {
  const soon = () => new Promise((resolve) => setTimeout(resolve, 60));

  it('sends nothing until it is released', async () => {
    const hold = new PauseGate();
    let connections = 0;
    const port = await listen(() => (connections += 1), ownHost);
    const gate = gateOf([ownHost], { hold });
    hold.hold();
    const module = gate.limitedTo(100);
    const waiting = Promise.all([
      gate.probeTcp(ownHost, port, patient),
      module.probeTcp(ownHost, port, patient),
      connected(module, port, 1000, 1000, ownHost),
    ]);
    await soon();
    expect([connections, gate.packetsSent]).toEqual([0, 0]);
    hold.release();
    const [probe, , connection] = await waiting;
    expect(probe.state).toBe('open');
    expect(connection.exchanges).toEqual([]);
    connection.close();
  });

  it('cuts what is open, and work that lived through it is done anew', async () => {
    const hold = new PauseGate();
    let gone = 0;
    const port = await listen((socket) => {
      socket.on('close', () => (gone += 1));
      if (gone > 0) socket.write('hello\n');
    });
    const gate = gateOf(['127.0.0.1'], { hold });
    let tries = 0;
    const work = gate.throughPauses(async () => {
      tries += 1;
      const connection = await connected(gate, port);
      const { bytes, end } = await connection.read({ idleMs: 500, done: (all) => all.includes(10) });
      connection.close();
      return [bytes.toString(), end];
    }, signal);
    await soon();
    hold.hold();
    await soon();
    expect([gone, tries]).toEqual([1, 1]);
    hold.release();
    expect(await work).toEqual(['hello\n', 'match']);
    expect(tries).toBe(2);
  });

  it('grants a probe session its whole deadline after a pause', async () => {
    const hold = new PauseGate();
    const port = await listen((socket) => setTimeout(() => socket.write('late\n'), 100));
    const gate = gateOf(['127.0.0.1'], { hold });
    hold.hold();
    const waiting = connected(gate, port, 1000, 300);
    await new Promise((resolve) => setTimeout(resolve, 400));
    hold.release();
    const connection = await waiting;
    expect((await connection.read({ idleMs: 250, done: (all) => all.includes(10) })).end).toBe('match');
    connection.close();
  });

  it('stays shut once the scan is over, whatever signal a module brings', async () => {
    const end = new AbortController();
    let connections = 0;
    const port = await listen(() => (connections += 1), ownHost);
    const gate = gateOf([ownHost], { signal: end.signal });
    const open = await connected(gate, port, 1000, 1000, ownHost);
    end.abort();
    const deaf = Array.from({ length: 20 }, () => gate.probeTcp(ownHost, port, patient));
    void Promise.allSettled(deaf);
    expect((await open.read({ idleMs: 500 })).end).not.toBe('idle');
    await soon();
    expect(connections).toBe(1);
  });

  it('sends no echo request', async ({ skip }) => {
    const hold = new PauseGate();
    const gate = gateOf(['127.70.0.0/28'], { hold });
    skip(gate.pingMethod().method === 'none', 'this user may not ping');
    hold.hold();
    const found: string[] = [];
    const sweep = (async () => {
      for await (const { host } of gate.ping(gate.addresses, { timeoutMs: 200, retries: 1, signal }))
        found.push(host);
    })();
    await soon();
    expect([found, gate.packetsSent]).toEqual([[], 0]);
    hold.release();
    await sweep;
    expect(found).toHaveLength(14);
  });
});

it('never comes back to addresses that were taken away, and spares the listeners of this server', async () => {
  const own = await listen(() => undefined);
  const other = await listen(() => undefined);
  const gate = gateOf(['127.0.0.0/24'], { isOwn: localListeners([{ host: '0.0.0.0', port: own }]) });
  expect(await gate.probeTcp('127.0.0.1', own, patient)).toMatchObject({ reason: 'own_listener' });
  expect([gate.spared, gate.packetsSent]).toEqual([1, 0]);
  expect(await gate.probeTcp('127.0.0.1', other, patient)).toMatchObject({ state: 'open' });
  const denied = compileScope({ allow: [], deny: ['127.0.0.1'] });
  gate.narrow((addresses) => denied.split(addresses).inside);
  expect(await gate.probeTcp('127.0.0.1', other, patient)).toMatchObject({ reason: 'out_of_scope' });
  gate.narrow((addresses) => addresses.union(parseTargets(['127.0.0.1']).addresses));
  expect(await gate.probeTcp('127.0.0.1', other, patient)).toMatchObject({ reason: 'out_of_scope' });
  expect(await gate.probeTcp('127.0.0.2', 1, patient)).toMatchObject({ state: 'closed' });
});

it('reads the limit of open files', () => {
  expect(openFilesLimit()).toBe(Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })));
});

describe('the traffic of a gate', () => {
  const errorsOf = ({ traffic }: ReturnType<typeof gateOf>) =>
    Object.fromEntries(Object.entries(traffic.errors).filter(([, count]) => count > 0));
  /** A port without a listener. */
  const closedPort = async () => {
    const port = await listen(() => undefined, ownHost);
    for (const server of servers) server.close();
    servers.clear();
    return port;
  };

  it('counts closed ports as refused, of probes, sessions and sweeps', async () => {
    const gate = gateOf([ownHost]);
    const port = await closedPort();
    await gate.probeTcp(ownHost, port, patient);
    expect(errorsOf(gate)).toEqual({ refused: 1 });
    await gate.connect(ownHost, port, { deadlineMs: 1000, maxBytes: 10, signal });
    expect(errorsOf(gate)).toEqual({ refused: 2 });
    const sweep = { retries: 0, timeoutMs: 500, concurrency: 10, signal, restored: null };
    await gate.sweepConnect({
      ...sweep,
      hosts: [{ ip: ownHost }],
      ports: Uint16Array.of(port),
      onOpen: () => undefined,
      onState: () => undefined,
    });
    await gate.close();
    expect(errorsOf(gate)).toEqual({ refused: 3 });
  });

  it('counts closed UDP ports as refused and silent ones as timeout', async () => {
    const gate = gateOf([ownHost]);
    const silent = createSocket('udp4');
    await new Promise<void>((resolve) => silent.bind(0, ownHost, resolve));
    const ports = [silent.address().port, await closedPort()];
    const task = { host: ownHost, ports: 2, nextPort: () => ports.pop() ?? null };
    const swept = gate.sweepUdp([task], { timeoutMs: 200, retries: 0, signal, payloads: () => [] });
    for await (const _outcome of swept);
    silent.close();
    expect(errorsOf(gate)).toEqual({ refused: 1, timeout: 1 });
  });

  it('counts a session that the peer resets, one that its deadline ends, and a failed TLS handshake', async () => {
    const resetting = await listen((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const silent = await listen(() => undefined);
    const rude = await listen((socket) => socket.end('no TLS here\r\n'));
    const gate = gateOf(['127.0.0.1']);
    const one = await connected(gate, resetting);
    await one.write(Buffer.from('hello'));
    await one.read({ idleMs: 1000 });
    expect(errorsOf(gate)).toEqual({ reset: 1 });
    const two = await connected(gate, silent, 1000, 100);
    expect((await two.read({ idleMs: 5000 })).end).toBe('deadline');
    expect(errorsOf(gate)).toEqual({ reset: 1, timeout: 1 });
    const three = await connected(gate, rude);
    expect(await three.startTls({ serverName: null, alpn: [] })).toHaveProperty('reason');
    expect(errorsOf(gate)).toEqual({ reset: 1, timeout: 1, tls: 1 });
  });

  it('counts neither what the scope keeps back nor what is canceled nor what succeeds', async () => {
    const port = await listen((socket) => socket.end('hello'));
    const gate = gateOf(['127.0.0.0/24'], { block: ['127.0.0.9'] });
    const stop = new AbortController();
    await gate.probeTcp('127.0.0.9', port, patient);
    const session = await connected(gate, port);
    await session.read({ idleMs: 500 });
    session.close();
    stop.abort();
    await gate.probeTcp('127.0.0.1', 1, { timeoutMs: 500, signal: stop.signal });
    expect(errorsOf(gate)).toEqual({});
    expect(gate.traffic.sent).toBe(gate.packetsSent);
  });
});
