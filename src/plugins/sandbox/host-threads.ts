import { readFileSync } from 'node:fs';

/** Threads of a process, however it hides them; 0 if it has ended. */
export function threadCount(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^Threads:\t(\d+)$/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
