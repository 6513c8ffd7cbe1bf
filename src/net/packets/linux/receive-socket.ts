import { Ring, type RingShape, ringRequest } from '../engine/ring.ts';
import { responseFilter } from '../frame/filter.ts';
import { attachFilter, bindPacketSocket } from './packet-socket.ts';
import { afPacket, errnoName, loadSys, type Sys, socketTypes, u32 } from './sys.ts';

const allProtocols = 0x0003;
const solPacket = 263;
const option = { rxRing: 5, statistics: 6, version: 10, ignoreOutgoing: 23 } as const;
const tpacketV3 = 2;
const pollIn = 1;

const blockBytes = 256 * 1024;
/** Fewer are used if memory is short, down to the minimum. */
const mostBlocks = 32;
const leastBlocks = 4;

/**
 * The largest ring of a packet socket that the kernel allocates and that this process may map.
 * @throws Error if not even the minimum is available
 */
export function makeRing(sys: Pick<Sys, 'setsockopt' | 'mapped' | 'errno'>, fd: number): Ring {
  const request = (shape: RingShape) => {
    const bytes = ringRequest(shape);
    return sys.setsockopt(fd, solPacket, option.rxRing, bytes, bytes.length) === 0;
  };
  let reason = '';
  for (let blocks = mostBlocks; blocks >= leastBlocks; blocks /= 2) {
    const shape = { blockBytes, blocks };
    if (!request(shape)) {
      reason = errnoName(sys.errno());
      continue;
    }
    try {
      return new Ring(sys.mapped(fd, blockBytes * blocks).buffer, shape);
    } catch (error) {
      reason = (error as Error).message;
      // A ring of another size is rejected while there is one.
      request({ blockBytes, blocks: 0 });
    }
  }
  throw new Error(`cannot allocate the packet ring: ${reason}`);
}

/** Receives responses to probes on every interface of this machine, through a kernel filter. */
export class ReceiveSocket {
  readonly ring: Ring;
  readonly #sys: Sys;
  readonly #fd: number;
  readonly #descriptor: { address: number; buffer: Buffer };
  #received = 0;
  #dropped = 0;

  /** @throws Error that names the missing permission */
  constructor(ownPort: number) {
    this.#sys = loadSys();
    // Datagrams come without the header of the link, so that every interface looks the same.
    this.#fd = this.#sys.socket(afPacket, socketTypes.datagram, 0);
    if (this.#fd < 0) throw this.#failure('cannot open a packet socket');
    this.#set(option.version, u32(tpacketV3));
    this.#set(option.ignoreOutgoing, u32(1));
    if (!attachFilter(this.#sys, this.#fd, responseFilter(ownPort)))
      throw this.#failure('cannot attach the filter of a packet socket');
    this.ring = makeRing(this.#sys, this.#fd);
    this.#descriptor = this.#sys.memory(4096);
    this.#descriptor.buffer.writeInt32LE(this.#fd, 0);
    this.#descriptor.buffer.writeInt16LE(pollIn, 4);
    // Last, so that nothing arrives before filter and ring are in place.
    if (!bindPacketSocket(this.#sys, this.#fd, allProtocols, 0))
      throw this.#failure('cannot bind a packet socket');
  }

  wait(ms: number): void {
    this.#sys.poll(this.#descriptor.address, 1, ms);
  }

  /** Packets since the socket was opened; reading the kernel's counters resets them (packet(7)). */
  figures(): { received: number; dropped: number } {
    const value = Buffer.alloc(12);
    if (this.#sys.getsockopt(this.#fd, solPacket, option.statistics, value, u32(value.length)) === 0) {
      this.#received += value.readUInt32LE(0);
      this.#dropped += value.readUInt32LE(4);
    }
    return { received: this.#received, dropped: this.#dropped };
  }

  #set(name: number, value: Buffer): void {
    if (this.#sys.setsockopt(this.#fd, solPacket, name, value, value.length) !== 0)
      throw this.#failure('cannot configure a packet socket');
  }

  #failure(what: string): Error {
    return new Error(`${what}: ${errnoName(this.#sys.errno())}`);
  }
}
