import type { Family } from '../../domain/address.ts';
import { verdict } from './connect-chunk.ts';
import { errnoName, loadSys, type Sys } from './sys.ts';

/** Results of one epoll_wait at the most. */
const eventsAtOnce = 256;
/** struct epoll_event (epoll_ctl(2)): packed on x86-64 only. */
const eventBytes = process.arch === 'x64' ? 12 : 16;
const eventDataAt = process.arch === 'x64' ? 4 : 8;
const epollCloexec = 0o2000000;
const epollAdd = 1;
const epollIn = 1;
const epollOut = 4;

const sockStream = 1;
const nonblockCloexec = 0o4000 | 0o2000000;
const solSocket = 1;
const soError = 4;
const soLinger = 13;

const families = {
  4: { domain: 2, nameLength: 16, addressAt: 4, addressEnd: 8 },
  6: { domain: 10, nameLength: 28, addressAt: 8, addressEnd: 24 },
} as const;
const nameBytes = 32;

const errno = { inProgress: 115 } as const;
/** Shortages of this machine; they pass: EAGAIN, ENOMEM, ENFILE, EMFILE, ENOSPC, EADDRNOTAVAIL, ENOBUFS. */
const shortages = new Set([11, 12, 23, 24, 28, 99, 105]);
/** What SO_ERROR says about the endpoint; what is not here is trouble of this machine. */
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
/** Of these, what connect() itself may return about the endpoint. */
const immediate = new Set<number>([0, 104, 111]);

/** What a connection attempt came to at once. */
export type Begun =
  | { fd: number }
  | { verdict: number }
  /** Nothing was sent: a name of an errno. */
  | { shortage: string }
  | { trouble: string };

/** What became of an attempt that was waited for. */
export type Ended = { verdict: number; itself: boolean } | { trouble: string };

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
  readonly #own = Buffer.alloc(nameBytes);

  /** @param waker a descriptor that ends the wait when it can be read @throws Error */
  constructor(waker: number) {
    this.#sys = loadSys();
    this.#waker = waker;
    this.#epoll = this.#sys.epollCreate(epollCloexec);
    if (this.#epoll < 0) throw new Error(`epoll_create1: ${errnoName(this.#sys.errno())}`);
    this.#events = this.#sys.memory(eventsAtOnce * eventBytes);
    this.#added = this.#sys.memory(eventBytes);
    this.#name = this.#sys.memory(nameBytes);
    if (!this.#watch(waker, epollIn)) throw new Error(`epoll_ctl: ${errnoName(this.#sys.errno())}`);
  }

  /** @param address 4 or 16 bytes */
  begin(family: Family, address: Uint8Array, scope: number, port: number): Begun {
    const { domain, nameLength, addressAt } = families[family];
    const fd = this.#sys.socket(domain, sockStream | nonblockCloexec, 0);
    if (fd < 0) return this.#refused(this.#sys.errno());
    const name = this.#name.buffer;
    name.fill(0);
    name.writeUInt16LE(domain, 0);
    name.writeUInt16BE(port, 2);
    name.set(address, addressAt);
    if (family === 6) name.writeUInt32LE(scope, 24);
    const failed = this.#sys.connect(fd, this.#name.address, nameLength);
    const code = failed < 0 ? this.#sys.errno() : 0;
    if (code === errno.inProgress && this.#watch(fd, epollOut)) return { fd };
    const refused = this.#refused(code === errno.inProgress ? this.#sys.errno() : code);
    this.close(fd, code === 0);
    return refused;
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

  /** SO_ERROR alone says what happened: a socket that was reset after it was accepted reports EPOLLERR too. */
  end(fd: number, family: Family, address: Uint8Array, port: number): Ended {
    this.#length.writeUInt32LE(4);
    if (this.#sys.getsockopt(fd, solSocket, soError, this.#value, this.#length) < 0) {
      const trouble = errnoName(this.#sys.errno());
      this.close(fd, false);
      return { trouble };
    }
    const code = this.#value.readInt32LE(0);
    const meaning = meanings.get(code);
    const itself = code === 0 && this.#isItself(fd, family, address, port);
    this.close(fd, meaning === verdict.open);
    return meaning === undefined ? { trouble: errnoName(code) } : { verdict: meaning, itself };
  }

  /** @param reset end an open connection by a reset, so that no TIME_WAIT holds a source port */
  close(fd: number, reset: boolean): void {
    if (reset) {
      this.#value.writeInt32LE(1, 0);
      this.#value.writeInt32LE(0, 4);
      this.#sys.setsockopt(fd, solSocket, soLinger, this.#value, this.#value.length);
    }
    this.#sys.close(fd);
  }

  shut(): void {
    this.#sys.close(this.#epoll);
  }

  /** TCP's simultaneous open lets a socket connect to itself when source and target port coincide on this machine. */
  #isItself(fd: number, family: Family, address: Uint8Array, port: number): boolean {
    const { addressAt, addressEnd } = families[family];
    this.#length.writeUInt32LE(nameBytes);
    if (this.#sys.getsockname(fd, this.#own, this.#length) < 0) return false;
    const own = this.#own.subarray(addressAt, addressEnd);
    return this.#own.readUInt16BE(2) === port && own.equals(address);
  }

  #refused(code: number): Begun {
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
