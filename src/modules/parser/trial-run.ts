import { type Banner, describeBytes } from '../../domain/banner.ts';
import type { DataContext, ExecContext, ModuleDefinition } from '../../engine/module.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** For tests: executes a module on complete input streams and gives what it published. */
export async function runModule<T>(
  definition: ModuleDefinition,
  streams: Record<string, readonly unknown[]>,
  options: Record<string, unknown> = {},
): Promise<T[]> {
  const found: T[] = [];
  const data = {
    stream: async function* (key: string) {
      yield* streams[key] ?? [];
    },
    append: async (_key: string, ...items: T[]) => void found.push(...items),
  } as unknown as DataContext;
  const { signal } = new AbortController();
  const ctx = { signal, instanceId: definition.name, log: quiet } as unknown as ExecContext;
  const module = definition.create();
  await module.initialize();
  await module.configure(options);
  await module.execute(ctx, data);
  await module.cleanup();
  return found;
}

/** For tests: the banner of a service that answered these bytes (latin1). */
export function bannerOf(port: number, answer: string, more: Partial<Banner> = {}): Banner {
  const endpoint = { host: '192.0.2.1', port, protocol: 'tcp' } as const;
  const bytes = Buffer.from(answer, 'latin1');
  return { ...endpoint, ...describeBytes(bytes), probe: 'null', truncated: false, partial: false, ...more };
}
