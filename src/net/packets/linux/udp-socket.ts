import type { Family } from '../../../domain/targets/address.ts';
import type { SocketEgress } from '../../egress.ts';
import { bindSocket } from './bind-socket.ts';
import { errorControlBytes, msgErrqueue, queueErrors, readQueuedError } from './error-queue.ts';
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

/** Reads of one kind in a row by one poll, so that a flood of responses cannot starve the sender. */
export const maxReads = 32;

const solSocket = 1;
const soSndbuf = 7;
const soRcvbuf = 8;
const soSndbufForce = 32;

const families = {
  4: { level: 0, mtuDiscover: 10 },
  6: { level: 41, mtuDiscover: 23 },
} as const;

/** Destination or source of a datagram. */
export interface UdpEndpoint {
  /** 4 or 16 bytes. */
  address: Uint8Array;
  /** Interface index of a link-local IPv6 address, else 0. */
  scopeId: number;
  port: number;
}

/** An endpoint and the channel of its transport: one source port, known to those only who got a datagram from it. */
interface ChannelEndpoint extends UdpEndpoint {
  channel: number;
}

export interface Datagram extends ChannelEndpoint {
  bytes: Uint8Array;
}

export interface UdpResponse extends ChannelEndpoint {
  /** At most the first 512 bytes. */
  bytes: Buffer;
}

/** An ICMP message about a datagram to this endpoint. */
export interface IcmpError extends ChannelEndpoint {
  type: number;
  code: number;
  /** Who sent it: the endpoint itself, a router or another host, 4 or 16 bytes; null = unknown. */
  from: Uint8Array | null;
  /** Whether the endpoint itself sent it. */
  fromDestination: boolean;
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
  /** A channel for one host, or why there is none: an errno name. */
  enter(): number | { unbound: string };
  /** The host of a channel is complete. */
  leave(channel: number): void;
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
export class UdpSocket {
  readonly family: Family;
  readonly fd: number;
  readonly #sys: Sys;
  readonly #channel: number;
  readonly #arena: MessageArena;
  #isClosed = false;
  /** Errors read while sending. */
  #errors: IcmpError[] = [];

  private constructor(sys: Sys, family: Family, fd: number, channel: number) {
    const { level, mtuDiscover } = families[family];
    this.#sys = sys;
    this.family = family;
    this.fd = fd;
    this.#channel = channel;
    this.#arena = arenaOf(sys, family);
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
    channel = 0,
  ): UdpSocket | { reason: string } | { unbound: string } {
    const sys = sysOrReason();
    if ('reason' in sys) return sys;
    const fd = sys.socket(socketNames[family].domain, socketTypes.datagram | nonblockCloexec, 0);
    if (fd < 0) return { reason: `socket: ${errnoName(sys.errno())}` };
    if (!queueErrors(sys, fd, family)) {
      const reason = `IP_RECVERR: ${errnoName(sys.errno())}`;
      sys.close(fd);
      return { reason };
    }
    const errno = egress ? bindSocket(sys, fd, egress) : 0;
    if (errno === 0) return new UdpSocket(sys, family, fd, channel);
    sys.close(fd);
    return { unbound: errnoName(errno) };
  }

  /** Whether the last call read errors that `errors` has not returned yet. */
  get hasErrors(): boolean {
    return this.#errors.length > 0;
  }

  /**
   * Sends a part of the datagrams, at most one batch.
   * @param refused gets the indices of those that could not be sent, and why
   * @returns the index of the first one that was not processed; before `end` if the kernel buffer is full
   */
  send(datagrams: readonly Datagram[], from: number, end: number, refused: Map<number, string>): number {
    const count = Math.min(end - from, datagramBatch);
    for (let at = 0; at < count; at++) this.#write(at, datagrams[from + at] as Datagram);
    let done = 0;
    let tries = 0;
    while (done < count) {
      const taken = this.#arena.sendSome(this.fd, done, count);
      if (taken > 0) {
        done += taken;
        tries = 0;
        continue;
      }
      const errno = this.#sys.errno();
      if (isKernelFull(errno)) break;
      // A pending error of an earlier datagram makes one call fail, whatever it sends: retry.
      this.#readErrors(maxReads);
      if (++tries < maxSendTries) continue;
      refused.set(from + done, errnoName(errno));
      done += 1;
      tries = 0;
    }
    return from + done;
  }

  /** Pending responses. @param most reads of a batch */
  answers(most = maxReads): UdpResponse[] {
    const found: UdpResponse[] = [];
    for (let reads = 0; reads < most; reads++) {
      const count = this.#read(msgDontwait);
      for (let at = 0; at < count; at++) found.push(this.#response(at));
      if (count < datagramBatch) break;
    }
    return found;
  }

  /** Pending ICMP errors. @param most reads of a batch */
  errors(most = maxReads): IcmpError[] {
    this.#readErrors(most);
    const found = this.#errors;
    this.#errors = [];
    return found;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sys.close(this.fd);
  }

  #readErrors(most: number): void {
    for (let reads = 0; reads < most; reads++) {
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
      const count = this.#arena.receive(this.fd, flags);
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
    const error = readQueuedError(this.#arena.receivedControl(at), this.family);
    if (!error) return null;
    const endpoint = this.#endpoint(at);
    return { ...endpoint, ...error, fromDestination: error.from?.equals(endpoint.address) ?? false };
  }

  #endpoint(at: number): ChannelEndpoint {
    const name = this.#arena.receivedName(at);
    const { addressAt, addressEnd } = socketNames[this.family];
    return {
      address: Buffer.from(name.subarray(addressAt, addressEnd)),
      scopeId: scopeInName(name, this.family),
      port: name.readUInt16BE(2),
      channel: this.#channel,
    };
  }

  #setOption(level: number, name: number, value: number): void {
    const bytes = u32(value);
    this.#sys.setsockopt(this.fd, level, name, bytes, bytes.length);
  }
}

const arenaShape = {
  messages: datagramBatch,
  nameBytes: socketNameBytes,
  sendBytes: maxDatagramBytes,
  receiveBytes: keptResponseBytes,
  controlBytes: errorControlBytes,
};

/** One for all sockets of a family: each call fills and reads it at once. */
const arenas = new Map<Family, MessageArena>();

function arenaOf(sys: Sys, family: Family): MessageArena {
  const known = arenas.get(family);
  if (known) return known;
  const arena = new MessageArena(sys, arenaShape);
  arena.prepareNames(socketNames[family].length);
  arenas.set(family, arena);
  return arena;
}
