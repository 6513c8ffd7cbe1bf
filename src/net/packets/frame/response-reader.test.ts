import { beforeEach, describe, expect, it } from 'vitest';
import { Chunk, type ChunkPlan, word } from '../engine/chunk.ts';
import { control, controlWords } from '../engine/engine-control.ts';
import { type CookieKey, cookie, halfSipHash } from './cookie.ts';
import { synTemplate } from './frame.ts';
import { Responses } from './response-reader.ts';

type Family = 4 | 6;
type Outcome = 'open' | 'closed' | 'rejected';

const key: CookieKey = [0x0badcafe, 0x12345678];
const ownPort = 61_000;
const ports = [22, 80, 443, 8080];
const own = { 4: Buffer.from('0a090001', 'hex'), 6: Buffer.from(`fd09${'0'.repeat(27)}1`, 'hex') };
const hosts = {
  4: ['0a090002', '0a090003', 'ac100001'].map((hex) => Buffer.from(hex, 'hex')),
  6: ['02', '03', 'ff'].map((last) => Buffer.from(`fd09${'0'.repeat(26)}${last}`, 'hex')),
};
const asked = { 4: hosts[4][1] as Buffer, 6: hosts[6][1] as Buffer };
/** Number of the host above times ports, plus number of port 443. */
const endpoint = 1 * 4 + 2;
const stranger = { 4: Buffer.from('0a090004', 'hex'), 6: Buffer.from(`fd09${'0'.repeat(27)}4`, 'hex') };
/** When all probes were sent, in steps of 8 ms. */
const sentTick = 5;

const flags = { syn: 0x02, reset: 0x04, synAck: 0x12, resetAck: 0x14 } as const;
const protocols = { 4: { tcp: 6, icmp: 1 }, 6: { tcp: 6, icmp: 58 } } as const;
const unreachable = { 4: 3, 6: 1 } as const;

function plan(family: Family, more: Partial<ChunkPlan> = {}): ChunkPlan {
  return {
    id: family,
    family,
    hosts: Buffer.concat(hosts[family]),
    ports: Uint16Array.from(ports),
    rung: 'ip',
    link: 1,
    source: own[family],
    ownMac: null,
    macs: null,
    tries: 1,
    hostRate: 0,
    key: [1, 2, 3, 4, 5, 6, 7, 8],
    waits: { between: 100, final: 200, most: 1000 },
    spared: new Uint32Array(0),
    restored: null,
    ...more,
  };
}

function sequenceTo(host: Buffer, port: number): number {
  return cookie(key, halfSipHash(key, host), (port << 16) | ownPort) >>> 0;
}

function ip(family: Family, from: Buffer, protocol: number, payload: Buffer, words = 5): Buffer {
  const header = Buffer.alloc(family === 4 ? 4 * words : 40);
  if (family === 4) {
    header[0] = 0x40 | words;
    header.writeUInt16BE(header.length + payload.length, 2);
    header[8] = 60;
    header[9] = protocol;
    header.set(from, 12);
    header.set(own[4], 16);
  } else {
    header[0] = 0x60;
    header.writeUInt16BE(payload.length, 4);
    header[6] = protocol;
    header[7] = 60;
    header.set(from, 8);
    header.set(own[6], 24);
  }
  return Buffer.concat([header, payload]);
}

interface TcpAnswer {
  from?: Buffer;
  port?: number;
  to?: number;
  acknowledged?: number;
  words?: number;
}

/** What a host sends back to a probe, right in every point that is not given. */
function tcp(family: Family, flag: number, more: TcpAnswer = {}): Buffer {
  const { from = asked[family], port = 443, to = ownPort, words } = more;
  const segment = Buffer.alloc(24);
  segment.writeUInt16BE(port, 0);
  segment.writeUInt16BE(to, 2);
  segment.writeUInt32BE(0x01020304, 4);
  segment.writeUInt32BE((more.acknowledged ?? sequenceTo(from, port) + 1) >>> 0, 8);
  segment[12] = 0x60;
  segment[13] = flag;
  return ip(family, from, 6, segment, words);
}

interface Quoted {
  host?: Buffer;
  port?: number;
  ownPort?: number;
  sequence?: number;
  /** 32-bit words of an IPv4 header in the quote. */
  words?: number;
}

/** What a router sends back about a probe: eight bytes of TCP are quoted, or as many as are wished. */
function icmp(family: Family, type: number, code: number, more: Quoted = {}, tcpBytes = 8): Buffer {
  const { host = asked[family], port = 443, words = 5 } = more;
  const { bytes: probe, layout } = synTemplate(
    { family, rung: 'ip', source: own[family], ownMac: null },
    more.ownPort ?? ownPort,
  );
  probe.set(host, layout.destination);
  probe.writeUInt16BE(port, layout.port);
  probe.writeUInt32BE((more.sequence ?? sequenceTo(host, port)) >>> 0, layout.sequence);
  const header = family === 4 ? 20 : 40;
  if (family === 4) probe[0] = 0x40 | words;
  const options = Buffer.alloc(family === 4 ? 4 * words - 20 : 0, 1);
  const quote = [probe.subarray(0, header), options, probe.subarray(header, header + tcpBytes)];
  const message = Buffer.concat([Buffer.from([type, code, 0, 0, 0, 0, 0, 0]), ...quote]);
  return ip(family, stranger[family], protocols[family].icmp, message);
}

/** A reader that asks the same of IPv4 and IPv6. */
class Trial {
  readonly words = new Int32Array(new SharedArrayBuffer(4 * controlWords));
  readonly answers: Responses;
  readonly chunks: Record<Family, Chunk>;
  readonly opened: Record<Family, number[]> = { 4: [], 6: [] };

  constructor(more: Partial<ChunkPlan> = {}) {
    this.words[control.roundTrip] = -1;
    this.answers = new Responses({ key, ownPort, control: this.words.buffer as SharedArrayBuffer });
    this.answers.now = 8 * (sentTick + 3);
    this.chunks = { 4: new Chunk(plan(4, more)), 6: new Chunk(plan(6, more)) };
    for (const family of [4, 6] as const) {
      this.chunks[family].sentAt.fill(sentTick);
      this.answers.add(this.chunks[family], (open) => this.opened[family].push(open));
    }
  }

  read(packet: Buffer, length = packet.length): this {
    this.answers.read(packet, 0, length);
    return this;
  }

  /** Endpoints of the families that are settled, and as what their hosts are counted. */
  get settled(): string[] {
    return ([4, 6] as const).flatMap((family) =>
      settledOf(this.chunks[family]).map((at) => `${family} ${at}`),
    );
  }

  get counts(): [valid: number, repeated: number, foreign: number] {
    const { valid, repeated, foreign } = this.answers.counts;
    return [valid, repeated, foreign];
  }
}

function settledOf(chunk: Chunk): string[] {
  const of = (outcome: Outcome) => [...chunk.counts[outcome]].join('');
  const found = [...Array(chunk.endpoints).keys()].filter((at) => chunk.isSettled(at));
  return found.map((at) => `${at}: open ${of('open')} closed ${of('closed')} rejected ${of('rejected')}`);
}

const as = {
  open: `${endpoint}: open 010 closed 000 rejected 000`,
  closed: `${endpoint}: open 000 closed 010 rejected 000`,
  rejected: `${endpoint}: open 000 closed 000 rejected 010`,
};

let trial: Trial;
beforeEach(() => {
  trial = new Trial();
});

describe.each([4, 6] as const)('answers to probes over IPv%i', (family) => {
  it('takes SYN and ACK for an open port, and tells of it', () => {
    trial.read(tcp(family, flags.synAck));
    expect(trial.settled).toEqual([`${family} ${as.open}`]);
    expect(trial.opened[family]).toEqual([endpoint]);
    expect(trial.counts).toEqual([1, 0, 0]);
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

  it('measures the round trip by true answers only', () => {
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

  it('takes an answer that a host repeats after a second for no round trip, unless all take so long', () => {
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
  ])('believes the first of several answers: %s', (first, packets) => {
    for (const packet of packets) trial.read(packet);
    expect(trial.settled).toEqual([`${family} ${as[first]}`]);
    expect(trial.counts).toEqual([1, packets.length - 1, 0]);
    expect(trial.opened[family]).toEqual(first === 'open' ? [endpoint] : []);
  });

  it('drops what hosts and ports send that were not asked', () => {
    trial.read(tcp(family, flags.synAck, { from: stranger[family] }));
    trial.read(tcp(family, flags.synAck, { port: 444 }));
    trial.read(icmp(family, unreachable[family], 3, { host: stranger[family] }));
    trial.read(icmp(family, unreachable[family], 3, { port: 444 }));
    expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 4]]);
  });

  it('drops what comes after the chunk was removed, and still hears the others', () => {
    trial.answers.remove(family);
    trial.read(tcp(family, flags.synAck));
    expect([trial.settled, trial.counts]).toEqual([[], [0, 0, 1]]);
    const other = family === 4 ? 6 : 4;
    trial.read(tcp(other, flags.synAck));
    expect([trial.settled, trial.counts]).toEqual([[`${other} ${as.open}`], [1, 0, 1]]);
  });

  it('serves two chunks that ask the same endpoint, each by an answer', () => {
    const later = new Chunk(plan(family, { id: 99 }));
    trial.answers.add(later, () => undefined);
    trial.read(tcp(family, flags.synAck));
    expect([settledOf(trial.chunks[family]), settledOf(later)]).toEqual([[as.open], []]);
    trial.read(tcp(family, flags.synAck));
    expect(settledOf(later)).toEqual([as.open]);
    trial.read(tcp(family, flags.synAck));
    expect(trial.counts).toEqual([2, 1, 0]);
  });

  it('asks a host no further that has answered, where only that is wanted', () => {
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
  it.each([6, 8, 15])('reads an answer behind %i words of an IPv4 header', (words) => {
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
  ])('tells addresses apart that have one hash: %s and %s', (one, other) => {
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

describe('T-015 mutated packets', () => {
  const kinds: Record<string, Buffer> = {
    'SYN and ACK': tcp(4, flags.synAck),
    'a reset': tcp(4, flags.resetAck),
    'SYN and ACK behind options': tcp(4, flags.synAck, { words: 9 }),
    'an ICMP error': icmp(4, 3, 3, {}, 24),
    'an ICMP error that quotes options': icmp(4, 11, 0, { words: 7 }),
    'SYN and ACK over IPv6': tcp(6, flags.synAck),
    'a reset over IPv6': tcp(6, flags.resetAck),
    'an ICMPv6 error': icmp(6, 1, 4, {}, 24),
  };
  const seeds = Object.values(kinds);

  it.each(Object.entries(kinds))('100,000 of %s settle what they prove and nothing else', (_name, seed) => {
    const random = generator(0x5eed);
    const taken = { settled: 0, dropped: 0 };
    for (let round = 0; round < 100_000; round++) {
      const packet = mutated(seed, seeds, random);
      const expected = proven(packet);
      taken[expected ? 'settled' : 'dropped'] += 1;
      // Nothing behind it, what would make it whole, and what is in no packet: all the same.
      const behind = [Buffer.alloc(0), seed.subarray(Math.min(packet.length, seed.length)), ones];
      for (const more of behind) {
        trial.read(more.length === 0 ? packet : Buffer.concat([packet, more]), packet.length);
        if (!isOnly(expected)) throw new Error(`round ${round}: ${packet.toString('hex')}`);
      }
    }
    // Many are still whole, many are not: both ways were gone.
    expect(Math.min(taken.settled, taken.dropped)).toBeGreaterThan(5000);
    expect(trial.counts).toEqual([3 * taken.settled, 0, 3 * taken.dropped]);
  });

  /** Whether that endpoint is settled, and nothing else is; then all is as if nothing had been read. */
  function isOnly(expected: Proof | null): boolean {
    let is = true;
    for (const family of [4, 6] as const) {
      const { settled, counts } = trial.chunks[family];
      const mine = expected?.family === family ? expected : null;
      is &&= settled[0] === (mine ? 1 << mine.endpoint : 0);
      is &&= trial.opened[family].length === (mine?.outcome === 'open' ? 1 : 0);
      for (const outcome of ['open', 'closed', 'rejected'] as const) {
        const host = mine?.outcome === outcome ? Math.floor(mine.endpoint / ports.length) : -1;
        for (let at = 0; at < 3; at++) is &&= counts[outcome][at] === (at === host ? 1 : 0);
        counts[outcome].fill(0);
      }
      settled[0] = 0;
      trial.opened[family].length = 0;
    }
    return is;
  }
});

const ones = Buffer.alloc(200, 0xff);

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

/** Random numbers of 32 bits out of a seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** A packet with up to three faults: bits, bytes, lengths, and parts of other packets. */
function mutated(seed: Buffer, others: readonly Buffer[], random: () => number): Buffer {
  let packet: Buffer = Buffer.from(seed);
  for (let left = 1 + (random() % 3); left > 0; left--) {
    const at = random() % Math.max(1, packet.length);
    const way = random() % 8;
    if (way < 2) packet[at] = (packet[at] as number) ^ (1 << (random() & 7));
    else if (way === 2) packet[at] = random();
    else if (way === 3) packet[at] = [0, 1, 0x7f, 0x80, 0xff][random() % 5] as number;
    else if (way === 4) packet[0] = random();
    else if (way === 5) packet = packet.subarray(0, random() % (packet.length + 1));
    else if (way === 6) {
      const inserted = Buffer.alloc(1 + (random() & 15), random() & 0xff);
      packet = Buffer.concat([packet.subarray(0, at), inserted, packet.subarray(at)]);
    } else {
      const other = others[random() % others.length] as Buffer;
      packet = Buffer.concat([packet.subarray(0, at), other.subarray(random() % other.length)]);
    }
  }
  return packet;
}

interface Proof {
  family: Family;
  endpoint: number;
  outcome: Outcome;
}

/** What a packet proves, in plain steps on parts of it that are cut out: the other way to the same end. */
function proven(packet: Buffer): Proof | null {
  const outer = split(packet);
  if (!outer) return null;
  const { family, protocol, payload, from } = outer;
  if (protocol === protocols[family].tcp) {
    if (payload.length < 20) return null;
    const [port, to, flag] = [payload.readUInt16BE(0), payload.readUInt16BE(2), payload[13] as number];
    const has = (bits: number) => (flag & bits) === bits;
    const outcome = has(flags.resetAck) ? 'closed' : has(flags.synAck) && !has(flags.reset) ? 'open' : null;
    if (to !== ownPort || outcome === null) return null;
    return proof(family, from, port, (payload.readUInt32BE(8) - 1) >>> 0, outcome);
  }
  if (protocol !== protocols[family].icmp || payload.length < 8) return null;
  const types = family === 4 ? [3, 11] : [1, 3];
  if (!types.includes(payload[0] as number)) return null;
  const inner = split(payload.subarray(8), family);
  if (inner?.protocol !== protocols[family].tcp || inner.payload.length < 8) return null;
  if (inner.payload.readUInt16BE(0) !== ownPort) return null;
  const port = inner.payload.readUInt16BE(2);
  return proof(family, inner.to, port, inner.payload.readUInt32BE(4), 'rejected');
}

/** @param known family of a quote: its version is not looked at */
function split(packet: Buffer, known?: Family) {
  const version = known ?? (packet[0] ?? 0) >>> 4;
  if (version === 4 && packet.length >= 20) {
    const header = ((packet[0] as number) & 15) * 4;
    if (header < 20 || packet.length < header) return null;
    const [from, to] = [packet.subarray(12, 16), packet.subarray(16, 20)];
    return { family: 4 as const, protocol: packet[9], from, to, payload: packet.subarray(header) };
  }
  if (version !== 6 || packet.length < 40) return null;
  const [from, to] = [packet.subarray(8, 24), packet.subarray(24, 40)];
  return { family: 6 as const, protocol: packet[6], from, to, payload: packet.subarray(40) };
}

function proof(family: Family, host: Buffer, port: number, sequence: number, outcome: Outcome): Proof | null {
  const [hostNumber, portNumber] = [
    hosts[family].findIndex((each) => each.equals(host)),
    ports.indexOf(port),
  ];
  if (hostNumber < 0 || portNumber < 0) return null;
  if (sequence !== sequenceTo(host, port)) return null;
  return { family, endpoint: hostNumber * ports.length + portNumber, outcome };
}
