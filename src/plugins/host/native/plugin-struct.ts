import type { PluginMetadata } from '../../plugin.ts';
import {
  type ForeignFunction,
  freeFunction,
  intFunction,
  readCText,
  readCutText,
  readMemory,
} from './foreign.ts';

/** What the structure `service_plugin` of sdk/c/service_plugin.h says. */
export interface PluginStruct {
  metadata: PluginMetadata;
  initialize: ForeignFunction;
  configure: ForeignFunction;
  cleanup: ForeignFunction;
  free: (pointer: bigint) => void;
  /** For the thread of a node. */
  executeAddress: bigint;
  freeAddress: bigint;
}

export const abiVersion = 1;

const pointerBytes = 8;
/** `abi_version` and `struct_size`, then the pointers in this order. */
const headBytes = 8;
const pointers = [
  'name',
  'description',
  'version',
  'type',
  'config_schema',
  'requires_keys',
  'provides_keys',
  'initialize',
  'configure',
  'execute',
  'cleanup',
  'free',
] as const;
type PointerName = (typeof pointers)[number];
const structBytes = headBytes + pointers.length * pointerBytes;

/** Bytes. */
const maxText = { name: 64, description: 2000, version: 64, type: 64, config_schema: 256 * 1024 };
/** Keys of a list of a native plugin. */
const maxKeys = 64;
/** Maximum size of such a key, bytes. */
const maxKeyBytes = 256;
/** Maximum size of an error, bytes. */
const maxErrorBytes = 4096;

/** @throws Error that says what is wrong and where */
export function readPluginStruct(address: bigint): PluginStruct {
  checkVersion(address);
  const bytes = readMemory(address, structBytes);
  const at = (name: PointerName) => {
    const pointer = bytes.readBigUInt64LE(headBytes + pointers.indexOf(name) * pointerBytes);
    if (pointer === 0n) throw new Error(missing(name));
    return pointer;
  };
  const text = (name: keyof typeof maxText) => {
    const pointer = at(name);
    return named(name, () => readCText(pointer, maxText[name]));
  };
  return {
    metadata: {
      name: text('name'),
      description: text('description'),
      version: text('version'),
      // Checked by the scan, as everything else here.
      type: text('type') as PluginMetadata['type'],
      options: parseSchema(text('config_schema')),
      requires: readKeys('requires_keys', at('requires_keys')),
      provides: readKeys('provides_keys', at('provides_keys')),
    },
    initialize: intFunction(at('initialize'), ['void *']),
    configure: intFunction(at('configure'), ['const void *', 'size_t', 'void *']),
    cleanup: intFunction(at('cleanup'), ['void *']),
    free: freeFunction(at('free')),
    executeAddress: at('execute'),
    freeAddress: at('free'),
  };
}

function checkVersion(address: bigint): void {
  const head = readMemory(address, headBytes);
  const version = head.readUInt32LE(0);
  if (version !== abiVersion) {
    throw new Error(`ABI version ${version}: only version ${abiVersion} can be loaded`);
  }
  const size = head.readUInt32LE(4);
  if (size < structBytes)
    throw new Error(`struct_size is ${size}, ABI ${abiVersion} has ${structBytes} bytes`);
}

function missing(name: PointerName): string {
  if (name.endsWith('_keys')) return `${name} is NULL; a list without keys is {NULL}`;
  const isFunction = pointers.indexOf(name) >= pointers.indexOf('initialize');
  return isFunction ? `missing function: ${name} is NULL` : `${name} is NULL`;
}

/** Errors of the reading become the cause of one that says where. */
function named<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(name, { cause: error });
  }
}

function readKeys(name: string, address: bigint): string[] {
  const keys: string[] = [];
  // Pointer by pointer: nothing says how long the list is.
  for (let index = 0; index <= maxKeys; index += 1) {
    const pointer = readMemory(address + BigInt(index * pointerBytes), pointerBytes).readBigUInt64LE(0);
    if (pointer === 0n) return keys;
    keys.push(named(`${name}[${index}]`, () => readCText(pointer, maxKeyBytes)));
  }
  throw new Error(`${name}: more than ${maxKeys} keys, or no NULL at its end`);
}

/** The definitions themselves are checked by the scan. */
function parseSchema(text: string): PluginMetadata['options'] {
  const schema = named('config_schema: not valid JSON', () => JSON.parse(text) as unknown);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new Error('config_schema: not a JSON object');
  }
  return schema as PluginMetadata['options'];
}

export interface CallOutcome {
  result: number;
  /** Text of the plugin. */
  error: string | null;
}

/** Calls a function whose last argument is `char **error`. */
export function callForError(
  invoke: (errorPointer: Uint8Array) => number,
  free: (pointer: bigint) => void,
): CallOutcome {
  const pointer = Buffer.alloc(pointerBytes);
  const result = invoke(pointer);
  const address = pointer.readBigUInt64LE(0);
  if (address === 0n) return { result, error: null };
  const error = readCutText(address, maxErrorBytes);
  free(address);
  return { result, error };
}

/** @throws Error with the text of the plugin if the result is not 0 */
export function requireSuccess(name: string, { result, error }: CallOutcome): void {
  if (result !== 0) throw new Error(error || `${name} returned ${result} without an error text`);
}
