import { readFileSync } from 'node:fs';

/** Index of an interface; 0 if there is none of that name. */
export function scopeIdOf(zone: string | null): number {
  if (zone === null || !/^[\w.:-]{1,15}$/.test(zone) || zone.startsWith('.')) return 0;
  try {
    return Number(readFileSync(`/sys/class/net/${zone}/ifindex`, 'utf8')) || 0;
  } catch {
    return 0;
  }
}
