import { beforeEach, describe, expect, it } from 'vitest';
import { addressText } from '../../../domain/targets/address.ts';
import { Chunk, word } from '../engine/chunk.ts';
import { control } from '../engine/engine-control.ts';
import { rejectedPorts } from '../engine/rejection-table.ts';
import {
  as,
  asked,
  endpoint,
  finalizedEndpoints,
  flags,
  hosts,
  icmp,
  key,
  ownPort,
  plan,
  ports,
  type Quoted,
  sequenceTo,
  stranger,
  Trial,
  tcp,
  unreachable,
} from '../fixtures/response-trial.ts';
import { halfSipHash } from './cookie.ts';

let trial: Trial;
beforeEach(() => {
  trial = new Trial();
});

describe.each([4, 6] as const)('responses to probes over IPv%i', (family) => {
  it('takes SYN and ACK for an open port and reports it', () => {
    trial.read(tcp(family, flags.synAck));
    expect(trial.settled).toEqual([`${family} ${as.open}`]);
    expect(trial.opened[family]).toEqual([endpoint]);
    expect(trial.counts).toEqual([1, 0, 0]);
  });

  it.each([
    [0, false],
    [1, true],
    [65_535, true],
  ])('reports whether a SYN and ACK has a window: %i', (window, hasWindow) => {
    trial.read(tcp(family, flags.synAck, { window }));
    expect(trial.windows).toEqual([hasWindow]);
  });

  it('counts the open ports of a host since its last closed one', () => {
    const other = hosts[family][0] as Buffer;
    const runs = [...ports.entries()].map(([at, port]) => {
      trial.read(tcp(family, at === 1 ? flags.resetAck : flags.synAck, { port }));
      return trial.chunks[family].openRuns[1];
    });
    trial.read(tcp(family, flags.synAck, { from: other }));
    expect(runs).toEqual([1, 0, 1, 2]);
    expect([...trial.chunks[family].openRuns]).toEqual([1, 2, 0]);
  });

  it('takes a reset that acknowledges the probe for a closed port', () => {
    trial.read(tcp(family, flags.resetAck));
    expect(trial.settled).toEqual([`${family} ${as.closed}`]);
    expect(trial.opened[family]).toEqual([]);
  });

  it('takes every endpoint by its own', () => {
    for (const from of hosts[family])
      for (const port of ports) trial.read(tcp(family, flags.synAck, { from, port }));
    expect(trial.opened[family]).toEqual([...Array(12).keys()]);
    expect(trial.counts).toEqual([12, 0, 0]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 9, 10, 13])('takes "unreachable" with the code %i for a refusal', (code) => {
    trial.read(icmp(family, unreachable[family], code));
    expect(trial.settled).toEqual([`${family} ${as.rejected}`]);
    expect(trial.opened[family]).toEqual([]);
  });

  it('keeps the type, the code and the sender of the error', () => {
    trial.read(icmp(family, unreachable[family], family === 4 ? 13 : 1));
    const sender = family === 4 ? '10.9.0.4' : 'fd09::4';
    const asks = addressText(asked[family]);
    const { rejections } = trial.chunks[family].state();
    const message = { type: unreachable[family], code: family === 4 ? 13 : 1 };
    expect(rejectedPorts(rejections, asks, 1, Uint16Array.from(ports))).toEqual([
      { reason: 'admin-prohibited', icmp: message, from: sender, state: 'filtered', count: 1, ports: [443] },
    ]);
  });

  it('takes "time exceeded" for a refusal, and a quote of the whole probe', () => {
    trial.read(icmp(family, family === 4 ? 11 : 3, 0, {}, 24));
    expect(trial.settled).toEqual([`${family} ${as.rejected}`]);
  });

  it.each(family === 4 ? [0, 4, 5, 8, 12] : [0, 2, 4, 128, 135, 137])(
    'takes no other ICMP message for one: type %i',
    (type) => {
      trial.read(icmp(family, type, 0));
      expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 1]]);
    },
  );

  it('measures the round trip by genuine responses only', () => {
    trial.read(tcp(family, flags.synAck, { acknowledged: 7 }));
    expect(trial.words[control.roundTrip]).toBe(-1);
    trial.read(tcp(family, flags.synAck));
    expect(trial.words[control.roundTrip]).toBe(24);
    trial.answers.now += 80;
    trial.read(tcp(family, flags.synAck));
    expect(trial.words[control.roundTrip]).toBe(24);
    trial.read(icmp(family, unreachable[family], 1, { port: 22 }));
    expect(trial.words[control.roundTrip]).toBe(104);
  });

  it('ignores a response repeated after a second as a round trip, unless all take as long', () => {
    trial.read(tcp(family, flags.synAck));
    trial.answers.now += 1000;
    trial.read(icmp(family, unreachable[family], 1, { port: 22 }));
    expect(trial.words[control.roundTrip]).toBe(24);
    trial.answers.now += 100;
    Atomics.store(trial.chunks[family].control, word.try, 2);
    trial.read(tcp(family, flags.synAck, { port: 80 }));
    expect(trial.words[control.roundTrip]).toBe(24);
    const far = new Trial();
    far.answers.now += 1000;
    far.read(tcp(family, flags.synAck));
    expect(far.words[control.roundTrip]).toBe(1024);
  });

  describe('forged', () => {
    const right = sequenceTo(asked[family], 443);
    const error = (quoted: Quoted) => icmp(family, unreachable[family], 1, quoted);
    it.each<[string, Buffer]>([
      ['a wrong cookie', tcp(family, flags.synAck, { acknowledged: 0x12345678 })],
      ['the cookie of another port', tcp(family, flags.synAck, { port: 80, acknowledged: right + 1 })],
      [
        'the cookie of another host',
        tcp(family, flags.synAck, { from: hosts[family][0] as Buffer, acknowledged: right + 1 }),
      ],
      ['a number one below', tcp(family, flags.synAck, { acknowledged: right })],
      ['a number one above', tcp(family, flags.resetAck, { acknowledged: right + 2 })],
      ['a number 256 above', tcp(family, flags.synAck, { acknowledged: right + 1 + 256 })],
      ['a reset without ACK', tcp(family, flags.reset)],
      ['a SYN', tcp(family, flags.syn)],
      ['an ACK alone', tcp(family, 0x10)],
      ['no flag at all', tcp(family, 0)],
      ['another destination port', tcp(family, flags.synAck, { to: ownPort + 1 })],
      ['a quote with a wrong sequence number', error({ sequence: right - 1 })],
      ['a quote with a sequence number that is too high', error({ sequence: right + 1 })],
      ['a quote with another source port', error({ ownPort: ownPort - 1 })],
      ['a quote for another port', error({ port: 80, sequence: right })],
      ['a quote for another host', error({ host: hosts[family][2] as Buffer, sequence: right })],
      ['another protocol than TCP', withByte(tcp(family, flags.synAck), family === 4 ? 9 : 6, 17)],
      ['a quote of another protocol', withByte(error({}), family === 4 ? 28 + 9 : 48 + 6, 17)],
    ])('drops %s and counts it', (_name, packet) => {
      trial.read(packet);
      expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 1]]);
      expect(trial.words[control.roundTrip]).toBe(-1);
    });
  });

  it.each<[keyof typeof as, Buffer[]]>([
    ['closed', [tcp(family, flags.resetAck), tcp(family, flags.synAck)]],
    ['open', [tcp(family, flags.synAck), tcp(family, flags.resetAck)]],
    ['open', [tcp(family, flags.synAck), tcp(family, flags.synAck), tcp(family, flags.synAck)]],
    ['rejected', [icmp(family, unreachable[family], 3), tcp(family, flags.synAck)]],
    ['closed', [tcp(family, flags.resetAck), icmp(family, unreachable[family], 3)]],
  ])('believes the first of several responses: %s', (first, packets) => {
    for (const packet of packets) trial.read(packet);
    expect(trial.settled).toEqual([`${family} ${as[first]}`]);
    expect(trial.counts).toEqual([1, packets.length - 1, 0]);
    expect(trial.opened[family]).toEqual(first === 'open' ? [endpoint] : []);
  });

  it('drops packets from hosts and ports that were not probed', () => {
    trial.read(tcp(family, flags.synAck, { from: stranger[family] }));
    trial.read(tcp(family, flags.synAck, { port: 444 }));
    trial.read(icmp(family, unreachable[family], 3, { host: stranger[family] }));
    trial.read(icmp(family, unreachable[family], 3, { port: 444 }));
    expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 4]]);
  });

  it('drops packets for a removed chunk and still reads those for the others', () => {
    trial.answers.remove(family);
    trial.read(tcp(family, flags.synAck));
    expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 1]]);
    const other = family === 4 ? 6 : 4;
    trial.read(tcp(other, flags.synAck));
    expect([trial.settled, trial.counts]).toEqual([[`${other} ${as.open}`], [1, 0, 1]]);
  });

  it('knows only the ports of a chunk, whatever those of an ended one were', () => {
    trial.answers.remove(family);
    const later = new Chunk(plan(family, { id: 99, ports: Uint16Array.of(22) }));
    trial.answers.add(later, () => undefined);
    trial.read(tcp(family, flags.synAck));
    expect([finalizedEndpoints(later), trial.counts]).toEqual([[], [0, 0, 1]]);
    trial.read(tcp(family, flags.synAck, { port: 22 }));
    expect(finalizedEndpoints(later)).toHaveLength(1);
  });

  it('serves two chunks that probe the same endpoint, each by its own response', () => {
    const later = new Chunk(plan(family, { id: 99 }));
    trial.answers.add(later, () => undefined);
    trial.read(tcp(family, flags.synAck));
    expect([finalizedEndpoints(trial.chunks[family]), finalizedEndpoints(later)]).toEqual([[as.open], []]);
    trial.read(tcp(family, flags.synAck));
    expect(finalizedEndpoints(later)).toEqual([as.open]);
    trial.read(tcp(family, flags.synAck));
    expect(trial.counts).toEqual([2, 1, 0]);
  });

  it('stops probing a host at its first response if the chunk needs no more', () => {
    const discovery = new Trial({ untilAnswer: true });
    discovery.read(icmp(family, unreachable[family], 1));
    expect([...discovery.chunks[family].dropped]).toEqual([0, 0, 0]);
    discovery.read(tcp(family, flags.resetAck, { port: 80 }));
    expect([...discovery.chunks[family].dropped]).toEqual([0, 1, 0]);
    trial.read(tcp(family, flags.resetAck, { port: 80 }));
    expect([...trial.chunks[family].dropped]).toEqual([0, 0, 0]);
  });

  it.each<[string, Buffer, number]>([
    ['SYN and ACK', tcp(family, flags.synAck), (family === 4 ? 20 : 40) + 20],
    ['a reset', tcp(family, flags.resetAck), (family === 4 ? 20 : 40) + 20],
    ['an ICMP error', icmp(family, unreachable[family], 3, {}, 24), family === 4 ? 56 : 96],
  ])('reads nothing behind the end of a packet: %s, cut off at every length', (_name, packet, needed) => {
    for (let length = 0; length <= packet.length; length++) {
      // The bytes behind the end would make it whole.
      const one = new Trial().read(packet, length);
      expect([length, one.counts]).toEqual([length, length < needed ? [0, 0, 1] : [1, 0, 0]]);
      const { seen, reads } = watched(packet);
      new Trial().read(seen, length);
      expect(Math.max(-1, ...reads)).toBeLessThan(length);
    }
  });
});

describe('headers', () => {
  it.each([6, 8, 15])('reads a response behind %i words of IPv4 header', (words) => {
    trial.read(tcp(4, flags.synAck, { words }));
    expect(trial.settled).toEqual([`4 ${as.open}`]);
  });

  it.each([6, 8, 15])('reads a quote with %i words of an IPv4 header', (words) => {
    trial.read(icmp(4, 3, 1, { words }));
    expect(trial.settled).toEqual([`4 ${as.rejected}`]);
  });

  it.each([0, 1, 4, 6, 11, 15])('drops an IPv4 header that says %i words and has 5', (words) => {
    trial.read(withByte(tcp(4, flags.synAck), 0, 0x40 | words));
    trial.read(withByte(icmp(4, 3, 1), 0, 0x40 | words));
    trial.read(withByte(icmp(4, 3, 1), 28, 0x40 | words));
    expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 3]]);
  });

  it.each([0, 5, 7, 15])('drops an unknown version: %i', (version) => {
    trial.read(withByte(tcp(4, flags.synAck), 0, (version << 4) | 5));
    trial.read(withByte(tcp(6, flags.synAck), 0, version << 4));
    expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 2]]);
  });

  it.each([0, 43, 44, 60])('drops IPv6 with an extension header in front: %i', (next) => {
    for (const packet of [tcp(6, flags.synAck), icmp(6, 1, 4)]) {
      const extension = Buffer.from([packet[6] as number, 0, 1, 4, 0, 0, 0, 0]);
      const extended = Buffer.concat([packet.subarray(0, 40), extension, packet.subarray(40)]);
      trial.read(withByte(extended, 6, next));
    }
    expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 2]]);
  });

  it('reads a packet in the middle of others', () => {
    const packet = tcp(4, flags.synAck);
    const ring = Buffer.concat([tcp(4, flags.synAck, { port: 22 }), packet, tcp(6, flags.resetAck)]);
    trial.answers.read(ring, packet.length, packet.length);
    expect(trial.settled).toEqual([`4 ${as.open}`]);
  });
});

describe('addresses and headers that run into each other', () => {
  it.each([
    ['0a0093b0', '0a002f4e'],
    ['fd09000000000000000000000000f4b6', 'fd090000000000000000000000001077'],
  ])('distinguishes addresses with the same hash: %s and %s', (one, other) => {
    const [target, double] = [Buffer.from(one, 'hex'), Buffer.from(other, 'hex')];
    expect(halfSipHash(key, target)).toBe(halfSipHash(key, double));
    const family = target.length === 4 ? 4 : 6;
    const those = new Trial();
    those.answers.add(new Chunk(plan(family, { hosts: target })), () => undefined);
    those.read(tcp(family, flags.synAck, { from: double }));
    those.read(icmp(family, unreachable[family], 1, { host: double }));
    expect(those.counts).toEqual([0, 0, 2]);
    those.read(tcp(family, flags.synAck, { from: target }));
    expect(those.counts).toEqual([1, 0, 2]);
  });

  it('drops an IPv4 header of 4 words, although TCP follows where it says', () => {
    const packet = tcp(4, flags.synAck);
    const short = Buffer.concat([packet.subarray(0, 16), packet.subarray(20), Buffer.alloc(4)]);
    trial.read(withByte(short, 0, 0x44));
    expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 1]]);
  });

  it('drops a quote of a header of 4 words, whose target is made of the ports behind it', () => {
    const target = Buffer.from([ownPort >>> 8, ownPort & 0xff, 443 >>> 8, 443 & 0xff]);
    const those = new Trial();
    those.answers.add(new Chunk(plan(4, { hosts: target })), () => undefined);
    const packet = icmp(4, 3, 1, { host: target }, 24);
    // The target's place holds what is read as ports as well.
    const short = Buffer.concat([packet.subarray(0, 48), packet.subarray(52)]);
    those.read(withByte(Buffer.from(short), 28, 0x45));
    those.read(withByte(short, 28, 0x44));
    expect(those.counts).toEqual([0, 0, 2]);
  });
});

function withByte(packet: Buffer, at: number, byte: number): Buffer {
  packet[at] = byte;
  return packet;
}

/** A packet that notes which of its bytes were read. */
function watched(packet: Buffer): { seen: Buffer; reads: number[] } {
  const reads: number[] = [];
  const seen = new Proxy(packet, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads.push(Number(name));
      const value: unknown = Reflect.get(target, name, target);
      return value;
    },
  });
  return { seen, reads };
}
