import type { Target } from '../domain/targets/target.ts';
import type { DataContext } from '../engine/module.ts';

/**
 * The requested names of each address, deduplicated, in the given order; servers behave differently when addressed by
 * name. The first one is that of the address, the others are sites beside it.
 */
export async function targetNames(data: DataContext): Promise<Map<string, string[]>> {
  const names = new Map<string, Set<string>>();
  if (!data.has('targets')) return new Map();
  for await (const { kind, value, ip } of data.stream<Target>('targets')) {
    if (kind !== 'hostname' || ip === undefined) continue;
    const known = names.get(ip);
    if (known) known.add(value);
    else names.set(ip, new Set([value]));
  }
  return new Map([...names].map(([ip, ofAddress]) => [ip, [...ofAddress]]));
}

/** The first name of each address. */
export function firstNames(names: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  return new Map([...names].flatMap(([ip, [first]]) => (first === undefined ? [] : [[ip, first]])));
}
