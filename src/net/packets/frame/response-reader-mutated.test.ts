import { beforeEach, describe, expect, it } from 'vitest';
import {
  flags,
  hosts,
  type IpFamily,
  icmp,
  ownPort,
  ports,
  protocols,
  type ResponseOutcome,
  sequenceTo,
  Trial,
  tcp,
} from '../fixtures/response-trial.ts';

let trial: Trial;
beforeEach(() => {
  trial = new Trial();
});

describe('mutated packets', () => {
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

  it.each(Object.entries(kinds))(
    '100,000 of %s complete the endpoints they are evidence for and no others',
    (_name, seed) => {
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
    },
  );

  /** Whether only that endpoint is complete. Resets the chunk. */
  function isOnly(expected: Evidence | null): boolean {
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

interface Evidence {
  family: IpFamily;
  endpoint: number;
  outcome: ResponseOutcome;
}

/** What a packet proves, in plain steps on parts of it that are cut out: the other way to the same end. */
function proven(packet: Buffer): Evidence | null {
  const outer = split(packet);
  if (!outer) return null;
  const { family, protocol, payload, from } = outer;
  if (protocol === protocols[family].tcp) {
    if (payload.length < 20) return null;
    const [port, to, flag] = [payload.readUInt16BE(0), payload.readUInt16BE(2), payload[13] as number];
    const has = (bits: number) => (flag & bits) === bits;
    const outcome = has(flags.resetAck) ? 'closed' : has(flags.synAck) && !has(flags.reset) ? 'open' : null;
    if (to !== ownPort || outcome === null) return null;
    return evidence(family, from, port, (payload.readUInt32BE(8) - 1) >>> 0, outcome);
  }
  if (protocol !== protocols[family].icmp || payload.length < 8) return null;
  const types = family === 4 ? [3, 11] : [1, 3];
  if (!types.includes(payload[0] as number)) return null;
  const inner = split(payload.subarray(8), family);
  if (inner?.protocol !== protocols[family].tcp || inner.payload.length < 8) return null;
  if (inner.payload.readUInt16BE(0) !== ownPort) return null;
  const port = inner.payload.readUInt16BE(2);
  return evidence(family, inner.to, port, inner.payload.readUInt32BE(4), 'rejected');
}

/** @param known family of a quote: its version is not looked at */
function split(packet: Buffer, known?: IpFamily) {
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

function evidence(
  family: IpFamily,
  host: Buffer,
  port: number,
  sequence: number,
  outcome: ResponseOutcome,
): Evidence | null {
  const [hostNumber, portNumber] = [
    hosts[family].findIndex((each) => each.equals(host)),
    ports.indexOf(port),
  ];
  if (hostNumber < 0 || portNumber < 0) return null;
  if (sequence !== sequenceTo(host, port)) return null;
  return { family, endpoint: hostNumber * ports.length + portNumber, outcome };
}
