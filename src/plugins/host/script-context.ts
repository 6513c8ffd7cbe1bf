import { performance } from 'node:perf_hooks';
import { CallRejection, type HostWire, type LogLevel } from './hosted-plugin.ts';
import type { NodeContext } from './messages.ts';
import { scriptNet } from './script-net.ts';

/** What a script sees of its node: the execution context of a module. */
export function scriptContext(
  context: NodeContext,
  options: Record<string, unknown>,
  wire: HostWire,
  signal: AbortSignal,
) {
  const logAt = (level: LogLevel) => (message: unknown, details?: object) =>
    wire.log(
      level,
      details === undefined ? String(message) : `${String(message)} ${JSON.stringify(details)}`,
    );
  const { deadline_ms } = context;
  return {
    signal,
    deadline: deadline_ms === null ? null : performance.now() + deadline_ms,
    instanceId: context.instance_id,
    scanId: context.scan_id,
    options,
    net: scriptNet(context, wire),
    log: { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
    progress: (done: number, total?: number) => wire.progress(done, total),
    warn: (code: string, message: string, target?: string) => wire.warn(code, message, target),
  };
}

/** The shared data as a script sees it. */
export class ScriptData {
  readonly #keys: readonly string[];
  readonly #wire: HostWire;
  readonly #complete = new Map<string, Promise<unknown>>();

  constructor(keys: readonly string[], wire: HostWire) {
    this.#keys = keys;
    this.#wire = wire;
  }

  has(key: string): boolean {
    return this.#keys.includes(key);
  }

  keys(): string[] {
    return [...this.#keys];
  }

  get(key: string): Promise<unknown> {
    const value = this.#complete.get(key) ?? this.#collect(key);
    this.#complete.set(key, value);
    return value;
  }

  async *stream<T>(key: string): AsyncGenerator<T, void, undefined> {
    this.#require(key);
    for (;;) {
      const { items, end } = await this.#wire.pull(key);
      yield* items as T[];
      if (end) return;
    }
  }

  async append(key: string, ...items: unknown[]): Promise<void> {
    await this.#wire.append(key, items);
  }

  async set(key: string, value: unknown): Promise<void> {
    await this.#wire.set(key, value);
  }

  getTargets(key: string): Promise<unknown[]> {
    return this.#list(key);
  }
  getHosts(key: string): Promise<unknown[]> {
    return this.#list(key);
  }
  getPorts(key: string): Promise<unknown[]> {
    return this.#list(key);
  }
  getBanners(key: string): Promise<unknown[]> {
    return this.#list(key);
  }
  getFingerprints(key: string): Promise<unknown[]> {
    return this.#list(key);
  }

  async #list(key: string): Promise<unknown[]> {
    const value = await this.get(key);
    if (Array.isArray(value)) return value;
    throw Object.assign(new Error(`"${key}" is no list: it is ${typeof value}`), {
      name: 'TypeMismatchError',
    });
  }

  async #collect(key: string): Promise<unknown> {
    this.#require(key);
    const all: unknown[] = [];
    for (;;) {
      const { items, end, single } = await this.#wire.pull(key, true);
      if (single) return items[0];
      for (const item of items) all.push(item);
      if (end) return all;
    }
  }

  #require(key: string): void {
    if (!this.has(key))
      throw new CallRejection('missing', `no data under "${key}": no upstream node provides it`);
  }
}
