import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aimFrame, readReply, requestFrame } from './neighbor-frame.ts';

const mac = Buffer.from('000c29000001', 'hex');
const ipv4 = Buffer.from('0a090001', 'hex');
const ipv6 = Buffer.from('fd090000000000000000000000000001', 'hex');

/** fd09::2 at 00:0c:29:00:00:02 to fd09::1 at 00:0c:29:00:00:01. */
const advertisement = withChecksum(
  Buffer.from(
    '000c29000001000c2900000286dd6000000000203afffd090000000000000000000000000002' +
      'fd0900000000000000000000000000018800000060000000fd0900000000000000000000000000020201000c29000002',
    'hex',
  ),
);
// 10.9.0.2 to 10.9.0.1, the MACs as above
const reply = Buffer.from(
  '000c29000001000c2900000208060001080006040002000c290000020a090002000c290000010a090001',
  'hex',
);

describe('requests', () => {
  it('sends an ARP request', () => {
    const frame = requestFrame(mac, ipv4);
    aimFrame(frame, Buffer.from('0a090002', 'hex'));
    expect(frame.toString('hex')).toBe(
      'ffffffffffff000c2900000108060001080006040001000c290000010a0900010000000000000a090002',
    );
  });

  it('sends a Neighbor Solicitation to the solicited-node group, with a checksum', () => {
    const frame = requestFrame(mac, ipv6);
    aimFrame(frame, Buffer.from('fd09000000000000000000000abcdef0', 'hex'));
    expect(frame.subarray(0, 6).toString('hex')).toBe('3333ffbcdef0');
    expect(frame.subarray(38, 54).toString('hex')).toBe('ff0200000000000000000001ffbcdef0');
    expect(frame[21]).toBe(255);
    expect(frame.subarray(62, 86).toString('hex')).toBe('fd09000000000000000000000abcdef00101000c29000001');
    expect(wordSum(frame)).toBe(0xffff);
    aimFrame(frame, ipv6);
    expect(wordSum(frame)).toBe(0xffff);
  });
});

describe('replies', () => {
  it('reads the sender of a reply', () => {
    expect(readReply(reply, ipv4)).toEqual({
      mac: reply.subarray(22, 28),
      address: Buffer.from('0a090002', 'hex'),
    });
    expect(readReply(advertisement, ipv6)?.mac.toString('hex')).toBe('000c29000002');
    expect(readReply(advertisement, ipv6)?.address.toString('hex')).toBe('fd090000000000000000000000000002');
  });

  it('takes the sender of the frame where an advertisement names no MAC', () => {
    const short = Buffer.from(advertisement.subarray(0, 78));
    short.writeUInt16BE(24, 18);
    expect(readReply(withChecksum(short), ipv6)?.mac.toString('hex')).toBe('000c29000002');
  });

  it.each([
    ['a hop limit that routers counted down', 21, 254],
    ['another next header', 20, 17],
    ['a solicitation', 54, 135],
    ['a code', 55, 1],
    ['a wrong checksum', 56, 0],
    ['another receiver', 53, 9],
    ['a length beyond the frame', 19, 200],
    ['a length without a target', 19, 16],
  ])('drops an advertisement with %s', (_name, at, byte) => {
    const frame = Buffer.from(advertisement);
    frame[at] = byte;
    if (at !== 56 && at !== 19) withChecksum(frame);
    expect(readReply(frame, ipv6)).toBeNull();
  });

  it('reads any bytes without an error, and never a MAC that no host has', () => {
    const seeds = fc.constantFrom(reply, advertisement);
    const mutated = fc
      .tuple(seeds, fc.array(fc.tuple(fc.nat(127), fc.nat(255)), { maxLength: 6 }), fc.nat(128))
      .map(([seed, changes, length]) => {
        const frame = Buffer.concat([seed, Buffer.alloc(64)]).subarray(0, length);
        for (const [at, byte] of changes) if (at < frame.length) frame[at] = byte;
        return frame;
      });
    // What another host of the link sends is wrong in any way, but not in its checksum.
    const forged = mutated.map((frame) => (frame.length < 78 ? frame : withChecksum(frame)));
    const any = fc.oneof(
      mutated,
      forged,
      fc.uint8Array({ maxLength: 128 }).map((bytes) => Buffer.from(bytes)),
    );
    let responses = 0;
    fc.assert(
      fc.property(any, fc.constantFrom(ipv4, ipv6), (frame, source) => {
        const read = readReply(frame, source);
        if (read === null) return;
        responses += 1;
        expect(read.mac).toHaveLength(6);
        expect((read.mac[0] ?? 1) & 1).toBe(0);
        expect(read.address).toHaveLength(source.length);
      }),
      { numRuns: 100_000, seed: 7 },
    );
    expect(responses).toBeGreaterThan(5000);
  });
});

/** Ones' complement sum of ICMPv6 with its pseudo header; 0xffff when the checksum is right. */
function wordSum(frame: Buffer): number {
  let sum = frame.readUInt16BE(18) + 58;
  for (let at = 22; at + 1 < frame.length; at += 2) sum += frame.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum;
}

function withChecksum(frame: Buffer): Buffer {
  frame.writeUInt16BE(0, 56);
  frame.writeUInt16BE(~wordSum(frame) & 0xffff, 56);
  return frame;
}
