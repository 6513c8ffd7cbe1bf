import { createSocket, type Socket } from 'node:dgram';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { inVirtualTime } from '../../../test/virtual-time.ts';
import { compileScope } from '../../domain/targets/scope.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import { Egress } from '../egress.ts';
import type { UdpDatagram, UdpOutcome, UdpSweepOptions } from '../gate/gate.ts';
import { PauseGate } from '../gate/pause-gate.ts';
import { PacketRateLimiter } from '../gate/rate.ts';
import { createGate, type GateOptions } from '../gate/scoped-gate.ts';
import { canMakeNamespaces, Namespace } from '../packets/fixtures/namespace.ts';
import { ConnectedUdp } from './udp-connected.ts';
import { sweepUdp } from './udp-sweep.ts';

const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

type Received = { bytes: Buffer; at: number; reply(from?: Socket): void };

/** A UDP socket on loopback. Returns it with its port. */
function bind(host: string, onMessage: (message: Received) => void = () => undefined) {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.on('message', (bytes, { port, address }) =>
    onMessage({
      bytes,
      at: performance.now(),
      reply: (from = socket) => from.send('answer', port, address),
    }),
  );
  return new Promise<{ socket: Socket; port: number }>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, host, () => resolve({ socket, port: socket.address().port }));
  });
}

const responding = ({ reply }: Received) => reply();

function gateTo(targets: string[], more: Partial<GateOptions> = {}) {
  return createGate({
    addresses: parseTargets(targets).addresses,
    scope: compileScope({ allow: ['127.0.0.0/8', '::1/128'], deny: [] }),
    rate: new PacketRateLimiter({ rate: 20_000 }),
    ...more,
  });
}

function task(host: string, ports: readonly number[]) {
  const left = [...ports];
  return { host, ports: left.length, nextPort: () => left.shift() ?? null };
}

const options = (more: Partial<UdpSweepOptions> = {}): UdpSweepOptions => ({
  timeoutMs: 300,
  retries: 1,
  signal: new AbortController().signal,
  payloads: () => [],
  ...more,
});

async function all<T>(outcomes: AsyncIterable<UdpOutcome<T>>): Promise<UdpOutcome<T>[]> {
  const found: UdpOutcome<T>[] = [];
  for await (const outcome of outcomes) found.push(outcome);
  return found;
}

const shown = (outcomes: UdpOutcome<unknown>[]) =>
  Object.fromEntries(outcomes.map(({ port, state, reason }) => [port, `${state}: ${reason}`]));

describe('a UDP sweep', () => {
  it('distinguishes open, closed and silent ports and retries only silent ones', async () => {
    const open = await bind('127.0.0.1', responding);
    const silent = await bind('127.0.0.1');
    const gate = gateTo(['127.0.0.1']);
    const outcomes = await all(gate.sweepUdp([task('127.0.0.1', [open.port, silent.port, 1])], options()));
    expect(shown(outcomes)).toEqual({
      [open.port]: 'open: udp-response',
      [silent.port]: 'open|filtered: no-response',
      1: 'closed: port-unreachable',
    });
    expect(gate.packetsSent).toBe(4);
  });

  it('sends each payload of a port in turn, and no more than one an attempt', async () => {
    const seen: string[] = [];
    const silent = await bind('127.0.0.1', ({ bytes }) => seen.push(bytes.toString()));
    const payloads: UdpDatagram[] = ['one', 'two', 'three'].map((text) => ({ bytes: Buffer.from(text) }));
    const sweep = gateTo(['127.0.0.1']).sweepUdp(
      [task('127.0.0.1', [silent.port])],
      options({ payloads: () => payloads }),
    );
    await all(sweep);
    expect(seen).toEqual(['one', 'two', 'three']);
  });

  it('takes a response from another port only for a protocol that responds so', async () => {
    const other = await bind('127.0.0.1');
    const service = await bind('127.0.0.1', ({ reply }) => reply(other.socket));
    const silent = await bind('127.0.0.1');
    const probe = (ports: number[], payloads: readonly UdpDatagram[]) =>
      all(
        gateTo(['127.0.0.1']).sweepUdp(
          [task('127.0.0.1', ports)],
          options({ payloads: (port) => (port === service.port ? payloads : []) }),
        ),
      );
    const otherPort = { bytes: Buffer.from('read'), answersElsewhere: true };
    const fits = { ...otherPort, looksLike: (bytes: Uint8Array) => bytes.length === 6 };
    expect(shown(await probe([silent.port, service.port], [fits]))).toEqual({
      [service.port]: 'open: udp-response',
      [silent.port]: 'open|filtered: no-response',
    });
    const others = [
      [],
      [{ ...fits, looksLike: () => false }],
      [otherPort],
      [{ ...fits, answersElsewhere: false }],
    ];
    const outcomes = await Promise.all(others.map((payloads) => probe([service.port], payloads)));
    for (const each of outcomes) expect(shown(each)[service.port]).toBe('open|filtered: no-response');
  });

  it('a chatty port opens no other port of its host, not even the last silent one', async () => {
    let chatter: NodeJS.Timeout | undefined;
    const chatty = await bind('127.0.0.1', ({ reply }) => {
      chatter ??= setInterval(reply, 20);
    });
    const silent = await bind('127.0.0.1');
    const ports = [chatty.port, silent.port];
    const outcomes = await all(gateTo(['127.0.0.1']).sweepUdp([task('127.0.0.1', ports)], options()));
    clearInterval(chatter);
    expect(shown(outcomes)).toEqual({
      [chatty.port]: 'open: udp-response',
      [silent.port]: 'open|filtered: no-response',
    });
  });

  it('ignores hosts that were not probed', async () => {
    const stranger = await bind('127.0.0.2');
    const service = await bind('127.0.0.1', ({ reply }) => reply(stranger.socket));
    const outcomes = await all(
      gateTo(['127.0.0.1']).sweepUdp([task('127.0.0.1', [service.port])], options()),
    );
    expect(shown(outcomes)[service.port]).toBe('open|filtered: no-response');
  });

  it('sends nothing out of scope, nothing to this server, nothing to what left the scan meanwhile', async () => {
    const seen = new Map<string, number>();
    const note = (host: string) => () => seen.set(host, (seen.get(host) ?? 0) + 1);
    const left = await bind('127.0.0.3', note('left'));
    const own = await bind('127.0.0.1', note('own'));
    const outside = await bind('127.0.0.2', note('outside'));
    const gate = gateTo(['127.0.0.1', '127.0.0.3'], { isOwn: (_address, port) => port === own.port });
    const tasks = [
      task('127.0.0.1', [own.port]),
      task('127.0.0.2', [outside.port]),
      task('127.0.0.3', [left.port]),
    ];
    setTimeout(() => gate.narrow((set) => set.minus(parseTargets(['127.0.0.3']).addresses)), 200);
    const outcomes = await all(gate.sweepUdp(tasks, options({ timeoutMs: 1000 })));
    expect(shown(outcomes)).toEqual({
      [own.port]: 'not_tried: own_listener',
      [outside.port]: 'not_tried: out_of_scope',
      [left.port]: 'not_tried: out_of_scope',
    });
    expect(Object.fromEntries(seen)).toEqual({ left: 1 });
    expect(gate.spared).toBe(1);
  });

  it('is silent within a second of a pause and goes on with what is left', async () => {
    const arrivals: number[] = [];
    const host = '127.0.0.1';
    const silent = await bind(host, ({ at }) => arrivals.push(at));
    const hold = new PauseGate();
    const gate = gateTo([host], { hold, rate: new PacketRateLimiter({ rate: 20 }) });
    const ports = [silent.port, ...Array.from({ length: 19 }, (_, at) => at + 1)];
    const again = options({ timeoutMs: 2000, retries: 8 });
    const { result: outcomes } = await inVirtualTime(async () => {
      const running = all(gate.sweepUdp([task(host, ports)], again));
      await new Promise((resolve) => setTimeout(resolve, 400));
      const sentBefore = gate.packetsSent;
      const pausedAt = performance.now();
      hold.hold();
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const late = arrivals.filter((at) => at > pausedAt + 1000);
      expect([late, gate.packetsSent - sentBefore]).toEqual([[], 0]);
      hold.release();
      return running;
    });
    expect(outcomes.filter(({ state }) => state === 'closed')).toHaveLength(19);
    expect(outcomes).toHaveLength(20);
  });

  it('ends when it is canceled and sends nothing more', async () => {
    const cancel = new AbortController();
    const gate = gateTo(['127.0.0.1'], { rate: new PacketRateLimiter({ rate: 100 }) });
    const ports = Array.from({ length: 5000 }, (_, at) => at + 1);
    const waits = options({ signal: cancel.signal, timeoutMs: 60_000 });
    const sweep = all(gate.sweepUdp([task('127.0.0.1', ports)], waits));
    await vi.waitFor(() => expect(gate.packetsSent).toBeGreaterThan(10), 30_000);
    const sent = gate.packetsSent;
    cancel.abort();
    expect((await sweep).length).toBeLessThan(ports.length / 2);
    expect(gate.packetsSent).toBe(sent);
  });

  it('works without an error queue, by one connected socket for each port', async () => {
    const open = await bind('127.0.0.1', responding);
    const silent = await bind('127.0.0.1');
    let sent = 0;
    const outcomes = await all(
      sweepUdp([task('127.0.0.1', [open.port, silent.port, 1, 2])], {
        ...options(),
        rate: new PacketRateLimiter({ rate: 1000 }),
        egress: new Egress(),
        admit: (host) => host,
        isOwn: () => false,
        onSent: (count) => {
          sent += count;
        },
        onUnsent: () => undefined,
        onSpared: () => undefined,
        open: (family) => new ConnectedUdp(family),
      }),
    );
    expect(shown(outcomes)).toEqual({
      [open.port]: 'open: udp-response',
      [silent.port]: 'open|filtered: no-response',
      1: 'closed: port-unreachable',
      2: 'closed: port-unreachable',
    });
    expect(sent).toBe(5);
  });
});

const sweepScript = fileURLToPath(new URL('../fixtures/sweep-udp.ts', import.meta.url));
const hasNft = isInstalled('nft');

interface Swept {
  outcomes: { host: string; port: number; state: string; reason: string }[];
  seconds: number;
  sent: number;
  unsent: [string, number][];
}

describe.skipIf(!canMakeNamespaces)('a UDP sweep between namespaces', () => {
  let own: Namespace;
  let peer: Namespace;
  const sweep = (order: object) => own.run<Swept>(sweepScript, { timeoutMs: 1000, retries: 1, ...order });
  const states = ({ outcomes }: Swept) =>
    Object.fromEntries(outcomes.map(({ port, state, reason }) => [port, `${state}: ${reason}`]));

  beforeAll(() => {
    own = new Namespace();
    peer = new Namespace();
    own.join('eth0', peer);
    own.ip('addr add 10.9.0.1/24 dev eth0');
    own.ip('addr add fd09::1/64 dev eth0 nodad');
    peer.ip('addr add 10.9.0.2/24 dev eth0');
    peer.ip('addr add 10.9.0.3/24 dev eth0');
    peer.ip('addr add fd09::2/64 dev eth0 nodad');
  });
  afterAll(() => {
    own?.close();
    peer?.close();
  });

  // Two that wait for different hosts.
  it.concurrent('takes the time that a host needs which limits its ICMP errors', async () => {
    const ports = Array.from({ length: 14 }, (_, at) => 100 + at);
    const patient = await sweep({ targets: ['10.9.0.3'], ports, asked: ports, retries: 2 });
    const closed = patient.outcomes.filter(({ state }) => state === 'closed');
    expect(closed.length).toBeGreaterThanOrEqual(12);
    expect(patient.seconds).toBeGreaterThan(4);
    expect(patient.outcomes).toHaveLength(14);
    expect(patient.sent).toBeLessThanOrEqual(14 * 3);
  });

  it.concurrent('counts what cannot leave this machine as not tried, and a silent neighbor as filtered', async () => {
    const lost = await sweep({ targets: ['10.250.0.1'], ports: [53, 54] });
    expect(states(lost)).toEqual({
      53: 'not_tried: local error ENETUNREACH',
      54: 'not_tried: local error ENETUNREACH',
    });
    expect([lost.sent, lost.unsent]).toEqual([0, [['local error ENETUNREACH', 2]]]);
    const absent = await sweep({ targets: ['10.9.0.77'], ports: [53], timeoutMs: 5000 });
    expect(states(absent)).toEqual({ 53: 'filtered: host-unreachable' });
  });

  it.skipIf(!hasNft).each([
    ['10.9.0.2', 'ip', 'icmp'],
    ['fd09::2', 'ip6', 'icmpv6'],
  ])('names the ICMP error that filtered a port (%s)', async (target, family, icmp) => {
    for (const key of ['ipv4.icmp_ratelimit=0', 'ipv6.icmp.ratelimit=0'])
      peer.exec('sysctl', '-qw', `net.${key}`);
    const table = `${family} udp_trial`;
    const kinds =
      icmp === 'icmp'
        ? ['admin-prohibited', 'host-unreachable', 'net-unreachable', 'prot-unreachable', 'host-prohibited']
        : ['admin-prohibited', 'addr-unreachable', 'no-route', 'policy-fail', 'reject-route'];
    peer.exec('nft', `add table ${table}`);
    peer.exec('nft', `add chain ${table} input { type filter hook input priority 0 ; }`);
    for (const [at, kind] of kinds.entries())
      peer.exec('nft', `add rule ${table} input udp dport ${1001 + at} reject with ${icmp} type ${kind}`);
    peer.exec('nft', `add rule ${table} input udp dport 1009 drop`);
    const swept = await sweep({ targets: [target], ports: [1001, 1002, 1003, 1004, 1005, 1009, 1010] });
    expect(states(swept)).toEqual({
      1001: 'filtered: admin-prohibited',
      1002: 'filtered: host-unreachable',
      1003: 'filtered: net-unreachable',
      1004: icmp === 'icmp' ? 'filtered: proto-unreachable' : 'filtered: admin-prohibited',
      1005: 'filtered: admin-prohibited',
      1009: 'open|filtered: no-response',
      1010: 'closed: port-unreachable',
    });
  });
});
