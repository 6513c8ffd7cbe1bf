import type { Family } from '../../../domain/targets/address.ts';
import { addressText } from '../../../domain/targets/address.ts';
import type { SocketEgress } from '../../egress.ts';
import { icmpMeaning } from '../../icmp/icmp-meaning.ts';
import type { RejectionKind } from '../engine/rejection-table.ts';
import { bindSocket } from '../linux/bind-socket.ts';
import { errorControlBytes, msgErrqueue, queueErrors, readQueuedError } from '../linux/error-queue.ts';
import { MessageArena } from '../linux/message-arena.ts';
import { socketNameBytes, socketNames, writeSocketName } from '../linux/socket-name.ts';
import { errnoName, loadSys, msgDontwait, nonblockCloexec, type Sys, socketTypes } from '../linux/sys.ts';
import { verdict } from './connect-chunk.ts';

/** Maximum number of results per epoll_wait. */
const eventsAtOnce = 256;
/** struct epoll_event (epoll_ctl(2)): packed on x86-64 only. */
const eventBytes = process.arch === 'x64' ? 12 : 16;
const eventDataAt = process.arch === 'x64' ? 4 : 8;
const epollCloexec = 0o2000000;
const epollAdd = 1;
const epollIn = 1;
const epollOut = 4;
const epollEdge = 0x8000_0000;

const solSocket = 1;
const soLinger = 13;
/** Maximum number of unconnected sockets kept for reuse. */
const keptSockets = 128;

const errno = { connected: 106, already: 114, inProgress: 115 } as const;
/** Temporary shortages of this machine: EAGAIN, ENOMEM, ENFILE, EMFILE, ENOSPC, EADDRNOTAVAIL, ENOBUFS. */
const shortages = new Set([11, 12, 23, 24, 28, 99, 105]);
/** Outcome of an attempt by errno; others are local problems. */
const meanings = new Map<number, number>([
  [0, verdict.open],
  [32, verdict.openThenReset], // EPIPE
  [104, verdict.openThenReset], // ECONNRESET: the service accepted and aborted at once
  [111, verdict.closed], // ECONNREFUSED
  [110, verdict.silent], // ETIMEDOUT
  [13, verdict.rejected], // EACCES
  [71, verdict.rejected], // EPROTO
  [92, verdict.rejected], // ENOPROTOOPT
  [101, verdict.rejected], // ENETUNREACH
  [112, verdict.rejected], // EHOSTDOWN
  [113, verdict.rejected], // EHOSTUNREACH
]);
/** What those say by which an attempt was rejected. */
const rejectionReasons = new Map<number, string>([
  [13, 'admin-prohibited'],
  [71, 'proto-unreachable'],
  [92, 'proto-unreachable'],
  [101, 'net-unreachable'],
  [112, 'host-unreachable'],
  [113, 'host-unreachable'],
]);
/** Those of them that connect() itself may return. */
const immediate = new Set<number>([0, 104, 111]);

/** An attempt has one error, and none is left on a socket that is used again. */
const errorShape = {
  messages: 4,
  nameBytes: socketNameBytes,
  sendBytes: 0,
  receiveBytes: 64,
  controlBytes: errorControlBytes,
};

/** Destination of an attempt. */
export interface Peer {
  family: Family;
  /** 4 or 16 bytes. */
  address: Uint8Array;
  /** Interface of a link-local IPv6 address, else 0. */
  scope: number;
  port: number;
  /** End an open connection by a FIN, not by a reset. */
  inOrder: boolean;
  /** What the socket is bound to; null = nothing. */
  egress: SocketEgress | null;
}

/** Immediate result of a connection attempt. */
export type StartedConnect =
  | { fd: number }
  | { verdict: number }
  /** Nothing was sent: an errno name. */
  | { shortage: string }
  | { trouble: string };

/** Result of a pending attempt; null = none yet. */
export type EndedConnect =
  | { verdict: number; itself: boolean; rejection: RejectionKind | null }
  | { trouble: string }
  | null;

/** Connection attempts of one thread, waited for with epoll(7). */
export class ConnectSockets {
  readonly #sys: Sys;
  readonly #epoll: number;
  readonly #events: { address: number; buffer: Buffer };
  readonly #added: { address: number; buffer: Buffer };
  readonly #name: { address: number; buffer: Buffer };
  readonly #waker: number;
  readonly #value = Buffer.alloc(8);
  readonly #length = Buffer.alloc(4);
  readonly #own = Buffer.alloc(socketNameBytes);
  readonly #errors: MessageArena;
  /** By what they are bound to. */
  readonly #kept = new Map<string, number[]>();

  /** @param waker a descriptor that ends the wait when readable @throws Error */
  constructor(waker: number) {
    this.#sys = loadSys();
    this.#waker = waker;
    this.#epoll = this.#sys.epollCreate(epollCloexec);
    if (this.#epoll < 0) throw new Error(`epoll_create1: ${errnoName(this.#sys.errno())}`);
    this.#events = this.#sys.memory(eventsAtOnce * eventBytes);
    this.#added = this.#sys.memory(eventBytes);
    this.#name = this.#sys.memory(socketNameBytes);
    this.#errors = new MessageArena(this.#sys, errorShape);
    this.#errors.prepareNames(socketNameBytes);
    if (!this.#watch(waker, epollIn)) throw new Error(`epoll_ctl: ${errnoName(this.#sys.errno())}`);
  }

  begin(peer: Peer): StartedConnect {
    // A socket that had a scope stays bound to its link.
    const kept = peer.scope === 0 ? this.#keptFor(peer).pop() : undefined;
    const begun = this.#beginWith(kept ?? null, peer);
    // An unexpected error of a reused socket says nothing about the endpoint.
    return kept !== undefined && 'trouble' in begun ? this.#beginWith(null, peer) : begun;
  }

  /** Descriptors whose attempts have ended. */
  *wait(timeoutMs: number): Generator<number, void, undefined> {
    const { address, buffer } = this.#events;
    const count = this.#sys.epollWait(this.#epoll, address, eventsAtOnce, timeoutMs);
    for (let at = 0; at < count; at++) {
      const fd = buffer.readInt32LE(at * eventBytes + eventDataAt);
      if (fd === this.#waker) this.#sys.read(fd, this.#value, this.#value.length);
      else yield fd;
    }
  }

  /**
   * A second connect() returns the result, and makes a socket whose attempt failed ready for the next one: that saves
   * closing it, creating another and registering it with epoll, a third of the cost of an attempt.
   */
  end(fd: number, peer: Peer): EndedConnect {
    const { family, address, scope, port, inOrder } = peer;
    const code = this.#connect(fd, peer);
    if (code === errno.already) return this.#endedEarly(fd, peer);
    const isOpen = code === 0 || code === errno.connected;
    const meaning = isOpen ? verdict.open : meanings.get(code);
    const itself = isOpen && this.#isItself(fd, family, address, port);
    const rejection = meaning === verdict.rejected ? this.#rejection(fd, peer, code) : null;
    if (isOpen || meaning === undefined || scope !== 0) this.close(fd, isOpen && !inOrder);
    else this.#keep(fd, peer);
    return meaning === undefined ? { trouble: errnoName(code) } : { verdict: meaning, itself, rejection };
  }

  /** Closes the kept sockets. */
  release(): void {
    for (const kept of this.#kept.values()) for (const fd of kept.splice(0)) this.#sys.close(fd);
  }

  /** @param reset end an open connection by a reset, so that no TIME_WAIT blocks a source port */
  close(fd: number, reset: boolean): void {
    if (reset) {
      this.#value.writeInt32LE(1, 0);
      this.#value.writeInt32LE(0, 4);
      this.#sys.setsockopt(fd, solSocket, soLinger, this.#value, this.#value.length);
    }
    this.#sys.close(fd);
  }

  shut(): void {
    this.release();
    this.#sys.close(this.#epoll);
  }

  #beginWith(kept: number | null, peer: Peer): StartedConnect {
    const fd =
      kept ?? this.#sys.socket(socketNames[peer.family].domain, socketTypes.stream | nonblockCloexec, 0);
    if (fd < 0) return this.#refused(this.#sys.errno());
    if (kept === null) queueErrors(this.#sys, fd, peer.family);
    const unbound = kept === null && peer.egress ? bindSocket(this.#sys, fd, peer.egress) : 0;
    const code = unbound === 0 ? this.#connect(fd, peer) : unbound;
    const isUnderWay = code === errno.inProgress;
    if (isUnderWay && (kept !== null || this.#watch(fd, (epollOut | epollEdge) >>> 0))) return { fd };
    const refused = this.#refused(isUnderWay ? this.#sys.errno() : code);
    this.close(fd, code === 0 && !peer.inOrder);
    return refused;
  }

  /** @returns an errno, 0 if connected */
  #connect(fd: number, { family, address, scope, port }: Peer): number {
    writeSocketName(this.#name.buffer, family, address, scope, port);
    return this.#sys.connect(fd, this.#name.address, socketNames[family].length) < 0 ? this.#sys.errno() : 0;
  }

  /** An ICMP error that arrives while connect() itself still runs does not end the attempt: the kernel only queues it. */
  #endedEarly(fd: number, peer: Peer): EndedConnect {
    const rejection = this.#queuedError(fd, peer);
    if (rejection === null) return null;
    this.close(fd, false);
    return { verdict: verdict.rejected, itself: false, rejection };
  }

  /** Kernels before 5.8 tell only an errno. */
  #rejection(fd: number, peer: Peer, code: number): RejectionKind {
    const reason = rejectionReasons.get(code) ?? 'unreachable';
    return this.#queuedError(fd, peer) ?? { reason, icmp: null, from: null };
  }

  #queuedError(fd: number, { family, address }: Peer): RejectionKind | null {
    const count = this.#errors.receive(fd, msgErrqueue | msgDontwait);
    const error = count > 0 ? readQueuedError(this.#errors.receivedControl(0), family) : null;
    if (error === null) return null;
    const { type, code, from } = error;
    const icmp = { type, code };
    const sender = from?.equals(address) ? 'host' : from && addressText(from);
    return { reason: icmpMeaning(family, icmp) ?? 'unreachable', icmp, from: sender };
  }

  #keep(fd: number, peer: Peer): void {
    const kept = this.#keptFor(peer);
    if (kept.length < keptSockets) kept.push(fd);
    else this.#sys.close(fd);
  }

  #keptFor({ family, egress }: Peer): number[] {
    const key = `${family} ${egress?.device ?? ''} ${egress?.source?.text ?? ''}`;
    const kept = this.#kept.get(key) ?? [];
    this.#kept.set(key, kept);
    return kept;
  }

  /** TCP's simultaneous open lets a socket connect to itself when source and target port coincide on this machine. */
  #isItself(fd: number, family: Family, address: Uint8Array, port: number): boolean {
    const { addressAt, addressEnd } = socketNames[family];
    this.#length.writeUInt32LE(socketNameBytes);
    if (this.#sys.getsockname(fd, this.#own, this.#length) < 0) return false;
    const own = this.#own.subarray(addressAt, addressEnd);
    return this.#own.readUInt16BE(2) === port && own.equals(address);
  }

  #refused(code: number): StartedConnect {
    if (immediate.has(code)) return { verdict: meanings.get(code) as number };
    return shortages.has(code) ? { shortage: errnoName(code) } : { trouble: errnoName(code) };
  }

  #watch(fd: number, events: number): boolean {
    const { address, buffer } = this.#added;
    buffer.writeUInt32LE(events, 0);
    buffer.writeInt32LE(fd, eventDataAt);
    return this.#sys.epollCtl(this.#epoll, epollAdd, fd, address) === 0;
  }
}
