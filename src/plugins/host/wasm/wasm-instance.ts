import { CallRejection, type HostWire, type LogLevel } from '../hosted-plugin.ts';
import { WasmConnections } from './wasm-connections.ts';
import { unsigned, WasmFault, WasmMemory } from './wasm-memory.ts';
import { checkedMemory, checkSignatures } from './wasm-types.ts';
import { wasiModule, wasiStubs } from './wasm-wasi.ts';

/** What one call of `execute` works with. */
export interface WasmRun {
  /** JSON of the options of the node. */
  config: string;
  /** JSON of the inputs, by key. */
  data: ReadonlyMap<string, string>;
  /** Keys that may be written. */
  provides: ReadonlySet<string>;
  /** Addresses of the scan may be reached. */
  network: boolean;
  wire: Pick<HostWire, 'append' | 'net'>;
  log(level: LogLevel, message: string): void;
  /** A value that is no list: it is written when the node ends. */
  setValue(key: string, value: unknown): void;
  signal: AbortSignal;
}

/** Functions of the import module `service`. */
export const serviceNames = [
  'get',
  'set',
  'append',
  'log',
  'error',
  'canceled',
  'connect',
  'write',
  'read',
  'close',
];

/** Bytes of the name of a key. */
const keyBytes = 256;
/** Bytes of one value that a module writes. */
const valueBytes = 16 * 1024 ** 2;
/** Bytes of one log line, and of the text of an error. */
const logBytes = 4096;
const errorBytes = 1000;
/** A module that computes for this long and asks whether it was canceled waits for what arrived, milliseconds. */
const turnMs = 20;

const missing = -1;
const logLevels: LogLevel[] = ['debug', 'debug', 'info', 'warn', 'error'];

interface Exports {
  memory: WebAssembly.Memory;
  execute(context: number): number;
  alloc?: (length: number) => number;
  metadata?(): number;
  _initialize?(): void;
}

/** A module with a memory of its own, for one batch of inputs. */
export class WasmInstance {
  readonly #context: WasmRun;
  readonly #connections: WasmConnections;
  readonly #encoded = new Map<string, Buffer>();
  #exports!: Exports;
  #memory!: WasmMemory;
  #error = '';
  /** The first thing that went wrong in a call of the host. */
  #fault: Error | null = null;
  #lastTurn = performance.now();

  private constructor(context: WasmRun) {
    this.#context = context;
    this.#connections = new WasmConnections(context);
  }

  /** @throws Error if the module cannot start, or its exports have other types */
  static async create(module: WebAssembly.Module, context: WasmRun): Promise<WasmInstance> {
    const instance = new WasmInstance(context);
    const imports = { service: instance.#service(), [wasiModule]: instance.#wasi() };
    await instance.#guarded(async () => {
      const { exports } = await WebAssembly.instantiate(module, imports);
      instance.#exports = exports as unknown as Exports;
      instance.#memory = new WasmMemory(checkedMemory(exports['memory'] as WebAssembly.Memory));
      checkSignatures(exports);
      instance.#exports._initialize?.();
    });
    return instance;
  }

  /** What the module says about itself, or null if it does not export it. @throws Error */
  metadata(most: number): string | null {
    const { metadata } = this.#exports;
    return metadata ? this.#memory.block(metadata(), 'metadata', most) : null;
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** @throws Error with the text that the module gave, or why it was stopped */
  async run(): Promise<void> {
    try {
      await this.#guarded(async () => {
        const { alloc, execute } = this.#exports;
        const pointer = this.#memory.writeBlock(contextJson(this.#context), alloc ?? null);
        const result = await WebAssembly.promising(execute)(pointer);
        if (result !== 0) throw new WasmFault(`execute returned ${result}`);
      });
    } finally {
      await this.#connections.closeAll();
    }
  }

  /** Throws what really went wrong, with the text of the module. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    let problem: Error | null = null;
    try {
      await work();
    } catch (error) {
      problem = error as Error;
    }
    // A module can catch what a call of the host throws.
    problem = this.#fault ?? problem;
    if (!problem) return;
    const reason = reasonOf(problem);
    throw new Error(this.#error === '' ? reason : `${this.#error} (${reason})`);
  }

  #service(): Record<string, unknown> {
    const suspending = (call: (...values: unknown[]) => Promise<number>) =>
      new WebAssembly.Suspending(this.#noting(call));
    const log = this.#noting((level, pointer, length) => {
      const text = this.#memory.message(pointer, length, 'log', logBytes);
      this.#context.log(logLevels[Math.min(unsigned(level), logLevels.length - 1)] ?? 'info', text);
    });
    const error = this.#noting((pointer, length) => {
      this.#error = this.#memory.message(pointer, length, 'error', errorBytes);
    });
    return {
      get: this.#noting((...values) => this.#get(...(values as [unknown, unknown, unknown, unknown]))),
      set: suspending((...values) => this.#write('set', values)),
      append: suspending((...values) => this.#write('append', values)),
      log,
      error,
      canceled: suspending(() => this.#canceled()),
      connect: suspending((pointer, length, port) =>
        this.#connections.connect(this.#memory.text(pointer, length, 'connect', keyBytes), unsigned(port)),
      ),
      write: suspending((connection, pointer, length) =>
        this.#connections.write(unsigned(connection), this.#memory.bytes(pointer, length, 'write')),
      ),
      read: suspending(async (connection, pointer, cap) => {
        const room = this.#memory.bytes(pointer, cap, 'read').length;
        const bytes = await this.#connections.read(unsigned(connection), room);
        if (typeof bytes === 'number') return bytes;
        this.#memory.bytes(pointer, bytes.length, 'read').set(bytes);
        return bytes.length;
      }),
      close: suspending((connection) => this.#connections.close(unsigned(connection))),
    };
  }

  #wasi(): Record<string, unknown> {
    const stubs = wasiStubs(
      () => this.#memory,
      (level, line) => this.#context.log(level, line),
    );
    return Object.fromEntries(Object.entries(stubs).map(([name, call]) => [name, this.#noting(call)]));
  }

  /** Notes the first error of a call: it fails the node also if the module catches it. */
  #noting<T>(call: (...values: unknown[]) => T): (...values: unknown[]) => T {
    const note = (error: unknown): never => {
      this.#fault ??= error as Error;
      throw error;
    };
    return (...values) => {
      try {
        if (!this.#memory) throw new WasmFault('a call of the host before the module has started');
        const result = call(...values);
        return result instanceof Promise ? (result.catch(note) as T) : result;
      } catch (error) {
        return note(error);
      }
    };
  }

  #get(keyPointer: unknown, keyLength: unknown, out: unknown, cap: unknown): number {
    const key = this.#memory.text(keyPointer, keyLength, 'get', keyBytes);
    const json = this.#context.data.get(key);
    if (json === undefined) return missing;
    let bytes = this.#encoded.get(key);
    if (!bytes) {
      bytes = Buffer.from(json);
      this.#encoded.set(key, bytes);
    }
    const room = this.#memory.bytes(out, cap, `get of "${key}"`);
    if (bytes.length <= room.length) room.set(bytes);
    return bytes.length;
  }

  async #write(name: 'set' | 'append', values: unknown[]): Promise<number> {
    const [keyPointer, keyLength, pointer, length] = values;
    const key = this.#memory.text(keyPointer, keyLength, name, keyBytes);
    if (!this.#context.provides.has(key)) {
      throw new WasmFault(`${name}: this module does not declare "${key}" in the keys it provides`);
    }
    const json = this.#memory.text(pointer, length, `${name} of "${key}"`, valueBytes);
    const value = parsed(json, `${name} of "${key}"`);
    this.#context.signal.throwIfAborted();
    if (name === 'set' && !Array.isArray(value)) this.#context.setValue(key, value);
    else await this.#context.wire.append(key, Array.isArray(value) ? value : [value]);
    return 0;
  }

  /** Now and then lets a message arrive first: a module that only computes keeps the process busy. */
  async #canceled(): Promise<number> {
    if (performance.now() - this.#lastTurn > turnMs) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#lastTurn = performance.now();
    }
    return this.#context.signal.aborted ? 1 : 0;
  }
}

function contextJson({ config, data }: WasmRun): string {
  const entries = [...data].map(([key, json]) => `${JSON.stringify(key)}:${json}`);
  return `{"config":${config},"data":{${entries.join(',')}}}`;
}

function parsed(json: string, what: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new WasmFault(`${what}: ${(error as Error).message}`);
  }
}

function reasonOf(error: Error): string {
  if (error instanceof WasmFault || error instanceof CallRejection) return error.message;
  if (error instanceof WebAssembly.RuntimeError) return `trap: ${error.message}`;
  if (error instanceof RangeError && /call stack/i.test(error.message)) return 'trap: recursion is too deep';
  return error.message;
}
