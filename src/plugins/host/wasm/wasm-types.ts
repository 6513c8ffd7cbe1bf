import { WasmFault } from './wasm-memory.ts';

declare global {
  /** What the host uses of the WebAssembly of Node.js: its types come with the DOM only, and lack the promise integration. */
  namespace WebAssembly {
    type ExportKind = 'function' | 'global' | 'memory' | 'table' | 'tag';
    type Exports = Record<string, unknown>;
    type Imports = Record<string, Record<string, unknown>>;

    class Module {
      constructor(bytes: Uint8Array);
      static customSections(module: Module, name: string): ArrayBuffer[];
      static exports(module: Module): { name: string; kind: ExportKind }[];
      static imports(module: Module): { module: string; name: string; kind: ExportKind }[];
    }

    class Instance {
      constructor(module: Module, imports?: Imports);
      readonly exports: Exports;
    }

    class Memory {
      readonly buffer: ArrayBufferLike;
      grow(pages: number): number;
    }

    class RuntimeError extends Error {}

    /** An import that may be asynchronous: the module waits for its promise. */
    class Suspending {
      constructor(call: (...values: unknown[]) => unknown);
    }

    /** An export that may call such imports. */
    function promising<P extends unknown[], R>(call: (...values: P) => R): (...values: P) => Promise<R>;

    function compile(bytes: Uint8Array): Promise<Module>;
    function instantiate(module: Module, imports: Imports): Promise<Instance>;
  }
}

/** Of a function that takes an i32 and returns one: linking it checks the signature, which JavaScript cannot see. */
const oneParameter = linker([1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f]);
const noParameter = linker([1, 5, 1, 0x60, 0, 1, 0x7f]);

/** @throws WasmFault if the host cannot use it */
export function checkedMemory(memory: WebAssembly.Memory): WebAssembly.Memory {
  if (!(memory.buffer instanceof ArrayBuffer))
    throw new WasmFault('the memory is shared; that cannot be used');
  try {
    memory.grow(0);
  } catch {
    throw new WasmFault('the memory has 64-bit addresses; that cannot be used');
  }
  return memory;
}

/** @throws WasmFault that names the export */
export function checkSignatures(exports: WebAssembly.Exports): void {
  checkSignature(exports, 'execute', oneParameter, '(i32) -> i32');
  checkSignature(exports, 'alloc', oneParameter, '(i32) -> i32');
  checkSignature(exports, 'metadata', noParameter, '() -> i32');
}

function checkSignature(
  exports: WebAssembly.Exports,
  name: string,
  check: WebAssembly.Module,
  signature: string,
): void {
  const exported = exports[name];
  if (exported === undefined) return;
  try {
    new WebAssembly.Instance(check, { m: { f: exported } });
  } catch {
    throw new WasmFault(`the export "${name}" is not ${signature}`);
  }
}

/** A module whose only import is a function of one type. */
function linker(types: number[]): WebAssembly.Module {
  const imports = [2, 7, 1, 1, 0x6d, 1, 0x66, 0, 0];
  return new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...types, ...imports]));
}
