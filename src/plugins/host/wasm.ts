import type { PluginMetadata } from '../plugin.ts';
import { hostBatches, hostOf, type InputBatch, WholeValue } from './host-batches.ts';
import type { HostedPlugin, HostWire, LoadPlugin, LogLevel } from './hosted-plugin.ts';
import { batchItems, batchMs, type NodeContext } from './messages.ts';
import { WasmInstance, type WasmRun } from './wasm/wasm-instance.ts';
import { compileModule, moduleMetadata } from './wasm/wasm-module.ts';

/** Hosts of one batch where several keys are joined. */
const batchHosts = 64;
/** Inputs of one batch, characters of JSON: a batch must leave room in the memory of a module. */
const batchLength = 4 * 1024 ** 2;
/** Instances that await the network at the same time. */
const networkInstances = 32;
/** Memory of instances that have ended, bytes: more is collected at once, before the limit of the process counts it. */
const garbageBytes = 64 * 1024 ** 2;
/** Log lines of one node. */
const maxLogLines = 1000;

/**
 * Loads a WebAssembly module. Node calls `execute` once for each batch of inputs, each time in a fresh instance: no state
 * stays, and the memory returns.
 * @throws Error that says why not
 */
export const loadWasm: LoadPlugin = async (file) => {
  const module = await compileModule(file);
  return new WasmPlugin(module, await moduleMetadata(module, file, loadContext()));
};

/** An input, encoded once. */
interface EncodedItem {
  host: string;
  json: string;
}

class WasmPlugin implements HostedPlugin {
  readonly metadata: PluginMetadata;
  readonly #module: WebAssembly.Module;
  readonly #configs = new Map<string, string>();
  #garbage = 0;

  constructor(module: WebAssembly.Module, metadata: PluginMetadata) {
    this.#module = module;
    this.metadata = metadata;
  }

  async initialize(): Promise<void> {}

  async configure(node: string, options: Record<string, unknown>): Promise<void> {
    this.#configs.set(node, JSON.stringify(options));
  }

  async execute(node: string, context: NodeContext, wire: HostWire, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const values = new Map<string, unknown>();
    const shared = {
      config: this.#configs.get(node) ?? '{}',
      provides: new Set(this.metadata.provides),
      network: context.network,
      wire,
      log: limitedLog(wire),
      setValue: (key: string, value: unknown) => void values.set(key, value),
      signal: AbortSignal.any([signal, stop.signal]),
    };
    const batches = this.#batches(context, wire);
    // Workers take batches from one iterator.
    const work = async () => {
      for await (const data of { [Symbol.asyncIterator]: () => ({ next: () => batches.next() }) }) {
        shared.signal.throwIfAborted();
        const instance = await WasmInstance.create(this.#module, { ...shared, data });
        await instance.run().finally(() => this.#collect(instance.memoryBytes));
      }
    };
    const workers = Array.from({ length: context.network ? networkInstances : 1 }, work);
    try {
      await Promise.all(workers);
    } catch (error) {
      stop.abort(new Error('another batch of the node failed'));
      await Promise.allSettled(workers);
      throw error;
    } finally {
      void batches.return();
    }
    for (const [key, value] of values) await wire.set(key, value);
  }

  async cleanup(): Promise<void> {}

  /** V8 collects memories late, because they are no part of its heap. */
  #collect(bytes: number): void {
    this.#garbage += bytes;
    if (this.#garbage < garbageBytes) return;
    this.#garbage = 0;
    globalThis.gc?.();
  }

  /** One batch without data where the module reads nothing. */
  async *#batches(
    { keys, network }: NodeContext,
    wire: HostWire,
  ): AsyncGenerator<ReadonlyMap<string, string>, void, undefined> {
    const wanted = wantedKeys(this.metadata.requires ?? [], keys);
    if (wanted.length === 0) {
      yield new Map();
      return;
    }
    const inputs = Object.fromEntries(wanted.map((key) => [key, encodedItems(key, wire)]));
    // An instance that awaits the network has one item, or one host: the others need not wait for it.
    const limits = network
      ? { hosts: 1, items: 1 }
      : { hosts: wanted.length > 1 ? batchHosts : batchItems, items: batchItems };
    const batches = hostBatches(inputs, {
      ...limits,
      bytes: batchLength,
      sizeOf: lengthOf,
      maxWaitMs: batchMs,
    });
    for await (const batch of batches) yield encodedBatch(batch);
  }
}

/** Of alternatives the first that can be read. */
function wantedKeys(requires: string[], keys: string[]): string[] {
  const first = requires.map((required) => required.split('|').find((key) => keys.includes(key)));
  return [...new Set(first.filter((key) => key !== undefined))];
}

async function* encodedItems(
  key: string,
  wire: HostWire,
): AsyncGenerator<EncodedItem | WholeValue, void, undefined> {
  for (;;) {
    const { items, end, single } = await wire.pull(key);
    for (const item of items) {
      yield single ? new WholeValue(item) : { host: hostOf(item), json: JSON.stringify(item) };
    }
    if (end) return;
  }
}

function lengthOf(item: unknown): number {
  return (item as EncodedItem).json.length;
}

function encodedBatch(batch: InputBatch): Map<string, string> {
  const entries = Object.entries(batch).map(([key, value]): [string, string] => {
    if (!Array.isArray(value)) return [key, JSON.stringify(value)];
    return [key, `[${(value as EncodedItem[]).map(({ json }) => json).join(',')}]`];
  });
  return new Map(entries);
}

/** While the module says what it is: nothing is there. */
function loadContext(): WasmRun {
  const unavailable = () => Promise.reject(new Error('the module calls the scan while it is loaded'));
  return {
    config: '{}',
    data: new Map(),
    provides: new Set(),
    network: false,
    wire: { append: unavailable, net: unavailable },
    log: () => undefined,
    setValue: () => undefined,
    signal: new AbortController().signal,
  };
}

/** Drops what a node logs beyond the limit. */
function limitedLog(wire: HostWire): WasmRun['log'] {
  let lines = 0;
  return (level: LogLevel, message: string) => {
    lines += 1;
    if (lines < maxLogLines) wire.log(level, message);
    else if (lines === maxLogLines)
      wire.log('warn', `further log lines of this node are dropped (${maxLogLines})`);
  };
}
