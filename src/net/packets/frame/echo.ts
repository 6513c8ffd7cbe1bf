import { randomBytes, randomInt } from 'node:crypto';
import type { Family } from '../../../domain/targets/address.ts';
import type { SocketEgress } from '../../egress.ts';
import { bindSocket } from '../linux/bind-socket.ts';
import { errnoName, loadSys, type Sys, u32 } from '../linux/sys.ts';

/** Messages per system call. */
export const batchSize = 64;

const headerBytes = 64; // struct mmsghdr
const vectorBytes = 16; // struct iovec
const nameBytes = 32; // struct sockaddr_in (16) or sockaddr_in6 (28)
const packetBytes = 64; // ICMP header 8 + payload 56, as ping(8) sends
const responseBytes = 256;

const afInet = 2;
const afInet6 = 10;
const sockDgram = 2;
const sockRaw = 3;
const sockNonblockCloexec = 0o4000 | 0o2000000;
const msgDontwait = 0x40;
const eagain = 11;
const enobufs = 105;

/** ICMP messages for host discovery. */
export type PingType = 'echo' | 'timestamp';

const icmp = {
  4: { domain: afInet, protocol: 1, request: 8, reply: 0, nameLength: 16 },
  6: { domain: afInet6, protocol: 58, request: 128, reply: 129, nameLength: 28 },
} as const;

/** The minimum header, which raw sockets of IPv4 return before a message. */
const ipv4Bytes = 20;

/** Timestamp and Timestamp Reply (RFC 792): header 8, originate, receive and transmit time of 4 bytes each. */
const stamp = { request: 13, reply: 14, bytes: 20 } as const;
/** The high bit marks a non-standard time (RFC 792): nothing about this machine's clock is sent. */
const noTime = 0x80000000;
/** The low bits of the originate time are the number of the try; those between belong to the nonce. */
const attemptBits = 0x1f;

export interface EchoRequest {
  type: PingType;
  /** 4 or 16 bytes. */
  address: Uint8Array;
  /** Interface index of a link-local IPv6 address, else 0. */
  scopeId: number;
  /** 16 bits. */
  sequence: number;
  /** Below 32 for timestamps. */
  attempt: number;
  /** 8 random bytes that only the true receiver can echo. */
  nonce: Uint8Array;
}

export interface EchoReply extends EchoRequest {
  /** The part of it that this type of response echoes. */
  nonce: Uint8Array;
}

/** The part of a nonce that a response carries. */
export function expectedNonce({ type, nonce }: Pick<EchoRequest, 'type' | 'nonce'>): Uint8Array {
  if (type === 'echo') return nonce;
  const part = Buffer.from(nonce.subarray(0, 4));
  part.writeUInt32BE((part.readUInt32BE(0) & ~attemptBits & ~noTime) >>> 0);
  return part;
}

/**
 * A non-blocking socket for echo and timestamp requests of one family, raw where the process may, else an ICMP datagram socket
 * (Linux: `net.ipv4.ping_group_range`), which can send echo requests only. Timestamps exist in IPv4 only. RFC 792, RFC
 * 4443 section 4.
 */
export class EchoSocket {
  readonly method: 'raw' | 'datagram';
  readonly family: Family;
  #sys: Sys;
  #fd: number;
  #arena: Arena;
  #id = randomInt(1, 0x10000);

  private constructor(sys: Sys, family: Family, method: 'raw' | 'datagram', fd: number) {
    this.#sys = sys;
    this.family = family;
    this.method = method;
    this.#fd = fd;
    this.#arena = arenas.pop() ?? new Arena(sys);
    this.#arena.prepare(icmp[family].nameLength);
    if (method === 'raw') this.#filterReplies();
    this.#setOption(1, 8, u32(1 << 20)); // SOL_SOCKET, SO_RCVBUF
  }

  /** The socket, bound to what was chosen of its way out, or why this process cannot open one. */
  static open(family: Family, egress: SocketEgress | null): EchoSocket | { reason: string } {
    let sys: Sys;
    try {
      sys = loadSys();
    } catch (error) {
      return { reason: (error as Error).message };
    }
    const { domain, protocol } = icmp[family];
    const raw = sys.socket(domain, sockRaw | sockNonblockCloexec, protocol);
    if (raw >= 0) return EchoSocket.#bound(sys, family, 'raw', raw, egress);
    const rawError = errnoName(sys.errno());
    const datagram = sys.socket(domain, sockDgram | sockNonblockCloexec, protocol);
    if (datagram >= 0) return EchoSocket.#bound(sys, family, 'datagram', datagram, egress);
    return { reason: rejection(rawError, errnoName(sys.errno())) };
  }

  static #bound(
    sys: Sys,
    family: Family,
    method: 'raw' | 'datagram',
    fd: number,
    egress: SocketEgress | null,
  ): EchoSocket | { reason: string } {
    // The port of an ICMP datagram socket is its identifier; the kernel chooses it.
    const errno = egress ? bindSocket(sys, fd, { ...egress, port: 0 }) : 0;
    if (errno === 0) return new EchoSocket(sys, family, method, fd);
    sys.close(fd);
    return { reason: `cannot bind an ICMP socket: ${errnoName(errno)}` };
  }

  /**
   * Sends the requests from the first on. `done`: number processed; less than given if the kernel buffer is full.
   * `refusals`: why some of these could not be sent, as errno names.
   */
  send(requests: readonly EchoRequest[]): { done: number; sent: number; refusals: string[] } {
    const count = Math.min(requests.length, batchSize);
    for (let at = 0; at < count; at++) this.#write(at, requests[at] as EchoRequest);
    let done = 0;
    let sent = 0;
    const refusals: string[] = [];
    while (done < count) {
      const taken = this.#sys.sendmmsg(
        this.#fd,
        this.#arena.sendHeaders + done * headerBytes,
        count - done,
        msgDontwait,
      );
      if (taken > 0) {
        done += taken;
        sent += taken;
        continue;
      }
      const errno = this.#sys.errno();
      if (errno === eagain || errno === enobufs) break;
      // This destination is not reachable from here (no route, forbidden); the others are.
      refusals.push(errnoName(errno));
      done += 1;
    }
    return { done, sent, refusals };
  }

  /** All pending replies that echo what was sent. */
  *receive(): Generator<EchoReply, void, undefined> {
    for (;;) {
      this.#arena.resetNames();
      const count = this.#sys.recvmmsg(this.#fd, this.#arena.receiveHeaders, batchSize, msgDontwait, 0);
      for (let at = 0; at < count; at++) {
        const reply = this.#parse(at);
        if (reply) yield reply;
      }
      if (count < batchSize) return;
    }
  }

  close(): void {
    if (this.#fd < 0) return;
    this.#sys.close(this.#fd);
    this.#fd = -1;
    arenas.push(this.#arena);
  }

  #write(at: number, request: EchoRequest): void {
    const { domain } = icmp[this.family];
    const name = this.#arena.sendName(at);
    name.fill(0);
    name.writeUInt16LE(domain, 0);
    name.set(request.address, this.family === 4 ? 4 : 8);
    if (this.family === 6) name.writeUInt32LE(request.scopeId, 24);
    const packet = this.#arena.packet(at, request.type === 'echo' ? packetBytes : stamp.bytes);
    packet.fill(request.type === 'echo' ? 0x20 : 0);
    packet.writeUInt8(request.type === 'echo' ? icmp[this.family].request : stamp.request, 0);
    packet.writeUInt8(0, 1);
    packet.writeUInt16BE(0, 2);
    packet.writeUInt16BE(this.#id, 4);
    packet.writeUInt16BE(request.sequence, 6);
    if (request.type === 'echo') {
      packet.writeUInt32BE(request.attempt, 8);
      packet.set(request.nonce, 12);
    } else {
      const part = Buffer.from(expectedNonce(request)).readUInt32BE(0);
      packet.writeUInt32BE((noTime | part | (request.attempt & attemptBits)) >>> 0, 8);
    }
    // For ICMPv6 the kernel fills the checksum in.
    if (this.family === 4) packet.writeUInt16BE(checksum(packet), 2);
  }

  #parse(at: number): EchoReply | null {
    const { data, name } = this.#arena.received(at);
    const reply = readEchoReply(data, { family: this.family, method: this.method, id: this.#id });
    return (
      reply && {
        ...reply,
        address: this.family === 4 ? name.subarray(4, 8) : name.subarray(8, 24),
        scopeId: this.family === 6 ? name.readUInt32LE(24) : 0,
      }
    );
  }

  /** A raw socket receives all ICMP of the machine; the kernel filters replies to such requests. */
  #filterReplies(): void {
    if (this.family === 4) {
      this.#setOption(255, 1, u32(~(1 | (1 << stamp.reply)) >>> 0)); // SOL_RAW, ICMP_FILTER: a set bit blocks a type
      return;
    }
    const blocked = Buffer.alloc(32, 0xff);
    const type = icmp[6].reply;
    blocked.writeUInt32LE(~(1 << (type & 31)) >>> 0, (type >> 5) * 4);
    this.#setOption(58, 1, blocked); // IPPROTO_ICMPV6, ICMP6_FILTER
  }

  #setOption(level: number, name: number, value: Buffer): void {
    this.#sys.setsockopt(this.#fd, level, name, value, value.length);
  }
}

/**
 * Parses a message received by a socket; null if it is not a response to a request with this identifier. The nonce is
 * a part of the message.
 */
export function readEchoReply(
  data: Buffer,
  { family, method, id }: Pick<EchoSocket, 'family' | 'method'> & { id: number },
): Omit<EchoReply, 'address' | 'scopeId'> | null {
  const withIpHeader = family === 4 && method === 'raw';
  const start = withIpHeader ? ((data[0] ?? 0) & 15) * 4 : 0;
  if ((withIpHeader && start < ipv4Bytes) || data.length < start + stamp.bytes) return null;
  const type = typeOf(family, data[start] as number);
  if (type === null) return null;
  // For datagram sockets the kernel demultiplexes responses by ID.
  if (method === 'raw' && data.readUInt16BE(start + 4) !== id) return null;
  const originate = data.readUInt32BE(start + 8);
  const carried = { type, nonce: data.subarray(start + 8, start + 12) };
  return {
    type,
    sequence: data.readUInt16BE(start + 6),
    attempt: type === 'echo' ? originate : originate & attemptBits,
    nonce: type === 'echo' ? data.subarray(start + 12, start + 20) : expectedNonce(carried),
  };
}

function typeOf(family: Family, message: number): PingType | null {
  if (message === icmp[family].reply) return 'echo';
  return family === 4 && message === stamp.reply ? 'timestamp' : null;
}

function rejection(raw: string, datagram: string): string {
  return (
    `cannot open an ICMP socket: raw ${raw}, datagram ${datagram}; ` +
    'grant CAP_NET_RAW, or widen the sysctl net.ipv4.ping_group_range'
  );
}

export function randomNonce(): Uint8Array {
  return randomBytes(8);
}

/** The Internet checksum of RFC 1071. */
export function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** Arenas of closed sockets, for reuse. */
const arenas: Arena[] = [];

/** The structures of one sendmmsg and one recvmmsg, linked once. */
class Arena {
  readonly sendHeaders: number;
  readonly receiveHeaders: number;
  #memory: Buffer;
  #sendNames: number;
  #packets: number;
  #receiveNames: number;
  #responses: number;
  #receiveOffset: number;
  #nameLength = 0;

  constructor(sys: Sys) {
    const perMessage = headerBytes + vectorBytes + nameBytes;
    const sendBytes = batchSize * (perMessage + packetBytes);
    const { address, buffer } = sys.memory(sendBytes + batchSize * (perMessage + responseBytes));
    this.#memory = buffer;
    this.sendHeaders = address;
    this.#receiveOffset = sendBytes;
    this.receiveHeaders = address + sendBytes;
    [this.#sendNames, this.#packets] = this.#link(address, 0, packetBytes);
    [this.#receiveNames, this.#responses] = this.#link(address, sendBytes, responseBytes);
  }

  /** Layout from `offset`: headers, vectors, names, data. Returns the offsets of names and data. */
  #link(address: number, offset: number, dataBytes: number): [names: number, data: number] {
    const vectors = offset + batchSize * headerBytes;
    const names = vectors + batchSize * vectorBytes;
    const data = names + batchSize * nameBytes;
    for (let at = 0; at < batchSize; at++) {
      const header = offset + at * headerBytes;
      const vector = vectors + at * vectorBytes;
      this.#memory.writeBigUInt64LE(BigInt(address + names + at * nameBytes), header);
      this.#memory.writeBigUInt64LE(BigInt(address + vector), header + 16);
      this.#memory.writeBigUInt64LE(1n, header + 24);
      this.#memory.writeBigUInt64LE(BigInt(address + data + at * dataBytes), vector);
      this.#memory.writeBigUInt64LE(BigInt(dataBytes), vector + 8);
    }
    return [names, data];
  }

  prepare(nameLength: number): void {
    this.#nameLength = nameLength;
    for (let at = 0; at < batchSize; at++) this.#memory.writeUInt32LE(nameLength, at * headerBytes + 8);
  }

  /** The kernel overwrites the name lengths at each receive. */
  resetNames(): void {
    for (let at = 0; at < batchSize; at++) {
      this.#memory.writeUInt32LE(this.#nameLength, this.#receiveOffset + at * headerBytes + 8);
    }
  }

  sendName(at: number): Buffer {
    return this.#slice(this.#sendNames + at * nameBytes, nameBytes);
  }

  /** Buffer for a packet of this length, to be sent from this index. */
  packet(at: number, length: number): Buffer {
    const vector = batchSize * headerBytes + at * vectorBytes;
    this.#memory.writeBigUInt64LE(BigInt(length), vector + 8);
    return this.#slice(this.#packets + at * packetBytes, length);
  }

  received(at: number): { data: Buffer; name: Buffer } {
    const length = this.#memory.readUInt32LE(this.#receiveOffset + at * headerBytes + 56);
    return {
      data: this.#slice(this.#responses + at * responseBytes, Math.min(length, responseBytes)),
      name: this.#slice(this.#receiveNames + at * nameBytes, nameBytes),
    };
  }

  #slice(offset: number, length: number): Buffer {
    return this.#memory.subarray(offset, offset + length);
  }
}
