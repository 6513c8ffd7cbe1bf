/**
 * Runs inside the sandbox: `host MEMORY LACKS`. Loads one plugin and runs its nodes for a scan. Frames come on standard input;
 * they leave on a descriptor of their own, so that what a plugin prints does not come between them.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { dirname } from 'node:path';
import { confineHost } from '../sandbox/confine.ts';
import { type Frame, FrameReader } from '../sandbox/frames.ts';
import { describeError } from './error-text.ts';
import { FrameOutput } from './frame-output.ts';
import type { HostedPlugin, LoadPlugin } from './hosted-plugin.ts';
import type { CallResult, HostedKind, HostRequest, LoadedValue } from './messages.ts';
import { NodeWire } from './node-wire.ts';
import { divertPrints } from './plugin-prints.ts';
import { ScanCalls } from './scan-calls.ts';

/** Bytes of a frame from the scan, which is trusted. */
const inputBytes = 1024 ** 3;

/** Each kind is imported on demand. */
const kinds: Partial<Record<HostedKind, () => Promise<LoadPlugin>>> = {
  script: async () => (await import('./script.ts')).loadScript,
  native: async () => (await import('./native.ts')).loadNative,
  wasm: async () => (await import('./wasm.ts')).loadWasm,
};

interface RunningNode {
  wire: NodeWire;
  abort: AbortController;
  /** Fails the node with an error that nobody caught. */
  fail(error: unknown): void;
}

const current = new AsyncLocalStorage<RunningNode>();

class PluginHost {
  readonly #output: FrameOutput;
  readonly #calls: ScanCalls;
  readonly #nodes = new Map<string, RunningNode>();
  /** Fail the requests under way that run no node. */
  readonly #requests = new Set<(error: Error) => void>();
  #plugin: HostedPlugin | null = null;
  #folder = '';

  constructor(output: FrameOutput) {
    this.#output = output;
    this.#calls = new ScanCalls(output);
    divertPrints((level, message) => {
      const wire = current.getStore()?.wire;
      if (wire) wire.log(level, message);
      else this.#output.send({ op: 'log', node: '', level, message });
    });
    process.on('uncaughtException', (error) => this.#blame(error));
    process.on('unhandledRejection', (error) => this.#blame(error));
  }

  receive(frame: Frame): void {
    const message = frame.message as HostRequest | CallResult;
    if ('call' in message) this.#calls.finish(frame);
    else if ('id' in message) void this.#respond(message);
    else this.#nodes.get(message.node)?.abort.abort(new Error('canceled'));
  }

  async #respond(request: Extract<HostRequest, { id: number }>): Promise<void> {
    const { id } = request;
    const uncaught = Promise.withResolvers<never>();
    // A node has its own.
    if (request.op !== 'execute') this.#requests.add(uncaught.reject);
    try {
      this.#output.send({ id, value: await Promise.race([this.#perform(request), uncaught.promise]) });
    } catch (error) {
      this.#output.send({ id, error: describeError(error, this.#folder) });
    } finally {
      this.#requests.delete(uncaught.reject);
    }
  }

  async #perform(request: Extract<HostRequest, { id: number }>): Promise<unknown> {
    switch (request.op) {
      case 'load':
        return await this.#load(request);
      case 'initialize':
        return await this.#loaded.initialize();
      case 'configure':
        return await this.#loaded.configure(request.node, request.options);
      case 'execute':
        return await this.#execute(request);
      case 'cleanup':
        return await this.#loaded.cleanup();
    }
  }

  get #loaded(): HostedPlugin {
    if (!this.#plugin) throw new Error('no plugin is loaded');
    return this.#plugin;
  }

  async #load({ kind, file, config, output }: Extract<HostRequest, { op: 'load' }>): Promise<LoadedValue> {
    this.#folder = dirname(file);
    this.#output.limit = output;
    const loader = kinds[kind];
    if (!loader) throw new Error(`this build does not load plugins of kind ${kind}`);
    const load = await loader();
    this.#plugin = await load(file, config);
    return { metadata: this.#plugin.metadata };
  }

  async #execute({ node, context }: Extract<HostRequest, { op: 'execute' }>): Promise<void> {
    const abort = new AbortController();
    const wire = new NodeWire(node, this.#calls, this.#output);
    const uncaught = Promise.withResolvers<never>();
    const running: RunningNode = { wire, abort, fail: uncaught.reject };
    this.#nodes.set(node, running);
    try {
      const work = current.run(running, async () => {
        try {
          await this.#loaded.execute(node, context, wire, abort.signal);
        } catch (error) {
          // What a node published before it failed is kept.
          await wire.finish().catch(() => undefined);
          throw error;
        }
        await wire.finish();
      });
      await Promise.race([work, uncaught.promise]);
    } finally {
      this.#nodes.delete(node);
      abort.abort(new Error('the node has ended'));
    }
  }

  /** An error outside of every promise that somebody awaits fails its node, or all of them if it has none. */
  #blame(error: unknown): void {
    const store = current.getStore();
    const guilty = store ? [store] : [...this.#nodes.values()];
    const text = `uncaught error: ${describeError(error, this.#folder)}`;
    this.#output.send({ op: 'log', node: '', level: 'error', message: text });
    for (const node of guilty) node.fail(new Error(text));
    if (!store) for (const fail of this.#requests) fail(new Error(text));
  }
}

const lacks = JSON.parse(process.argv[3] ?? '[]') as string[];
const kernel = confineHost(Number(process.argv[2]), lacks);
const input = process.stdin;
const output = new FrameOutput(kernel.moveOutput());
const host = new PluginHost(output);
const reader = new FrameReader(inputBytes);
input.on('data', (chunk: Buffer) => {
  for (const frame of reader.push(chunk)) host.receive(frame);
});
input.on('end', () => process.exit(0));
output.send({ ready: true, lacks });
