import { isDeepStrictEqual } from 'node:util';
import { PacketRateLimiter } from '../../gate/rate.ts';
import { type CookieKey, cookie, halfSipHash } from '../frame/cookie.ts';
import { checksum } from '../frame/echo.ts';
import { foldedChecksum, swap16, synTemplate, templateSums, wordSum } from '../frame/frame.ts';
import { permutation } from '../frame/permutation.ts';
import { loadSys } from '../linux/sys.ts';
import type { ChunkPlan } from './chunk.ts';
import { Ring } from './ring.ts';

/** A self-test of the packet engine; sends nothing. */
export interface SelfTest {
  name: string;
  /** @throws Error that states the problem */
  run(): void;
}

export const selfTests: SelfTest[] = [
  { name: 'the C library can be called', run: () => void loadSys().errno() },
  { name: 'keyed hashes match the published vectors', run: checkCookies },
  { name: 'probe checksums are correct', run: checkChecksums },
  { name: 'a permutation visits every endpoint exactly once', run: checkWalk },
  { name: 'recorded packets are read from a ring', run: checkRing },
  { name: 'the rate is never exceeded in any second', run: checkPace },
];

/** HalfSipHash-2-4 with the key 00..07 over 00, 00 01, ... (github.com/veorq/SipHash, vectors.h). */
const published = 'a9359f5b 27475ab8 fa62a603 8afee704 2a6e4689 c5fab669 5863fc23 8bcf63c5'.split(' ');
const publishedKey: CookieKey = [0x03020100, 0x07060504];

function checkCookies(): void {
  const hashes = published.map((_, length) => {
    const bytes = Uint8Array.from({ length }, (_byte, at) => at);
    return swapped(halfSipHash(publishedKey, bytes)).toString(16).padStart(8, '0');
  });
  expectEqual(hashes, published, 'hashes');
  const eight = Buffer.from('0011223344556677', 'hex');
  const words = [eight.readUInt32LE(0), eight.readUInt32LE(4)] as const;
  expectEqual(cookie(publishedKey, ...words), halfSipHash(publishedKey, eight), 'hash of an endpoint');
}

function swapped(value: number): number {
  return Buffer.from(Uint32Array.of(value).buffer).readUInt32BE(0);
}

/** Builds probes as the engine does, by adding up, and verifies them as a receiver does: the total sum is zero. */
function checkChecksums(): void {
  for (const family of [4, 6] as const) {
    for (const seed of [1, 2, 3, 4]) {
      const size = family === 4 ? 4 : 16;
      const address = (first: number) =>
        Uint8Array.from({ length: size }, (_, at) => (first + at * 37 * seed) & 0xff);
      const plan = { family, rung: 'frame', source: address(10), ownMac: address(2).subarray(0, 4) } as const;
      const probe = buildProbe(plan, address(200 + seed), 443 * seed, (0x9e3779b9 * seed) >>> 0);
      const segment = probe.bytes.subarray(probe.layout.port - 2);
      const pseudo = Buffer.alloc(2 * size + 4);
      pseudo.set(probe.bytes.subarray(probe.layout.destination - size, probe.layout.destination + size));
      pseudo.writeUInt16BE(6, 2 * size);
      pseudo.writeUInt16BE(segment.length, 2 * size + 2);
      expectEqual(checksum(Buffer.concat([pseudo, segment])), 0, `TCP checksum of IPv${family}`);
      if (family === 4) expectEqual(checksum(probe.bytes.subarray(14, 34)), 0, 'IPv4 header checksum');
    }
  }
}

/** Builds a probe word by word; the fast path of the engine does the same in kernel memory. */
function buildProbe(
  plan: Pick<ChunkPlan, 'family' | 'rung' | 'source' | 'ownMac'>,
  destination: Uint8Array,
  port: number,
  sequence: number,
) {
  const { bytes, layout } = synTemplate(plan, 61_000);
  const sums = templateSums(bytes, layout);
  const host = wordSum(destination, 0, destination.length);
  const [to, high, low] = [swap16(port), swap16(sequence >>> 16), swap16(sequence & 0xffff)];
  bytes.set(destination, layout.destination);
  if (layout.ipChecksum >= 0) bytes.writeUInt16LE(foldedChecksum(sums.ip + host), layout.ipChecksum);
  bytes.writeUInt16LE(to, layout.port);
  bytes.writeUInt16LE(high, layout.sequence);
  bytes.writeUInt16LE(low, layout.sequence + 2);
  bytes.writeUInt16LE(foldedChecksum(sums.tcp + host + to + high + low), layout.tcpChecksum);
  return { bytes, layout };
}

function checkWalk(): void {
  for (const size of [1, 2, 7, 100, 65_535, 100_003]) {
    const seen = new Uint8Array(size);
    let count = 0;
    for (const index of permutation(size)) {
      if (seen[index] !== 0) throw new Error(`${index} of ${size} came twice`);
      seen[index] = 1;
      count += 1;
    }
    expectEqual(count, size, `positions of a permutation of ${size}`);
  }
}

/**
 * A block of a ring as filled by Linux 6.18: the responses of 127.0.0.1 to two probes, SYN and ACK from port 8022 and
 * a reset from port 8023, with sequence numbers 11223344 and 55667788.
 */
const recordedBlock =
  '0200000030000000210000000200000030000000480100000100000000000000e4fe016b996d4c0fe4fe016bde4ae510' +
  '90000000e4fe016b3d13e5102c0000002c00000009000000600060' +
  `${'00'.repeat(32)}110008000100000004030006${'00'.repeat(25)}` +
  '4500002c0000400040063cca7f0000017f0000011f56f2311f4b49fa112233456012ffd7fe2000000204ffd7' +
  `${'00'.repeat(4)}00000000e4fe016bde4ae510280000002800000001000000600060` +
  `${'00'.repeat(32)}110008000100000004030006${'00'.repeat(25)}` +
  '450000280000400040063cce7f0000017f0000011f57f231000000005566778950140000d3550000';

function checkRing(): void {
  const shape = { blockBytes: 4096, blocks: 2 };
  const bytes = Buffer.alloc(shape.blockBytes * shape.blocks);
  bytes.write(recordedBlock, 'hex');
  const ring = new Ring(bytes, shape);
  const read: number[][] = [];
  const reader = (start: number, length: number) => {
    const tcp = start + 20;
    read.push([length, bytes.readUInt16BE(tcp), bytes[tcp + 13] as number, bytes.readUInt32BE(tcp + 8)]);
  };
  expectEqual(ring.readBlock(reader), true, 'a ready block');
  expectEqual(
    read,
    [
      [44, 8022, 0x12, 0x11223345],
      [40, 8023, 0x14, 0x55667789],
    ],
    'packets of the block',
  );
  expectEqual([ring.readBlock(reader), bytes.readUInt32LE(8)], [false, 0], 'the returned block');
}

function checkPace(): void {
  for (const rate of [10, 1000, 250_000]) {
    let now = 0;
    const limiter = new PacketRateLimiter({ rate, clock: () => now });
    const times: number[] = [];
    const step = Math.max(0.01, 200 / rate);
    for (; now < 3000; now += step) {
      for (let left = Math.ceil(rate * 0.01); left > 0 && limiter.tryTake(); left--) times.push(now);
    }
    let first = 0;
    for (const [at, time] of times.entries()) {
      while ((times[first] as number) <= time - 1000) first += 1;
      if (at - first + 1 > Math.ceil(rate * 1.05))
        throw new Error(`${at - first + 1} in a second of ${rate}`);
    }
    if (times.length < 2.8 * rate) throw new Error(`only ${times.length} in three seconds of ${rate}`);
  }
}

function expectEqual(found: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}
