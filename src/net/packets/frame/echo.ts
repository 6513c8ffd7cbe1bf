import { randomBytes, randomInt } from 'node:crypto';
import type { Family } from '../../../domain/targets/address.ts';
import type { SocketEgress } from '../../egress.ts';
import { bindSocket } from '../linux/bind-socket.ts';
import { MessageArena, type SentMessages } from '../linux/message-arena.ts';
import { scopeInName, socketNameBytes, socketNames, writeSocketName } from '../linux/socket-name.ts';
import { errnoName, nonblockCloexec, type Sys, socketTypes, sysOrReason, u32 } from '../linux/sys.ts';

/** Messages per system call. */
export const batchSize = 64;

const packetBytes = 64; // ICMP header 8 + payload 56, as ping(8) sends
const responseBytes = 256;

/** ICMP messages for host discovery. */
export type PingType = 'echo' | 'timestamp';

const icmp = {
  4: { protocol: 1, request: 8, reply: 0 },
  6: { protocol: 58, request: 128, reply: 129 },
} as const;

/** Destination unreachable and time exceeded. */
const errorTypes = { 4: [3, 11], 6: [1, 3] } as const;

/** The minimum header, which raw sockets of IPv4 return before a message. */
const ipv4Bytes = 20;
const ipv6Bytes = 40;
const icmpBytes = 8;

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

/** An ICMP error about a request. */
export interface EchoError {
  type: number;
  code: number;
  /** Who sent it, and whom it is about: 4 or 16 bytes. */
  from: Uint8Array;
  address: Uint8Array;
  sequence: number;
}

/** The part of a nonce that a response carries. */
export function expectedNonce({ type, nonce }: Pick<EchoRequest, 'type' | 'nonce'>): Uint8Array {
  if (type === 'echo') return nonce;
  const part = Buffer.from(nonce.subarray(0, 4));
  part.writeUInt32BE((part.readUInt32BE(0) & ~attemptBits & ~noTime) >>> 0);
  return part;
}

/** Room for several requests to each of 4,096 outstanding hosts as the kernel counts them, 768 bytes each. */
const sendBufferBytes = 1 << 24;

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
  #arena: MessageArena;
  #id = randomInt(1, 0x10000);

  private constructor(sys: Sys, family: Family, method: 'raw' | 'datagram', fd: number) {
    this.#sys = sys;
    this.family = family;
    this.method = method;
    this.#fd = fd;
    this.#arena = arenas.pop() ?? new MessageArena(sys, arenaShape);
    this.#arena.prepareNames(socketNames[family].length);
    if (method === 'raw') this.#filterReplies();
    this.#setOption(1, 8, u32(1 << 20)); // SOL_SOCKET, SO_RCVBUF
    // What waits for the addresses of silent neighbors stays in the buffer for seconds: SO_SNDBUF, and beyond the limit of the
    // machine SO_SNDBUFFORCE.
    this.#setOption(1, 7, u32(sendBufferBytes));
    this.#setOption(1, 32, u32(sendBufferBytes));
  }

  /** The socket, bound to what was chosen of its way out, or why this process cannot open one. */
  static open(family: Family, egress: SocketEgress | null): EchoSocket | { reason: string } {
    const sys = sysOrReason();
    if ('reason' in sys) return sys;
    const { domain } = socketNames[family];
    const { protocol } = icmp[family];
    const raw = sys.socket(domain, socketTypes.raw | nonblockCloexec, protocol);
    if (raw >= 0) return EchoSocket.#bound(sys, family, 'raw', raw, egress);
    const rawError = errnoName(sys.errno());
    const datagram = sys.socket(domain, socketTypes.datagram | nonblockCloexec, protocol);
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

  /** Sends the requests from the first on. */
  send(requests: readonly EchoRequest[]): SentMessages {
    const count = Math.min(requests.length, batchSize);
    for (let at = 0; at < count; at++) this.#write(at, requests[at] as EchoRequest);
    return this.#arena.send(this.#fd, count);
  }

  /** All pending replies that echo what was sent, and errors about it, which only a raw socket gets. */
  *receive(): Generator<EchoReply | EchoError, void, undefined> {
    for (;;) {
      const count = this.#arena.receive(this.#fd);
      for (let at = 0; at < count; at++) {
        const found = this.#parse(at) ?? this.#parseError(at);
        if (found) yield found;
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
    writeSocketName(this.#arena.sendName(at), this.family, request.address, request.scopeId, 0);
    const length = request.type === 'echo' ? packetBytes : stamp.bytes;
    this.#arena.setSendLength(at, length);
    const packet = this.#arena.sendData(at, length);
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
    const { family, method } = this;
    const reply = readEchoReply(this.#arena.receivedData(at), { family, method, id: this.#id });
    if (!reply) return null;
    const name = this.#arena.receivedName(at);
    const { addressAt, addressEnd } = socketNames[family];
    return { ...reply, address: name.subarray(addressAt, addressEnd), scopeId: scopeInName(name, family) };
  }

  #parseError(at: number): EchoError | null {
    const { family, method } = this;
    if (method !== 'raw') return null;
    const { addressAt, addressEnd } = socketNames[family];
    const from = Buffer.from(this.#arena.receivedName(at).subarray(addressAt, addressEnd));
    const error = readEchoError(this.#arena.receivedData(at), { family, id: this.#id });
    return error && { ...error, from };
  }

  /** A raw socket receives all ICMP of the machine; the kernel filters replies to such requests, and errors. */
  #filterReplies(): void {
    if (this.family === 4) {
      const wanted: number[] = [icmp[4].reply, stamp.reply, ...errorTypes[4]];
      const bits = wanted.reduce((set, type) => set | (1 << type), 0);
      this.#setOption(255, 1, u32(~bits >>> 0)); // SOL_RAW, ICMP_FILTER: a set bit blocks a type
      return;
    }
    const blocked = Buffer.alloc(32, 0xff);
    for (const type of [icmp[6].reply, ...errorTypes[6]]) {
      const word = (type >> 5) * 4;
      blocked.writeUInt32LE((blocked.readUInt32LE(word) & ~(1 << (type & 31))) >>> 0, word);
    }
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

/** Parses an error about a request of the identifier that a raw socket received; null if it is none. */
export function readEchoError(
  data: Buffer,
  { family, id }: { family: Family; id: number },
): Omit<EchoError, 'from'> | null {
  const start = family === 4 ? ((data[0] ?? 0) & 15) * 4 : 0;
  const quoted = start + icmpBytes;
  if (family === 4 && start < ipv4Bytes) return null;
  const least = family === 4 ? ipv4Bytes : ipv6Bytes;
  if (data.length < quoted + least + icmpBytes) return null;
  const [type, code] = [data[start] as number, data[start + 1] as number];
  if (!(errorTypes[family] as readonly number[]).includes(type)) return null;
  const headerBytes = family === 4 ? ((data[quoted] as number) & 15) * 4 : ipv6Bytes;
  const request = quoted + headerBytes;
  if (headerBytes < least || data.length < request + icmpBytes) return null;
  if (data[quoted + (family === 4 ? 9 : 6)] !== icmp[family].protocol) return null;
  const isRequest =
    data[request] === icmp[family].request || (family === 4 && data[request] === stamp.request);
  if (!isRequest || data.readUInt16BE(request + 4) !== id) return null;
  const destination = quoted + (family === 4 ? 16 : 24);
  const address = Buffer.from(data.subarray(destination, destination + (family === 4 ? 4 : 16)));
  return { type, code, address, sequence: data.readUInt16BE(request + 6) };
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

const arenaShape = {
  messages: batchSize,
  nameBytes: socketNameBytes,
  sendBytes: packetBytes,
  receiveBytes: responseBytes,
  controlBytes: 0,
};

/** Arenas of closed sockets, for reuse. */
const arenas: MessageArena[] = [];
