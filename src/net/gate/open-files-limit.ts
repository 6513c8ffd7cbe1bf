import { readFileSync } from 'node:fs';

/** Soft limit of open files of this process (RLIMIT_NOFILE); 1024 if unknown. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return soft ? Number(soft) : 1024;
  } catch {
    return 1024;
  }
}
