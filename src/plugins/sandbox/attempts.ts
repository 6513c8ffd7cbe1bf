import { appendFileSync, closeSync, constants, openSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import type { Kernel } from './kernel.ts';
import { type Architecture, execCalls, syscalls } from './syscalls.ts';

/** What the self-test asks of the host; `argument` is a path, a process id or a count of bytes. */
export interface AttemptRequest {
  attempt: string;
  argument?: string | number;
}

/** CLONE_SIGHAND without CLONE_VM: the kernel refuses it with EINVAL if the filter does not. */
const invalidClone = 0x800;

/** Tries what a plugin must not do. @returns the error, or what it got */
export function tryToEscape(kernel: Kernel, { attempt: name, argument }: AttemptRequest): string | number {
  const act = acts[name];
  if (!act) throw new Error(`no such attempt: ${name}`);
  return act(kernel, argument ?? 0);
}

const acts: Record<string, (kernel: Kernel, argument: string | number) => string | number> = {
  socket: (kernel) => kernel.attempt(numberOf('socket'), 2, 1, 0),
  // A descriptor that is open, but no structure.
  connect: (kernel) => kernel.attempt(numberOf('connect'), 0, 0, 0),
  // Null where a structure belongs: without the filter these fail, too, but with EFAULT.
  io_uring: (kernel) => kernel.attempt(numberOf('io_uring_setup'), 1, 0),
  fork: (kernel) => kernel.attempt(numberOf('clone'), invalidClone),
  execve: (kernel) => kernel.attempt(numberOf('execve'), 0, 0, 0),
  kill: (kernel, pid) => kernel.attempt(numberOf('kill'), Number(pid), 0),
  write: (_, path) => codeOf(() => appendFileSync(String(path), 'x')),
  truncate: (_, path) =>
    codeOf(() => closeSync(openSync(String(path), constants.O_RDONLY | constants.O_TRUNC))),
  read: (_, path) => codeOf(() => readFileSync(String(path))),
  memory: (kernel, bytes) => kernel.take(Number(bytes)),
  heap: () => {
    setFlagsFromString('--max-old-space-size=8192');
    const kept: unknown[] = [];
    while (true) kept.push(Array.from({ length: 100_000 }, Math.random));
  },
  crash: (kernel) => {
    kernel.crash();
    return 0;
  },
  loop: () => {
    while (true);
  },
  exit: (_, code) => process.exit(Number(code)),
};

function numberOf(name: string): number {
  const number = { ...syscalls, ...execCalls }[name]?.[process.arch as Architecture];
  if (number === undefined || number === null) throw new Error(`no call ${name} on ${process.arch}`);
  return number;
}

function codeOf(act: () => void): string {
  try {
    act();
    return 'allowed';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
