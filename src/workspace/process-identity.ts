import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** One run of a process, distinguishable from a later process with the same ID. */
export interface ProcessIdentity {
  pid: number;
  host: string;
  /** Random boot ID of the kernel; empty without /proc. */
  boot_id: string;
  /** Clock ticks between boot and start of the process, as text; empty without /proc. */
  start_ticks: string;
}

export function processIdentity(): ProcessIdentity {
  return { pid: process.pid, host: hostname(), boot_id: bootId(), start_ticks: startTicks(process.pid) };
}

/** Whether that very process is running on this host. One of another host or an earlier boot is not. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.host !== hostname() || identity.boot_id !== bootId()) return false;
  return isAlive(identity.pid) && startTicks(identity.pid) === identity.start_ticks;
}

/** Whether a process with this ID is running on this host, of any user. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id').trim();
}

/** Field 22 of proc_pid_stat(5). Field 2, the command, may contain blanks and parentheses: count from its end. */
function startTicks(pid: number): string {
  const stat = readText(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
