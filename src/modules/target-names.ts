import type { Target } from '../domain/targets/target.ts';
import type { DataContext } from '../engine/module.ts';

/** The requested name of each address; servers behave differently when addressed by name. */
export async function targetNames(data: DataContext): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  if (!data.has('targets')) return names;
  for await (const { kind, value, ip } of data.stream<Target>('targets')) {
    if (kind === 'hostname' && ip !== undefined && !names.has(ip)) names.set(ip, value);
  }
  return names;
}
