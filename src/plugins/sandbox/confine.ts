import { readFileSync } from 'node:fs';
import { hostFilter } from './filter.ts';
import { type Kernel, loadKernel } from './kernel.ts';
import type { Architecture } from './syscalls.ts';

/**
 * Limits the memory of a host and denies it to start programs: the last step of the sandbox.
 * @param lacks parts of the sandbox that this system lacks
 * @throws Error
 */
export function confineHost(memory: number, lacks: readonly string[] = []): Kernel {
  const kernel = loadKernel();
  const status = readFileSync('/proc/self/status', 'utf8');
  // An idle Node.js already has more than half a gigabyte of address space that counts as data.
  const dataBytes = Number(/^VmData:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024;
  kernel.limit('data', dataBytes + memory);
  // Without the first filter there is none to complete.
  if (!lacks.some((part) => part.startsWith('seccomp')))
    kernel.installFilter(hostFilter(process.arch as Architecture));
  return kernel;
}
