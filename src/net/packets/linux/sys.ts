import { createRequire } from 'node:module';
import type koffiModule from 'koffi';
import { type CapabilityCalls, raiseRawRight } from './raise-right.ts';

/**
 * The only file with foreign function calls. Pointers are plain numbers; memory that the kernel reads or writes comes
 * from anonymous mmap, which no garbage collection moves. Linux, 64 bit.
 */
export interface Sys extends CapabilityCalls {
  socket(domain: number, type: number, protocol: number): number;
  close(fd: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  setsockopt(fd: number, level: number, name: number, value: Uint8Array, length: number): number;
  /** `length`: four bytes, capacity before and size after. */
  getsockopt(fd: number, level: number, name: number, value: Uint8Array, length: Uint8Array): number;
  sendmmsg(fd: number, messages: number, count: number, flags: number): number;
  recvmmsg(fd: number, messages: number, count: number, flags: number, timeout: number): number;
  /** @returns bytes sent, -1 on failure */
  sendto(
    fd: number,
    bytes: Uint8Array,
    length: number,
    flags: number,
    address: Uint8Array,
    addressLength: number,
  ): number;
  /**
   * Waits for events of `count` structures pollfd at an address, `timeoutMs` at the most.
   * @returns how many have events, -1 on failure
   */
  poll(descriptors: number, count: number, timeoutMs: number): number;
  /** @param address of a socket address in memory */
  connect(fd: number, address: number, length: number): number;
  /** `length`: four bytes, capacity before and size after. */
  getsockname(fd: number, address: Uint8Array, length: Uint8Array): number;
  epollCreate(flags: number): number;
  /** @param event address of a struct epoll_event */
  epollCtl(epoll: number, operation: number, fd: number, event: number): number;
  /** @param events address of `most` structures epoll_event @returns how many were written, -1 on failure */
  epollWait(epoll: number, events: number, most: number, timeoutMs: number): number;
  eventfd(initial: number, flags: number): number;
  /** @returns bytes read, -1 on failure */
  read(fd: number, bytes: Uint8Array, length: number): number;
  /** @returns bytes written, -1 on failure */
  write(fd: number, bytes: Uint8Array, length: number): number;
  /** errno of the last failed call. */
  errno(): number;
  /** Zeroed memory at a fixed address; lives as long as the process. */
  memory(bytes: number): { address: number; buffer: Buffer };
  /** Memory that the kernel shares through a file descriptor (the ring of a packet socket). @throws Error */
  mapped(fd: number, bytes: number): { address: number; buffer: Buffer };
}

/** Constants of socket(2) and send(2). */
export const afPacket = 17;
export const socketTypes = { stream: 1, datagram: 2, raw: 3 } as const;
export const nonblockCloexec = 0o4000 | 0o2000000;
export const msgDontwait = 0x40;

/** errno(3): no room now. */
export const errnos = { again: 11, noBuffers: 105 } as const;

/** C libraries by name: glibc, then musl on both architectures. */
const libraries = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1', 'libc.so'];

const protReadWrite = 0x3;
const mapShared = 0x01;
const mapPrivateAnonymous = 0x22;

type Koffi = typeof koffiModule;

let loaded: Sys | Error | null = null;

/** @throws Error if this system has no usable C library */
export function loadSys(): Sys {
  loaded ??= load();
  if (loaded instanceof Error) throw loaded;
  return loaded;
}

/** The same for callers that report why there is none. */
export function sysOrReason(): Sys | { reason: string } {
  loaded ??= load();
  return loaded instanceof Error ? { reason: loaded.message } : loaded;
}

/** The native part is loaded on first use only: everything but raw packets works without it. */
function load(): Sys | Error {
  let cause: unknown;
  for (const library of libraries) {
    try {
      const sys = declare(createRequire(import.meta.url)('koffi') as Koffi, library);
      raiseRawRight(sys);
      return sys;
    } catch (error) {
      cause ??= error;
    }
  }
  return new Error(`cannot load a C library (tried ${libraries.join(', ')})`, { cause });
}

function declare(koffi: Koffi, library: string): Sys {
  const libc = koffi.load(library);
  const mmap = libc.func('size_t mmap(size_t, size_t, int, int, int, int64_t)');
  const map = (bytes: number, flags: number, fd: number) => {
    const address = Number(mmap(0, bytes, protReadWrite, flags, fd, 0));
    if (address <= 0 || address > Number.MAX_SAFE_INTEGER) {
      throw new Error(`mmap of ${bytes} bytes failed: ${errnoName(koffi.errno())}`);
    }
    return { address, buffer: Buffer.from(koffi.view(BigInt(address), bytes)) };
  };
  return {
    socket: libc.func('int socket(int, int, int)'),
    close: libc.func('int close(int)'),
    bind: libc.func('int bind(int, const void *, uint32_t)'),
    setsockopt: libc.func('int setsockopt(int, int, int, const void *, uint32_t)'),
    sendmmsg: libc.func('int sendmmsg(int, size_t, uint32_t, int)'),
    recvmmsg: libc.func('int recvmmsg(int, size_t, uint32_t, int, size_t)'),
    sendto: libc.func('int sendto(int, const void *, size_t, int, const void *, uint32_t)'),
    getsockopt: libc.func('int getsockopt(int, int, int, void *, void *)'),
    poll: libc.func('int poll(size_t, uint64_t, int)'),
    connect: libc.func('int connect(int, size_t, uint32_t)'),
    getsockname: libc.func('int getsockname(int, void *, void *)'),
    epollCreate: libc.func('int epoll_create1(int)'),
    epollCtl: libc.func('int epoll_ctl(int, int, int, size_t)'),
    epollWait: libc.func('int epoll_wait(int, size_t, int, int)'),
    eventfd: libc.func('int eventfd(uint32_t, int)'),
    read: libc.func('int64_t read(int, void *, size_t)'),
    write: libc.func('int64_t write(int, const void *, size_t)'),
    capget: libc.func('int capget(void *, void *)'),
    capset: libc.func('int capset(void *, const void *)'),
    errno: () => koffi.errno(),
    memory: (bytes) => map(bytes, mapPrivateAnonymous, -1),
    mapped: (fd, bytes) => map(bytes, mapShared, fd),
  };
}

/** Names of the errno values that users may see. */
const errnoNames: Record<number, string> = {
  1: 'EPERM',
  6: 'ENXIO',
  11: 'EAGAIN',
  12: 'ENOMEM',
  13: 'EACCES',
  19: 'ENODEV',
  22: 'EINVAL',
  23: 'ENFILE',
  24: 'EMFILE',
  28: 'ENOSPC',
  38: 'ENOSYS',
  90: 'EMSGSIZE',
  93: 'EPROTONOSUPPORT',
  97: 'EAFNOSUPPORT',
  99: 'EADDRNOTAVAIL',
  100: 'ENETDOWN',
  101: 'ENETUNREACH',
  105: 'ENOBUFS',
  111: 'ECONNREFUSED',
  113: 'EHOSTUNREACH',
};

export function errnoName(errno: number): string {
  return errnoNames[errno] ?? `errno ${errno}`;
}

/** An option of a socket, or an attribute of netlink, that is one number. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
