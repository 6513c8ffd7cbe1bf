import type { Family } from '../../../domain/targets/address.ts';
import type { SocketEgress } from '../../egress.ts';
import { bindSocket } from './bind-socket.ts';
import { errnoName, loadSys, type Sys, u32 } from './sys.ts';

/** Datagrams per system call. */
export const datagramBatch = 64;

/** Bytes kept of one response. */
const keptResponseBytes = 512;

/** Maximum size of a datagram: a QUIC Initial packet has 1200. */
const maxDatagramBytes = 1232;

/** Tries to send one datagram: each may have met the pending error of an earlier one. */
const maxSendTries = 8;

/** Requested kernel buffer size; the kernel may grant less. */
const bufferBytes = 4 << 20;

/** Reads of one kind in a row, so that a flood of responses cannot starve the sender. */
const maxReads = 32;

const headerBytes = 64; // struct mmsghdr
const vectorBytes = 16; // struct iovec
const nameBytes = 32; // struct sockaddr_in (16) or sockaddr_in6 (28)
const controlBytes = 128; // cmsghdr 16 + sock_extended_err 16 + address of the sender 28
const controlHeaderBytes = 16;
const extendedErrorBytes = 16;
/** Origin of an error; 1 would be this machine itself. */
const origins = { icmp: 2, icmp6: 3 } as const;

const sockDgram = 2;
const sockNonblockCloexec = 0o4000 | 0o2000000;
const msgDontwait = 0x40;
const msgErrqueue = 0x2000;
const eagain = 11;
const enobufs = 105;
const solSocket = 1;
const soSndbuf = 7;
const soRcvbuf = 8;
const soSndbufForce = 32;

const families = {
  4: { domain: 2, nameLength: 16, addressAt: 4, addressEnd: 8, level: 0, mtuDiscover: 10, receiveErrors: 11 },
  6: {
    domain: 10,
    nameLength: 28,
    addressAt: 8,
    addressEnd: 24,
    level: 41,
    mtuDiscover: 23,
    receiveErrors: 25,
  },
} as const;

/** Destination or source of a datagram. */
export interface UdpEndpoint {
  /** 4 or 16 bytes. */
  address: Uint8Array;
  /** Interface index of a link-local IPv6 address, else 0. */
  scopeId: number;
  port: number;
}

export interface Datagram extends UdpEndpoint {
  bytes: Uint8Array;
}

export interface UdpResponse extends UdpEndpoint {
  /** At most the first 512 bytes. */
  bytes: Buffer;
}

/** An ICMP message about a datagram to this endpoint. */
export interface IcmpError extends UdpEndpoint {
  type: number;
  code: number;
}

export interface SendOutcome {
  /** Number processed, from the first on; less than given if the kernel buffer is full. */
  done: number;
  /** Indices of those that could not be sent, and why, as errno names. */
  refused: Map<number, string>;
}

/** A transport for datagrams and their responses. */
export interface UdpPath {
  readonly family: Family;
  /** Maximum number of outstanding endpoints. */
  readonly capacity: number;
  send(datagrams: readonly Datagram[]): SendOutcome;
  /** All pending responses. */
  answers(): UdpResponse[];
  /** All pending ICMP errors. */
  errors(): IcmpError[];
  /** No more is expected from there. */
  release(endpoint: UdpEndpoint): void;
  close(): void;
}

/**
 * One unconnected, non-blocking UDP socket of a family that reports ICMP errors through its error queue (IP_RECVERR,
 * ip(7)); requires no privileges. Linux.
 */
export class UdpSocket implements UdpPath {
  readonly family: Family;
  readonly capacity = Infinity;
  #sys: Sys;
  #fd: number;
  #arena: Arena;
  /** Errors read while sending. */
  #errors: IcmpError[] = [];

  private constructor(sys: Sys, family: Family, fd: number) {
    const { nameLength, level, mtuDiscover } = families[family];
    this.#sys = sys;
    this.family = family;
    this.#fd = fd;
    this.#arena = arenas.pop() ?? new Arena(sys);
    this.#arena.prepare(nameLength);
    this.#setOption(solSocket, soRcvbuf, bufferBytes);
    // Packets waiting for neighbor resolution count too. The second option needs CAP_NET_ADMIN.
    this.#setOption(solSocket, soSndbuf, bufferBytes);
    this.#setOption(solSocket, soSndbufForce, bufferBytes);
    this.#setOption(level, mtuDiscover, 0); // a big datagram may be fragmented on its way
  }

  /** The socket, or why there is none; `unbound` is the errno name if it could not be bound as chosen. */
  static open(
    family: Family,
    egress: SocketEgress | null,
  ): UdpSocket | { reason: string } | { unbound: string } {
    let sys: Sys;
    try {
      sys = loadSys();
    } catch (error) {
      return { reason: (error as Error).message };
    }
    const { domain, level, receiveErrors } = families[family];
    const fd = sys.socket(domain, sockDgram | sockNonblockCloexec, 0);
    if (fd < 0) return { reason: `socket: ${errnoName(sys.errno())}` };
    const on = u32(1);
    if (sys.setsockopt(fd, level, receiveErrors, on, on.length) < 0) {
      const reason = `IP_RECVERR: ${errnoName(sys.errno())}`;
      sys.close(fd);
      return { reason };
    }
    const errno = egress ? bindSocket(sys, fd, egress) : 0;
    if (errno === 0) return new UdpSocket(sys, family, fd);
    sys.close(fd);
    return { unbound: errnoName(errno) };
  }

  send(datagrams: readonly Datagram[]): SendOutcome {
    const count = Math.min(datagrams.length, datagramBatch);
    for (let at = 0; at < count; at++) this.#write(at, datagrams[at] as Datagram);
    const refused = new Map<number, string>();
    let done = 0;
    let tries = 0;
    while (done < count) {
      const from = this.#arena.sendHeaders + done * headerBytes;
      const taken = this.#sys.sendmmsg(this.#fd, from, count - done, msgDontwait);
      if (taken > 0) {
        done += taken;
        tries = 0;
        continue;
      }
      const errno = this.#sys.errno();
      if (errno === eagain || errno === enobufs) break;
      // A pending error of an earlier datagram makes one call fail, whatever it sends: retry.
      this.#readErrors();
      if (++tries < maxSendTries) continue;
      refused.set(done, errnoName(errno));
      done += 1;
      tries = 0;
    }
    return { done, refused };
  }

  answers(): UdpResponse[] {
    const found: UdpResponse[] = [];
    for (let reads = 0; reads < maxReads; reads++) {
      const count = this.#read(msgDontwait);
      for (let at = 0; at < count; at++) found.push(this.#response(at));
      if (count < datagramBatch) break;
    }
    return found;
  }

  errors(): IcmpError[] {
    this.#readErrors();
    const found = this.#errors;
    this.#errors = [];
    return found;
  }

  release(): void {
    // One socket serves all endpoints.
  }

  close(): void {
    if (this.#fd < 0) return;
    this.#sys.close(this.#fd);
    this.#fd = -1;
    arenas.push(this.#arena);
  }

  #readErrors(): void {
    for (let reads = 0; reads < maxReads; reads++) {
      const count = this.#read(msgErrqueue | msgDontwait);
      for (let at = 0; at < count; at++) {
        const error = this.#error(at);
        if (error) this.#errors.push(error);
      }
      if (count < datagramBatch) return;
    }
  }

  /** Number of messages read; a pending error, which is also in the queue, makes a first call fail. */
  #read(flags: number): number {
    for (let tries = 0; tries < maxSendTries; tries++) {
      this.#arena.resetReceive();
      const count = this.#sys.recvmmsg(this.#fd, this.#arena.receiveHeaders, datagramBatch, flags, 0);
      if (count >= 0) return count;
      if (this.#sys.errno() === eagain) return 0;
    }
    return 0;
  }

  #write(at: number, { address, scopeId, port, bytes }: Datagram): void {
    const { domain, addressAt } = families[this.family];
    const name = this.#arena.sendName(at);
    name.fill(0);
    name.writeUInt16LE(domain, 0);
    name.writeUInt16BE(port, 2);
    name.set(address, addressAt);
    if (this.family === 6) name.writeUInt32LE(scopeId, 24);
    this.#arena.setData(at, bytes);
  }

  #response(at: number): UdpResponse {
    const { data, name } = this.#arena.received(at);
    return { ...this.#endpoint(name), bytes: Buffer.from(data) };
  }

  #error(at: number): IcmpError | null {
    const { name, control } = this.#arena.received(at);
    const error = readIcmpError(control, this.family);
    return error && { ...this.#endpoint(name), ...error };
  }

  #endpoint(name: Buffer): UdpEndpoint {
    const { addressAt, addressEnd } = families[this.family];
    return {
      address: Buffer.from(name.subarray(addressAt, addressEnd)),
      scopeId: this.family === 6 ? name.readUInt32LE(24) : 0,
      port: name.readUInt16BE(2),
    };
  }

  #setOption(level: number, name: number, value: number): void {
    const bytes = u32(value);
    this.#sys.setsockopt(this.#fd, level, name, bytes, bytes.length);
  }
}

/**
 * Parses the ICMP error in control data of the error queue (struct sock_extended_err, ip(7)); null if it is of
 * another kind.
 */
export function readIcmpError(control: Buffer, family: Family): Pick<IcmpError, 'type' | 'code'> | null {
  const { level, receiveErrors } = families[family];
  if (control.length < controlHeaderBytes + extendedErrorBytes) return null;
  if (control.readInt32LE(8) !== level || control.readInt32LE(12) !== receiveErrors) return null;
  const origin = control.readUInt8(controlHeaderBytes + 4);
  if (origin !== origins.icmp && origin !== origins.icmp6) return null;
  return {
    type: control.readUInt8(controlHeaderBytes + 5),
    code: control.readUInt8(controlHeaderBytes + 6),
  };
}

/** Arenas of closed sockets, for reuse. */
const arenas: Arena[] = [];

/** The structures of one sendmmsg and one recvmmsg, linked once. */
class Arena {
  readonly sendHeaders: number;
  readonly receiveHeaders: number;
  #memory: Buffer;
  #layout: Record<'send' | 'receive', { vectors: number; names: number; data: number; controls: number }>;
  #receiveOffset: number;
  #nameLength = 0;

  constructor(sys: Sys) {
    const perMessage = headerBytes + vectorBytes + nameBytes;
    const sendBytes = datagramBatch * (perMessage + maxDatagramBytes);
    const receiveBytes = datagramBatch * (perMessage + keptResponseBytes + controlBytes);
    const { address, buffer } = sys.memory(sendBytes + receiveBytes);
    this.#memory = buffer;
    this.#receiveOffset = sendBytes;
    this.sendHeaders = address;
    this.receiveHeaders = address + sendBytes;
    this.#layout = {
      send: this.#link(address, 0, maxDatagramBytes, false),
      receive: this.#link(address, sendBytes, keptResponseBytes, true),
    };
  }

  /** Layout from `offset`: headers, vectors, names, data, control data. */
  #link(address: number, offset: number, dataBytes: number, withControl: boolean) {
    const vectors = offset + datagramBatch * headerBytes;
    const names = vectors + datagramBatch * vectorBytes;
    const data = names + datagramBatch * nameBytes;
    const controls = data + datagramBatch * dataBytes;
    for (let at = 0; at < datagramBatch; at++) {
      const header = offset + at * headerBytes;
      const vector = vectors + at * vectorBytes;
      this.#memory.writeBigUInt64LE(BigInt(address + names + at * nameBytes), header);
      this.#memory.writeBigUInt64LE(BigInt(address + vector), header + 16);
      this.#memory.writeBigUInt64LE(1n, header + 24);
      if (withControl) {
        this.#memory.writeBigUInt64LE(BigInt(address + controls + at * controlBytes), header + 32);
      }
      this.#memory.writeBigUInt64LE(BigInt(address + data + at * dataBytes), vector);
      this.#memory.writeBigUInt64LE(BigInt(dataBytes), vector + 8);
    }
    return { vectors, names, data, controls };
  }

  prepare(nameLength: number): void {
    this.#nameLength = nameLength;
    for (let at = 0; at < datagramBatch; at++) this.#memory.writeUInt32LE(nameLength, at * headerBytes + 8);
  }

  /** The kernel overwrites the lengths of names and control data at each receive. */
  resetReceive(): void {
    for (let at = 0; at < datagramBatch; at++) {
      const header = this.#receiveOffset + at * headerBytes;
      this.#memory.writeUInt32LE(this.#nameLength, header + 8);
      this.#memory.writeUInt32LE(controlBytes, header + 40);
    }
  }

  sendName(at: number): Buffer {
    return this.#slice(this.#layout.send.names + at * nameBytes, nameBytes);
  }

  setData(at: number, bytes: Uint8Array): void {
    const kept = bytes.subarray(0, maxDatagramBytes);
    this.#memory.set(kept, this.#layout.send.data + at * maxDatagramBytes);
    this.#memory.writeBigUInt64LE(BigInt(kept.length), this.#layout.send.vectors + at * vectorBytes + 8);
  }

  received(at: number): { data: Buffer; name: Buffer; control: Buffer } {
    const header = this.#receiveOffset + at * headerBytes;
    const { names, data, controls } = this.#layout.receive;
    const controlLength = Math.min(this.#memory.readUInt32LE(header + 40), controlBytes);
    const length = Math.min(this.#memory.readUInt32LE(header + 56), keptResponseBytes);
    return {
      data: this.#slice(data + at * keptResponseBytes, length),
      name: this.#slice(names + at * nameBytes, nameBytes),
      control: this.#slice(controls + at * controlBytes, controlLength),
    };
  }

  #slice(offset: number, length: number): Buffer {
    return this.#memory.subarray(offset, offset + length);
  }
}
