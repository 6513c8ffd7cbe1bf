import { readNetworks } from './links.ts';
import { aimFrame, type NeighborReply, readReply, requestFrame } from './neighbor-frame.ts';
import { errnoName, loadSys, type Sys } from './sys.ts';

/** Frames per system call. */
export const frameBatch = 64;

const afPacket = 17;
const sockRaw = 3;
const sockNonblockCloexec = 0o4000 | 0o2000000;
const msgDontwait = 0x40;
const eagain = 11;
const enobufs = 105;
const protocol = { 4: 0x0806, 16: 0x86dd } as const;

const headerBytes = 64; // struct mmsghdr
const vectorBytes = 16; // struct iovec
/** Room for a frame; the replies are 42 and 86 bytes. */
const frameBytes = 128;
const programBytes = 128;

/** The facts about a link that its neighbor resolution needs; an `ethernet` route has them all. */
export interface NeighborLink {
  interface: string;
  index: number;
  /** Own MAC, 6 bytes. */
  mac: Uint8Array | null;
  /** Own address, 4 or 16 bytes. */
  source: Uint8Array;
}

/** A non-blocking packet socket of one link that resolves neighbors of one family: ARP, or IPv6 Neighbor Discovery. */
export class NeighborSocket {
  #sys: Sys;
  #fd: number;
  #source: Uint8Array;
  #mac: Uint8Array;
  #arena: FrameArena;

  private constructor(sys: Sys, fd: number, mac: Uint8Array, source: Uint8Array) {
    this.#sys = sys;
    this.#fd = fd;
    this.#mac = mac;
    this.#source = source;
    this.#arena = arenas.pop() ?? new FrameArena(sys);
    this.#arena.prepare(requestFrame(mac, source));
  }

  /**
   * @param bytes 4 resolves IPv4 addresses, 16 IPv6
   * @returns the socket, or why there is none
   */
  static open(link: NeighborLink, bytes: 4 | 16): NeighborSocket | { reason: string } {
    let sys: Sys;
    try {
      sys = loadSys();
    } catch (error) {
      return { reason: (error as Error).message };
    }
    if (!link.mac) return { reason: `interface ${link.interface} has no MAC address` };
    const source = link.source.length === bytes ? link.source : linkLocalOf(link.index);
    if (!source) return { reason: `interface ${link.interface} has no source address` };
    // Protocol 0: nothing is received before the filter is in place.
    const fd = sys.socket(afPacket, sockRaw | sockNonblockCloexec, 0);
    if (fd < 0) return { reason: packetRefusal(errnoName(sys.errno())) };
    const socket = new NeighborSocket(sys, fd, link.mac, source);
    if (socket.#listen(link.index, bytes)) return socket;
    const reason = `interface ${link.interface}: ${errnoName(sys.errno())}`;
    socket.close();
    return { reason };
  }

  /**
   * Sends requests for the addresses from the first on. `done`: number processed; less than given if the kernel
   * buffer is full. `refusals`: why some of these could not be sent, as errno names.
   */
  send(addresses: readonly Uint8Array[]): { done: number; sent: number; refusals: string[] } {
    const count = Math.min(addresses.length, frameBatch);
    for (let at = 0; at < count; at++) aimFrame(this.#arena.request(at), addresses[at] as Uint8Array);
    let done = 0;
    let sent = 0;
    const refusals: string[] = [];
    while (done < count) {
      const headers = this.#arena.sendHeaders + done * headerBytes;
      const taken = this.#sys.sendmmsg(this.#fd, headers, count - done, msgDontwait);
      if (taken > 0) {
        done += taken;
        sent += taken;
        continue;
      }
      const errno = this.#sys.errno();
      if (errno === eagain || errno === enobufs) break;
      // The link is down or gone; after a short outage only the first call fails.
      refusals.push(errnoName(errno));
      done += 1;
    }
    return { done, sent, refusals };
  }

  /** All pending replies; their bytes are valid until the next one is taken. */
  *receive(): Generator<NeighborReply, void, undefined> {
    for (;;) {
      const count = this.#sys.recvmmsg(this.#fd, this.#arena.receiveHeaders, frameBatch, msgDontwait, 0);
      for (let at = 0; at < count; at++) {
        const reply = readReply(this.#arena.received(at), this.#source);
        // An echo of our own frame is not a reply.
        if (reply && !reply.mac.equals(this.#mac)) yield reply;
      }
      if (count < frameBatch) return;
    }
  }

  close(): void {
    if (this.#fd < 0) return;
    this.#sys.close(this.#fd);
    this.#fd = -1;
    arenas.push(this.#arena);
  }

  #listen(index: number, bytes: 4 | 16): boolean {
    const program = this.#arena.program(responseProgram(bytes));
    if (this.#sys.setsockopt(this.#fd, 1, 26, program, program.length) < 0) return false; // SO_ATTACH_FILTER
    const room = Buffer.alloc(4);
    room.writeUInt32LE(1 << 22);
    // SO_RCVBUFFORCE if permitted, else SO_RCVBUF.
    if (this.#sys.setsockopt(this.#fd, 1, 33, room, 4) < 0) this.#sys.setsockopt(this.#fd, 1, 8, room, 4);
    const address = Buffer.alloc(20); // struct sockaddr_ll
    address.writeUInt16LE(afPacket, 0);
    address.writeUInt16BE(protocol[bytes], 2);
    address.writeInt32LE(index, 4);
    return this.#sys.bind(this.#fd, address, address.length) >= 0;
  }
}

/** Why this process cannot open a packet socket, or null. */
export function packetSocketProblem(): string | null {
  let sys: Sys;
  try {
    sys = loadSys();
  } catch (error) {
    return (error as Error).message;
  }
  const fd = sys.socket(afPacket, sockRaw | sockNonblockCloexec, 0);
  if (fd < 0) return packetRefusal(errnoName(sys.errno()));
  sys.close(fd);
  return null;
}

function packetRefusal(errno: string): string {
  return `cannot open a packet socket (${errno}); grant CAP_NET_RAW`;
}

/** An IPv4 route may have an IPv6 next hop: resolve it from the link-local address. */
function linkLocalOf(index: number): Uint8Array | null {
  const own = readNetworks().find((network) => network.index === index && network.first >> 118n === 0x3fan);
  return own?.address ?? null;
}

/**
 * Instructions of a classic BPF program, `[code, jump if true, jump if false, k]`: frames for this machine without a
 * VLAN tag that are ARP replies or Neighbor Advertisements.
 */
function responseProgram(bytes: 4 | 16): [number, number, number, number][] {
  const response: [number, number, number, number][] =
    bytes === 4
      ? [
          [0x28, 0, 0, 20], // half word: operation
          [0x15, 0, 1, 2],
        ]
      : [
          [0x30, 0, 0, 20], // byte: next header
          [0x15, 0, 3, 58],
          [0x30, 0, 0, 54], // byte: ICMPv6 type
          [0x15, 0, 1, 136],
        ];
  const rest = response.length;
  return [
    [0x30, 0, 0, 0xfffff004], // packet type, SKF_AD_PKTTYPE
    [0x35, rest + 3, 0, 3], // of another host, or outgoing
    [0x30, 0, 0, 0xfffff030], // SKF_AD_VLAN_TAG_PRESENT
    [0x15, 0, rest + 1, 0],
    ...response,
    [0x06, 0, 0, frameBytes],
    [0x06, 0, 0, 0],
  ];
}

/** Arenas of closed sockets, for reuse. */
const arenas: FrameArena[] = [];

/** The structures of one sendmmsg and one recvmmsg, and of a filter, linked once. */
class FrameArena {
  readonly sendHeaders: number;
  readonly receiveHeaders: number;
  #memory: Buffer;
  #address: number;
  #frameLength = 0;

  constructor(sys: Sys) {
    const { address, buffer } = sys.memory(2 * batchBytes + programBytes);
    this.#memory = buffer;
    this.#address = address;
    this.sendHeaders = address;
    this.receiveHeaders = address + batchBytes;
    for (const start of [0, batchBytes]) {
      for (let at = 0; at < frameBatch; at++) this.#link(start, at);
    }
  }

  /** Copies the same frame to every position. */
  prepare(frame: Buffer): void {
    this.#frameLength = frame.length;
    for (let at = 0; at < frameBatch; at++) {
      this.#memory.writeBigUInt64LE(BigInt(frame.length), vectorsAt + at * vectorBytes + 8);
      this.request(at).set(frame);
    }
  }

  request(at: number): Buffer {
    const start = framesAt + at * frameBytes;
    return this.#memory.subarray(start, start + this.#frameLength);
  }

  received(at: number): Buffer {
    const length = this.#memory.readUInt32LE(batchBytes + at * headerBytes + 56);
    const start = batchBytes + framesAt + at * frameBytes;
    return this.#memory.subarray(start, start + Math.min(length, frameBytes));
  }

  /** Encodes a filter program. @returns struct sock_fprog that points to it */
  program(instructions: readonly (readonly [number, number, number, number])[]): Buffer {
    const start = 2 * batchBytes;
    for (const [at, [code, yes, no, k]] of instructions.entries()) {
      this.#memory.writeUInt16LE(code, start + at * 8);
      this.#memory.writeUInt8(yes, start + at * 8 + 2);
      this.#memory.writeUInt8(no, start + at * 8 + 3);
      this.#memory.writeUInt32LE(k, start + at * 8 + 4);
    }
    const description = Buffer.alloc(16);
    description.writeUInt16LE(instructions.length, 0);
    description.writeBigUInt64LE(BigInt(this.#address + start), 8);
    return description;
  }

  #link(start: number, at: number): void {
    const header = start + at * headerBytes;
    const vector = start + vectorsAt + at * vectorBytes;
    this.#memory.writeBigUInt64LE(BigInt(this.#address + vector), header + 16);
    this.#memory.writeBigUInt64LE(1n, header + 24);
    this.#memory.writeBigUInt64LE(BigInt(this.#address + start + framesAt + at * frameBytes), vector);
    this.#memory.writeBigUInt64LE(BigInt(frameBytes), vector + 8);
  }
}

/** Layout of a batch: headers, vectors, frames. */
const vectorsAt = frameBatch * headerBytes;
const framesAt = vectorsAt + frameBatch * vectorBytes;
const batchBytes = framesAt + frameBatch * frameBytes;
