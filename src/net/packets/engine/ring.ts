/**
 * Reads a TPACKET_V3 receive ring (linux/if_packet.h, Documentation/networking/packet_mmap.rst). The kernel fills blocks
 * with packets and hands each over by one bit of its status word.
 */
export interface RingShape {
  /** Bytes of a block, a power of two times the page size. */
  blockBytes: number;
  blocks: number;
}

/** Frame size declared for the ring; packets of a block are contiguous whatever their size. */
const frameBytes = 2048;
/** Timeout after which a partial block is handed over, milliseconds. */
const retireMs = 8;

/** Bytes of struct tpacket3_hdr, which is in front of every packet. */
const packetHeaderBytes = 48;

/** Bit of the status word: the block belongs to the reader. */
const statusUser = 1;

/** struct tpacket_req3. */
export function ringRequest({ blockBytes, blocks }: RingShape): Buffer {
  const request = Buffer.alloc(28);
  const frames = (blockBytes / frameBytes) * blocks;
  for (const [at, value] of [blockBytes, blocks, frameBytes, frames, retireMs, 0, 0].entries())
    request.writeUInt32LE(value, 4 * at);
  return request;
}

/** Called with the offset of a packet's network header in the ring, and the number of captured bytes. */
export type PacketReader = (start: number, length: number) => void;

export class Ring {
  readonly bytes: Buffer;
  readonly #shape: RingShape;
  /** The ring as words, for the status of blocks. */
  readonly #words: Int32Array;
  #next = 0;

  constructor(bytes: Buffer, shape: RingShape) {
    this.bytes = bytes;
    this.#shape = shape;
    this.#words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }

  get blocks(): number {
    return this.#shape.blocks;
  }

  /** Reads the next block and returns it to the kernel. @returns false if none is ready */
  readBlock(reader: PacketReader): boolean {
    const block = this.#next * this.#shape.blockBytes;
    const status = block / 4 + 2;
    // Shared with the kernel: what it wrote before the bit must be visible after it.
    if ((Atomics.load(this.#words, status) & statusUser) === 0) return false;
    const { bytes } = this;
    const end = block + this.#shape.blockBytes;
    const packets = bytes.readUInt32LE(block + 12);
    let at = block + bytes.readUInt32LE(block + 16);
    // Whatever the numbers in the block say, this reads only inside of it and terminates.
    for (let left = packets; left > 0 && at + packetHeaderBytes <= end; left--) {
      const start = at + bytes.readUInt16LE(at + 26);
      const length = Math.min(bytes.readUInt32LE(at + 12), end - start);
      if (length > 0) reader(start, length);
      const step = bytes.readUInt32LE(at);
      if (step < packetHeaderBytes) break;
      at += step;
    }
    Atomics.store(this.#words, status, 0);
    this.#next = (this.#next + 1) % this.#shape.blocks;
    return true;
  }
}
