import { beforeEach, expect, it } from 'vitest';
import { Ring } from './ring.ts';

const shape = { blockBytes: 4096, blocks: 3 };
/** Where the fields of a block and of a packet in it lie (linux/if_packet.h). */
const field = { status: 8, packets: 12, first: 16, next: 0, kept: 12, network: 26 } as const;
const blockHeader = 48;
const step = 144;
const network = 96;

let bytes: Buffer;
let ring: Ring;
let read: [start: number, length: number][];
const reader = (start: number, length: number) => void read.push([start, length]);

beforeEach(() => {
  bytes = Buffer.alloc(shape.blockBytes * shape.blocks);
  ring = new Ring(bytes, shape);
  read = [];
});

/** A block as the kernel hands it over: as many packets of 40 bytes. */
function fill(block: number, packets: number): number {
  const start = block * shape.blockBytes;
  bytes.writeUInt32LE(1, start + field.status);
  bytes.writeUInt32LE(packets, start + field.packets);
  bytes.writeUInt32LE(blockHeader, start + field.first);
  for (let at = 0; at < packets; at++) {
    const packet = start + blockHeader + at * step;
    bytes.writeUInt32LE(at === packets - 1 ? 0 : step, packet + field.next);
    bytes.writeUInt32LE(40, packet + field.kept);
    bytes.writeUInt16LE(network, packet + field.network);
  }
  return start;
}

it('reads the packets of block after block, and gives each block back', () => {
  expect(ring.readBlock(reader)).toBe(false);
  for (const block of [0, 1, 2, 0]) {
    const start = fill(block, 3);
    read = [];
    expect(ring.readBlock(reader)).toBe(true);
    const first = start + blockHeader + network;
    expect(read).toEqual([
      [first, 40],
      [first + step, 40],
      [first + 2 * step, 40],
    ]);
    expect(bytes.readUInt32LE(start + field.status)).toBe(0);
    expect(ring.readBlock(reader)).toBe(false);
  }
});

const packet = blockHeader;
it.each([
  ['a packet count that is too high', field.packets, 0xffffffff, 3],
  ['no packets', field.packets, 0, 0],
  ['a first packet behind the block', field.first, shape.blockBytes, 0],
  ['a first packet so near to the end that its header is not whole', field.first, shape.blockBytes - 47, 0],
  ['a first packet far outside', field.first, 0xffffffff, 0],
  ['a next packet behind the block', packet + field.next, shape.blockBytes, 1],
  ['a next packet far outside', packet + field.next, 0xfffffff0, 1],
  ['a next packet inside of this one', packet + field.next, 4, 1],
  ['a packet that begins behind the block', packet + field.network, 0xffff, 2],
])('ends with %s', (_name, at, value, packets) => {
  fill(0, 3);
  if (at === packet + field.network) bytes.writeUInt16LE(value, at);
  else bytes.writeUInt32LE(value, at);
  expect(ring.readBlock(reader)).toBe(true);
  expect(read).toHaveLength(packets);
  expect([ring.readBlock(reader), bytes.readUInt32LE(field.status)]).toEqual([false, 0]);
});

it('does not walk through a block in steps that are smaller than a header', () => {
  for (let at = blockHeader; at < shape.blockBytes; at += 4) bytes.writeUInt32LE(4, at);
  fill(0, 0);
  bytes.writeUInt32LE(0xffffffff, field.packets);
  ring.readBlock(reader);
  expect(read).toHaveLength(1);
});

it('cuts a packet off at the end of its block', () => {
  fill(0, 1);
  bytes.writeUInt32LE(0xffffffff, packet + field.kept);
  ring.readBlock(reader);
  expect(read).toEqual([[packet + network, shape.blockBytes - packet - network]]);
});

it('reads 100,000 blocks of any numbers, and never outside of them', () => {
  let state = 0x5eed;
  const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 8;
  const odd = [0, 1, 47, 48, 4000, 4095, 4096, 0x7fffffff, 0xffffffff];
  for (let round = 0; round < 100_000; round++) {
    const block = round % shape.blocks;
    const start = fill(block, 3);
    for (let left = 1 + (random() % 4); left > 0; left--) {
      const value = random() % 2 === 0 ? (odd[random() % odd.length] as number) : random() % 5000;
      const isOfBlock = random() % 2 === 0;
      const place = isOfBlock
        ? field.packets + 4 * (random() % 2)
        : packet + step * (random() % 3) + (random() % 28);
      bytes.writeUInt32LE(value, start + place);
    }
    read = [];
    if (!ring.readBlock(reader)) throw new Error(`round ${round}: the block was not read`);
    if (read.length > shape.blockBytes / 48) throw new Error(`round ${round}: ${read.length} packets`);
    for (const [at, length] of read) {
      const isInside = at >= start && length > 0 && at + length <= start + shape.blockBytes;
      if (!isInside) throw new Error(`round ${round}: ${length} bytes from ${at - start} on`);
    }
  }
});
