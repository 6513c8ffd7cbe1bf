import { Chunk, type ChunkPlan } from '../../src/net/packets/engine/chunk.ts';
import { controlWords } from '../../src/net/packets/engine/engine-control.ts';
import { Ring } from '../../src/net/packets/engine/ring.ts';
import { type CookieKey, cookie, halfSipHash } from '../../src/net/packets/frame/cookie.ts';
import { readEchoError, readEchoReply } from '../../src/net/packets/frame/echo.ts';
import { Responses } from '../../src/net/packets/frame/response-reader.ts';
import { stackAt } from '../../src/net/packets/frame/stack-traits.ts';
import { readQueuedError } from '../../src/net/packets/linux/error-queue.ts';
import { readReply } from '../../src/net/packets/linux/neighbor-frame.ts';
import { attributesOf } from '../../src/net/packets/linux/netlink.ts';

/** What comes in on raw sockets, and its readers. */

type Family = 4 | 6;

const key: CookieKey = [0x0badcafe, 0x12345678];
const ownPort = 61_000;
const ports = [22, 80, 443, 8080];
const own = { 4: Buffer.from('0a090001', 'hex'), 6: Buffer.from(`fd09${'0'.repeat(27)}1`, 'hex') };
const host = { 4: Buffer.from('0a090002', 'hex'), 6: Buffer.from(`fd09${'0'.repeat(27)}2`, 'hex') };
const synAck = 0x12;
const resetAck = 0x14;

/** Options of a SYN/ACK of Linux: MSS, SACK permitted, timestamps, window scale. */
const options = Buffer.from('020405b40402080a0000000100000002', 'hex');

function ip(family: Family, protocol: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(family === 4 ? 20 : 40);
  if (family === 4) {
    header[0] = 0x45;
    header.writeUInt16BE(20 + payload.length, 2);
    header[6] = 0x40;
    header[8] = 64;
    header[9] = protocol;
    header.set(host[4], 12);
    header.set(own[4], 16);
  } else {
    header[0] = 0x60;
    header.writeUInt16BE(payload.length, 4);
    header[6] = protocol;
    header[7] = 64;
    header.set(host[6], 8);
    header.set(own[6], 24);
  }
  return Buffer.concat([header, payload]);
}

const sequenceTo = (family: Family, port: number) =>
  cookie(key, halfSipHash(key, host[family]), (port << 16) | ownPort) >>> 0;

function tcp(family: Family, flag: number, port = 443): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt16BE(port, 0);
  header.writeUInt16BE(ownPort, 2);
  header.writeUInt32BE((sequenceTo(family, port) + 1) >>> 0, 8);
  header[12] = ((20 + options.length) / 4) << 4;
  header[13] = flag;
  header.writeUInt16BE(64_240, 14);
  return ip(family, 6, Buffer.concat([header, options]));
}

/** A router's word on a probe, which it quotes. */
function unreachable(family: Family): Buffer {
  const probe = Buffer.alloc(20);
  probe.writeUInt16BE(ownPort, 0);
  probe.writeUInt16BE(443, 2);
  probe.writeUInt32BE(sequenceTo(family, 443), 4);
  const quoted = ip(family, 6, probe);
  quoted.set(own[family], family === 4 ? 12 : 8);
  quoted.set(host[family], family === 4 ? 16 : 24);
  const head = Buffer.from([family === 4 ? 3 : 1, 1, 0, 0, 0, 0, 0, 0]);
  return ip(family, family === 4 ? 1 : 58, Buffer.concat([head, quoted]));
}

export const sweepPackets: readonly Buffer[] = ([4, 6] as const).flatMap((family) => [
  tcp(family, synAck),
  tcp(family, synAck, 22),
  tcp(family, resetAck),
  unreachable(family),
]);

function plan(family: Family): ChunkPlan {
  return {
    id: family,
    family,
    hosts: host[family],
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
  };
}

/** Reads one packet as the hearing thread does, and wants it counted once. */
export function readSweepPacket(packet: Buffer): unknown {
  const answers = new Responses({
    key,
    ownPort,
    control: new SharedArrayBuffer(4 * controlWords),
  });
  const chunks = ([4, 6] as const).map((family) => new Chunk(plan(family)));
  for (const chunk of chunks) answers.add(chunk, () => undefined);
  answers.read(packet, 0, packet.length);
  const { valid, repeated, foreign } = answers.counts;
  if (valid + repeated + foreign !== 1) throw new Error('a packet was not counted once');
  return chunks.map(({ stacks }) => stackAt(stacks, 0));
}

const blockBytes = 4096;
const ringBytes = Buffer.alloc(blockBytes);

/** A block with three packets, as the kernel hands it over (linux/if_packet.h). */
export const ringBlock: Buffer = Buffer.alloc(blockBytes);
ringBlock.writeUInt32LE(1, 8);
ringBlock.writeUInt32LE(3, 12);
ringBlock.writeUInt32LE(48, 16);
for (const [at, packet] of sweepPackets.slice(0, 3).entries()) {
  const start = 48 + 240 * at;
  ringBlock.writeUInt32LE(240, start);
  ringBlock.writeUInt32LE(packet.length, start + 12);
  ringBlock.writeUInt16LE(96, start + 26);
  packet.copy(ringBlock, start + 96);
}

/** Whatever the numbers in a block say, nothing outside of it is read. */
export function readRing(block: Buffer): unknown {
  ringBytes.fill(0);
  block.copy(ringBytes, 0, 0, blockBytes);
  const ring = new Ring(ringBytes, { blockBytes, blocks: 1 });
  let packets = 0;
  ring.readBlock((start, length) => {
    packets += 1;
    if (start < 0 || start + length > blockBytes) throw new Error('read outside of the block');
  });
  return packets;
}

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

const arpReply = hex(
  '0a0000000001 0a0000000002 0806 0001 0800 06 04 0002 0a0000000002 0a090002 0a0000000001 0a090001',
);

export const socketMessages: readonly Buffer[] = [
  arpReply,
  // The answer to an echo request, with and without its IP header.
  ip(4, 1, Buffer.concat([hex('0000000012340001'), Buffer.alloc(20, 5)])),
  Buffer.concat([hex('8100000012340001'), Buffer.alloc(20, 5)]),
  // Control data of the error queue: port unreachable.
  Buffer.concat([hex('3000000000000000 00000000 0b000000 6f000000 02030300'), Buffer.alloc(24)]),
  // Attributes of a route.
  hex('08000100c0000200 0800040002000000 06000900ffff0000'),
];

export function readSocketMessage(message: Buffer): unknown {
  return [
    readReply(message, own[4]),
    readReply(message, own[6]),
    readEchoReply(message, { family: 4, method: 'raw', id: 0x1234 }),
    readEchoReply(message, { family: 6, method: 'raw', id: 0x1234 }),
    readEchoReply(message, { family: 4, method: 'datagram', id: 0x1234 }),
    readEchoError(message, { family: 4, id: 0x1234 }),
    readEchoError(message, { family: 6, id: 0x1234 }),
    readQueuedError(message, 4),
    readQueuedError(message, 6),
    attributesOf(message).size,
  ];
}
