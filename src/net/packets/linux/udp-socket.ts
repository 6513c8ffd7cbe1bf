import type { Family } from '../../../domain/targets/address.ts';
import type { SocketEgress } from '../../egress.ts';
import { bindSocket } from './bind-socket.ts';
import { isKernelFull, MessageArena } from './message-arena.ts';
import { scopeInName, socketNameBytes, socketNames, writeSocketName } from './socket-name.ts';
import {
  errnoName,
  errnos,
  msgDontwait,
  nonblockCloexec,
  type Sys,
  socketTypes,
  sysOrReason,
  u32,
} from './sys.ts';

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

const controlBytes = 128; // cmsghdr 16 + sock_extended_err 16 + address of the sender 28
const controlHeaderBytes = 16;
const extendedErrorBytes = 16;
/** Origin of an error; 1 would be this machine itself. */
const origins = { icmp: 2, icmp6: 3 } as const;

const msgErrqueue = 0x2000;
const solSocket = 1;
const soSndbuf = 7;
const soRcvbuf = 8;
const soSndbufForce = 32;

const families = {
  4: { level: 0, mtuDiscover: 10, receiveErrors: 11 },
  6: { level: 41, mtuDiscover: 23, receiveErrors: 25 },
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
  #arena: MessageArena;
  /** Errors read while sending. */
  #errors: IcmpError[] = [];

  private constructor(sys: Sys, family: Family, fd: number) {
    const { level, mtuDiscover } = families[family];
    this.#sys = sys;
    this.family = family;
    this.#fd = fd;
    this.#arena = arenas.pop() ?? new MessageArena(sys, arenaShape);
    this.#arena.prepareNames(socketNames[family].length);
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
    const sys = sysOrReason();
    if ('reason' in sys) return sys;
    const { level, receiveErrors } = families[family];
    const fd = sys.socket(socketNames[family].domain, socketTypes.datagram | nonblockCloexec, 0);
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
      const taken = this.#arena.sendSome(this.#fd, done, count);
      if (taken > 0) {
        done += taken;
        tries = 0;
        continue;
      }
      const errno = this.#sys.errno();
      if (isKernelFull(errno)) break;
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
      const count = this.#arena.receive(this.#fd, flags);
      if (count >= 0) return count;
      if (this.#sys.errno() === errnos.again) return 0;
    }
    return 0;
  }

  #write(at: number, { address, scopeId, port, bytes }: Datagram): void {
    writeSocketName(this.#arena.sendName(at), this.family, address, scopeId, port);
    this.#arena.write(at, bytes.subarray(0, maxDatagramBytes));
  }

  #response(at: number): UdpResponse {
    return { ...this.#endpoint(at), bytes: Buffer.from(this.#arena.receivedData(at)) };
  }

  #error(at: number): IcmpError | null {
    const error = readIcmpError(this.#arena.receivedControl(at), this.family);
    return error && { ...this.#endpoint(at), ...error };
  }

  #endpoint(at: number): UdpEndpoint {
    const name = this.#arena.receivedName(at);
    const { addressAt, addressEnd } = socketNames[this.family];
    return {
      address: Buffer.from(name.subarray(addressAt, addressEnd)),
      scopeId: scopeInName(name, this.family),
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

const arenaShape = {
  messages: datagramBatch,
  nameBytes: socketNameBytes,
  sendBytes: maxDatagramBytes,
  receiveBytes: keptResponseBytes,
  controlBytes,
};

/** Arenas of closed sockets, for reuse. */
const arenas: MessageArena[] = [];
