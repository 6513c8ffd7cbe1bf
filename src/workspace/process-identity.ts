import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** One run of a process, distinguishable from a later process with the same ID. */
export interface ProcessIdentity {
  pid: number;
  /** Name of the machine when the process started; only to be read. */
  host: string;
  /** Namespace that the ID belongs to: a container has its own. Missing in files of older versions. */
  pid_namespace?: string;
  /** Random boot ID of the kernel; empty without /proc. */
  boot_id: string;
  /** Clock ticks between boot and start of the process, as text; empty without /proc. */
  start_ticks: string;
}

export function processIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    host: hostname(),
    pid_namespace: pidNamespace(),
    boot_id: bootId(),
    start_ticks: startTicks(process.pid),
  };
}

/** Whether a process ran, or runs, on this machine and in this container. */
export function isOfThisPlace({ host, boot_id, pid_namespace }: ProcessIdentity): boolean {
  // The first namespace has the same number on every machine: of another boot only the name says which one it was.
  if (boot_id !== bootId() || pid_namespace === undefined) return host === hostname();
  // The name of a machine may change while the process runs.
  return pid_namespace === pidNamespace();
}

/** Whether that very process is running here. One of another machine or container or of an earlier boot is not. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.boot_id !== bootId() || !isOfThisPlace(identity)) return false;
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

/** pid_namespaces(7); empty without /proc. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id').trim();
}

/** Processor time of a process of this host as text that changes while it gets any, in hundredths of a second. */
export function cpuTicks(pid: number): string {
  return statFields(pid).slice(11, 13).join(' ');
}

/** Field 22 of proc_pid_stat(5). */
function startTicks(pid: number): string {
  return statFields(pid)[19] ?? '';
}

/** Those of proc_pid_stat(5) from field 3: field 2, the command, may contain blanks and parentheses. */
function statFields(pid: number): string[] {
  const stat = readText(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
