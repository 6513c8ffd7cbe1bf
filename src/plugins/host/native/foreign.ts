import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import type koffiModule from 'koffi';

/**
 * Calls into plugins and their memory, the only file of the host with foreign function calls. Pointers are plain numbers
 * for what is called often and BigInt elsewhere. A wrong pointer of a plugin ends the process: it is confined.
 */
const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;

/** Bytes are passed by their address, and C may write them during the call. */
export type ForeignFunction = (...args: (number | bigint | Uint8Array)[]) => number;

const { uint64 } = koffi.types;
let strnlen: ((address: bigint, most: number) => number) | null = null;
/** A library is unloaded when nothing refers to it, whatever runs in it. */
const loaded: unknown[] = [];

/** Loads a shared object. @returns where a data symbol lies @throws Error with the text of the loader */
export function loadSymbol(file: string, symbol: string): bigint {
  let library: ReturnType<typeof koffi.load>;
  try {
    library = koffi.load(file);
    loaded.push(library);
  } catch (error) {
    const reason = (error as Error).message.replace(/^Failed to load shared library: /, '');
    throw new Error('cannot load the shared object', { cause: new Error(reason) });
  }
  try {
    return library.symbol(symbol) as bigint;
  } catch {
    throw new Error(`the shared object does not export the symbol ${symbol}`);
  }
}

/** Stack for the C code of this thread; the default is 2 MiB. Has to be called before anything else here. */
export function setStackSize(bytes: number): void {
  koffi.config({ sync_stack_size: bytes });
}

/** A copy of memory. */
export function readMemory(address: bigint, length: number): Buffer {
  if (length === 0) return Buffer.alloc(0);
  return Buffer.from(Buffer.from(koffi.view(address, length)));
}

/** Text up to its NUL. @throws Error that says whether it is too long or no UTF-8 */
export function readCText(address: bigint, mostBytes: number): string {
  const length = lengthOf(address, mostBytes + 1);
  if (length > mostBytes) throw new Error(`longer than ${mostBytes} bytes`);
  const bytes = readMemory(address, length);
  if (!isUtf8(bytes)) throw new Error('not valid UTF-8');
  return bytes.toString();
}

/** Text up to its NUL, cut after `mostBytes`; bytes that are no UTF-8 are replaced. */
export function readCutText(address: bigint, mostBytes: number): string {
  return readMemory(address, lengthOf(address, mostBytes)).toString('utf8');
}

/** Loaded on first use, since a loaded library fixes the size of the stack. */
function lengthOf(address: bigint, most: number): number {
  strnlen ??= koffi.load(null).func('size_t strnlen(size_t, size_t)') as NonNullable<typeof strnlen>;
  return Number(strnlen(address, most));
}

/** Text of a known length; bytes that are no UTF-8 are replaced. */
export function readString(address: number, length: number): string {
  return koffi.decode.string(BigInt(address), length);
}

export function writePointer(address: number, value: number): void {
  koffi.encode(BigInt(address), uint64, value);
}

/** Where the bytes lie; they stay there as long as the buffer exists. */
export function addressOf(buffer: ArrayBuffer): bigint {
  return koffi.address(buffer);
}

/** A function of a plugin that returns an int. @param args types of the arguments */
export function intFunction(address: bigint, args: string[]): ForeignFunction {
  return koffi.decode(address, koffi.proto('int', args)) as ForeignFunction;
}

export function freeFunction(address: bigint): (pointer: bigint) => void {
  return koffi.decode(address, koffi.proto('void', ['size_t'])) as (pointer: bigint) => void;
}

/** Makes a function that C can call in this thread, until `unregisterCallback`. It must not throw. */
export function registerCallback(
  callback: (...args: never[]) => number | void,
  result: string,
  args: string[],
): bigint {
  return koffi.register(callback, koffi.pointer(koffi.proto(result, args)));
}

export function unregisterCallback(address: bigint): void {
  koffi.unregister(address);
}
