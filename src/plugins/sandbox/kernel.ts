import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type koffiModule from 'koffi';
import { filterBytes, type Instruction } from './filter.ts';

/** Calls of the kernel that confine this process; the only file of the sandbox with foreign function calls. Linux, 64 bit. */
export interface Kernel {
  /** @returns 0 if this kernel has no Landlock */
  landlockAbi(): number;
  /** Allows reading below `readable`, and nothing else of the file system. @throws Error */
  restrictFiles(abi: number, readable: string[]): void;
  /** Applies to all threads. @throws Error */
  installFilter(filter: Instruction[]): void;
  /** No later program gets rights that this one lacks. @throws Error */
  dropPrivileges(): void;
  /** @throws Error */
  limit(resource: keyof typeof resources, value: number): void;
  /** The kernel ends this process when its parent ends. */
  endWithParent(): void;
  /** Standard output goes where the errors go. @returns descriptor of what it was. @throws Error */
  moveOutput(): number;
  /** A raw system call. @returns errno, 0 on success */
  attempt(number: number, ...args: number[]): number;
  /** Takes memory in blocks and gives it back. @returns bytes that it got, up to `bytes` */
  take(bytes: number): number;
  /** Writes where no memory is. */
  crash(): void;
}

const libraries = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1', 'libc.so'];
const resources = { fileSize: 1, data: 2, core: 4, openFiles: 7 };

const calls = {
  seccomp: process.arch === 'arm64' ? 277 : 317,
  landlockCreate: 444,
  landlockAdd: 445,
  landlockRestrict: 446,
};
const prctls = { deathSignal: 1, dropBounding: 24, secureBits: 28, noNewPrivileges: 38, ambient: 47 };
const sigkill = 9;
/** Root is a user like others, for good; no ambient capabilities. */
const secureBits = 0xef;
const clearAmbient = 4;
const capabilityVersion = 0x2008_0522;
const lastCapability = 63;
const allThreads = 1;
const filterMode = 1;
const blockBytes = 16 * 1024 ** 2;
/** O_PATH and O_CLOEXEC. */
const openPath = 0x20_0000 | 0x8_0000;

const access = { execute: 1n, readFile: 4n, readDir: 8n };
/** Rights of the file system by the ABI that brought them: 13 with the first, one more with 2, 3 and 5. */
const handledBits = [0, 13, 14, 15, 15, 16];
const handledNetwork = 3n;
/** Abstract sockets and signals out of the sandbox. */
const handledScopes = 3n;

/** Folders of the library for foreign function calls, which the host has to read. */
export function foreignLibrary(): string[] {
  const folder = dirname(realpathSync(createRequire(import.meta.url).resolve('koffi')));
  return [folder, join(dirname(folder), '@koromix')];
}

/** @throws Error if this system has no usable C library */
export function loadKernel(): Kernel {
  const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;
  let cause: unknown;
  for (const library of libraries) {
    try {
      return declare(koffi, koffi.load(library));
    } catch (error) {
      cause ??= error;
    }
  }
  throw new Error(`cannot load a C library (tried ${libraries.join(', ')})`, { cause });
}

function declare(koffi: typeof koffiModule, libc: ReturnType<typeof koffiModule.load>): Kernel {
  const prctl = libc.func('int prctl(int, size_t, size_t, size_t, size_t)');
  const capset = libc.func('int capset(const void *, const void *)');
  const setrlimit = libc.func('int setrlimit(int, const void *)');
  const open = libc.func('int open(const char *, int)');
  const close = libc.func('int close(int)');
  const dup = libc.func('int dup(int)');
  const dup2 = libc.func('int dup2(int, int)');
  const mmap = libc.func('size_t mmap(size_t, size_t, int, int, int, int64_t)');
  const memset = libc.func('void *memset(size_t, int, size_t)');
  const malloc = libc.func('size_t malloc(size_t)');
  const free = libc.func('void free(size_t)');
  const raw = libc.func('int64_t syscall(int64_t, size_t, size_t, size_t, size_t, size_t, size_t)');
  const createRuleset = libc.func('int64_t syscall(int64_t, const void *, size_t, uint32_t)');
  const addRule = libc.func('int64_t syscall(int64_t, int, int, const void *, uint32_t)');
  const seccomp = libc.func('int64_t syscall(int64_t, uint32_t, uint32_t, const void *)');

  const must = (what: string, result: unknown) => {
    if (Number(result) !== 0) throw new Error(`${what} failed (errno ${koffi.errno()})`);
  };
  const allow = (ruleset: number, path: string, handled: bigint) => {
    const fd = Number(open(path, openPath));
    // What this system does not have needs no right.
    if (fd < 0) return;
    // Under memory pressure the kernel forgets what nobody holds of /proc, and its next object has no rule: a copy,
    // which outlives execve, holds it.
    if (path.startsWith('/proc/')) dup(fd);
    const rule = Buffer.alloc(12);
    // A right of folders on a file is an error: the second try is for files.
    for (const rights of [
      access.execute | access.readFile | access.readDir,
      access.execute | access.readFile,
    ]) {
      rule.writeBigUInt64LE(rights & handled, 0);
      rule.writeInt32LE(fd, 8);
      if (Number(addRule(calls.landlockAdd, ruleset, 1, rule, 0)) === 0) {
        close(fd);
        return;
      }
    }
    throw new Error(`Landlock rule for ${path} failed (errno ${koffi.errno()})`);
  };

  return {
    landlockAbi: () => Math.max(0, Number(createRuleset(calls.landlockCreate, null, 0, 1))),
    restrictFiles: (abi, readable) => {
      const handled = (1n << BigInt(handledBits[Math.min(abi, 5)] ?? 0)) - 1n;
      const attributes = Buffer.alloc(24);
      attributes.writeBigUInt64LE(handled, 0);
      attributes.writeBigUInt64LE(handledNetwork, 8);
      attributes.writeBigUInt64LE(handledScopes, 16);
      const size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
      const ruleset = Number(createRuleset(calls.landlockCreate, attributes, size, 0));
      if (ruleset < 0) throw new Error(`Landlock failed (errno ${koffi.errno()})`);
      for (const path of readable) allow(ruleset, path, handled);
      must('Landlock', raw(calls.landlockRestrict, ruleset, 0, 0, 0, 0, 0));
      close(ruleset);
    },
    installFilter: (filter) => {
      const bytes = filterBytes(filter);
      const address = Number(mmap(0, bytes.length, 3, 0x22, -1, 0));
      if (address <= 0 || address > Number.MAX_SAFE_INTEGER)
        throw new Error('no memory for the seccomp filter');
      bytes.copy(Buffer.from(koffi.view(BigInt(address), bytes.length)));
      const program = Buffer.alloc(16);
      program.writeUInt16LE(filter.length, 0);
      program.writeBigUInt64LE(BigInt(address), 8);
      must('seccomp', seccomp(calls.seccomp, filterMode, allThreads, program));
    },
    dropPrivileges: () => {
      must('no_new_privs', prctl(prctls.noNewPrivileges, 1, 0, 0, 0));
      // These three need a privilege; without it there is nothing to drop. The capabilities are verified below.
      for (let capability = 0; capability <= lastCapability; capability += 1) {
        prctl(prctls.dropBounding, capability, 0, 0, 0);
      }
      prctl(prctls.secureBits, secureBits, 0, 0, 0);
      prctl(prctls.ambient, clearAmbient, 0, 0, 0);
      const header = Buffer.alloc(8);
      header.writeUInt32LE(capabilityVersion, 0);
      must('dropping capabilities', capset(header, Buffer.alloc(24)));
      const left = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))?.[1];
      if (left === undefined || /[^0]/.test(left)) throw new Error(`capabilities are left: ${left}`);
    },
    limit: (resource, value) => {
      const pair = Buffer.alloc(16);
      pair.writeBigUInt64LE(BigInt(value), 0);
      pair.writeBigUInt64LE(BigInt(value), 8);
      must(`limit ${resource}`, setrlimit(resources[resource], pair));
    },
    endWithParent: () => must('parent death signal', prctl(prctls.deathSignal, sigkill, 0, 0, 0)),
    moveOutput: () => {
      const moved = Number(dup(1));
      if (moved < 0 || Number(dup2(2, 1)) < 0) throw new Error(`dup failed (errno ${koffi.errno()})`);
      return moved;
    },
    attempt: (number, ...args) => {
      const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = args;
      return Number(raw(number, a, b, c, d, e, f)) < 0 ? koffi.errno() : 0;
    },
    take: (bytes) => {
      const blocks: number[] = [];
      while (blocks.length * blockBytes < bytes) {
        const block = Number(malloc(blockBytes));
        if (block === 0) break;
        blocks.push(block);
      }
      for (const block of blocks) free(block);
      return blocks.length * blockBytes;
    },
    crash: () => memset(8, 0, 8),
  };
}
