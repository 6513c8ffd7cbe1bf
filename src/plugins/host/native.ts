import { open } from 'node:fs/promises';
import type { HostedPlugin, HostWire } from './hosted-plugin.ts';
import type { NodeContext } from './messages.ts';
import { elfHeaderBytes, sharedObjectProblem } from './native/elf.ts';
import { monotonicMs } from './native/exchange.ts';
import { loadSymbol } from './native/foreign.ts';
import { NodeThread } from './native/node-thread.ts';
import { callForError, type PluginStruct, readPluginStruct, requireSuccess } from './native/plugin-struct.ts';

const symbol = 'Plugin';

/**
 * Loads a shared object with the C ABI of sdk/c/service_plugin.h.
 * @throws Error that says why it cannot be loaded
 */
export async function loadNative(file: string): Promise<HostedPlugin> {
  const problem = sharedObjectProblem(await readHeader(file), process.arch);
  if (problem !== null) throw new Error(problem);
  return new NativePlugin(readPluginStruct(loadSymbol(file, symbol)));
}

async function readHeader(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(elfHeaderBytes), 0, elfHeaderBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** `initialize`, `configure` and `cleanup` run in the main thread, every node in a thread of its own. */
class NativePlugin implements HostedPlugin {
  readonly #struct: PluginStruct;
  readonly #idle: NodeThread[] = [];
  readonly #options = new Map<string, Record<string, unknown>>();

  constructor(struct: PluginStruct) {
    this.#struct = struct;
  }

  get metadata() {
    return this.#struct.metadata;
  }

  async initialize(): Promise<void> {
    const { initialize, free } = this.#struct;
    // Starts while the plugin loads its data.
    this.#idle.push(new NodeThread());
    requireSuccess('initialize', callForError(initialize, free));
  }

  async configure(node: string, options: Record<string, unknown>): Promise<void> {
    const { configure, free } = this.#struct;
    const json = Buffer.from(`${JSON.stringify(options)}\0`);
    this.#options.set(node, options);
    requireSuccess(
      'configure',
      callForError((error) => configure(json, json.length - 1, error), free),
    );
  }

  async execute(node: string, context: NodeContext, wire: HostWire, signal: AbortSignal): Promise<void> {
    const { scan_id, instance_id, deadline_ms, keys } = context;
    const config = this.#options.get(node) ?? {};
    const input = {
      execute: this.#struct.executeAddress,
      free: this.#struct.freeAddress,
      context: JSON.stringify({ scan_id, instance_id, deadline_ms, keys, config }),
      deadline: deadline_ms === null ? null : monotonicMs() + deadline_ms,
    };
    const thread = this.#idle.pop() ?? new NodeThread();
    try {
      await thread.execute(input, wire, signal);
    } finally {
      if (!thread.broken) this.#idle.push(thread);
    }
  }

  async cleanup(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((thread) => thread.end()));
    const { cleanup, free } = this.#struct;
    requireSuccess('cleanup', callForError(cleanup, free));
  }
}
