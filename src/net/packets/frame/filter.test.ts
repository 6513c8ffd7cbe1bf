import { expect, it } from 'vitest';
import { responseFilter, snapLength } from './filter.ts';

/** Runs a program as the kernel does: what it gives is how many bytes pass. */
function run(program: Buffer, packet: Buffer, etherType: number): number {
  let accumulator = 0;
  let index = 0;
  for (let at = 0; ; at++) {
    const code = program.readUInt16LE(8 * at);
    const [yes, no] = [program.readUInt8(8 * at + 2), program.readUInt8(8 * at + 3)];
    const k = program.readUInt32LE(8 * at + 4);
    const size = (code & 0x18) === 0x08 ? 2 : 1;
    const read = (from: number) => (from + size > packet.length ? null : packet.readUIntBE(from, size));
    if (code === 0x06) return k;
    if (code === 0xb1) index = ((packet[k] as number) & 15) * 4;
    else if ((code & 7) === 0) {
      const found = k === 0xfffff000 ? etherType : read((code & 0xe0) === 0x40 ? index + k : k);
      if (found === null) return 0;
      accumulator = found;
    } else {
      const holds = code === 0x15 ? accumulator === k : (accumulator & k) !== 0;
      at += holds ? yes : no;
    }
  }
}

const port = 61_234;
const filter = responseFilter(port);

function tcp(to: number, flags: number): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt16BE(443, 0);
  bytes.writeUInt16BE(to, 2);
  bytes[13] = flags;
  return bytes;
}

function ipv4(protocol: number, payload: Buffer, more: { words?: number; fragment?: number } = {}): Buffer {
  const header = Buffer.alloc(4 * (more.words ?? 5));
  header[0] = 0x40 | (more.words ?? 5);
  header.writeUInt16BE(more.fragment ?? 0x4000, 6);
  header[9] = protocol;
  return Buffer.concat([header, payload]);
}

function ipv6(next: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(40);
  header[0] = 0x60;
  header[6] = next;
  return Buffer.concat([header, payload]);
}

const synAck = 0x12;
const reset = 0x14;

it.each([
  ['SYN and ACK over IPv4', ipv4(6, tcp(port, synAck)), 0x0800],
  ['a reset over IPv4', ipv4(6, tcp(port, reset)), 0x0800],
  ['a reset behind IP options', ipv4(6, tcp(port, 0x04), { words: 8 }), 0x0800],
  ['SYN and ACK over IPv6', ipv6(6, tcp(port, synAck)), 0x86dd],
  ['an unreachable', ipv4(1, Buffer.from([3, 3, 0, 0])), 0x0800],
  ['a time exceeded', ipv4(1, Buffer.from([11, 0, 0, 0]), { words: 6 }), 0x0800],
  ['an ICMPv6 unreachable', ipv6(58, Buffer.from([1, 4, 0, 0])), 0x86dd],
  ['an ICMPv6 time exceeded', ipv6(58, Buffer.from([3, 0, 0, 0])), 0x86dd],
] as const)('lets pass %s', (_name, packet, etherType) => {
  expect(run(filter, packet, etherType)).toBe(snapLength);
});

it.each([
  ['another port', ipv4(6, tcp(port + 1, synAck)), 0x0800],
  ['another port over IPv6', ipv6(6, tcp(443, synAck)), 0x86dd],
  ['a SYN', ipv4(6, tcp(port, 0x02)), 0x0800],
  ['a fragment', ipv4(6, tcp(port, synAck), { fragment: 0x2005 }), 0x0800],
  ['an echo reply', ipv4(1, Buffer.from([0, 0, 0, 0])), 0x0800],
  ['a neighbor solicitation', ipv6(58, Buffer.from([135, 0, 0, 0])), 0x86dd],
  ['UDP', ipv4(17, Buffer.alloc(20)), 0x0800],
  ['ARP', Buffer.alloc(28), 0x0806],
  ['a packet that is cut off', ipv4(6, tcp(port, synAck)).subarray(0, 22), 0x0800],
] as const)('drops %s', (_name, packet, etherType) => {
  expect(run(filter, packet, etherType)).toBe(0);
});
