import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type * as yamlModule from 'yaml';
import type { PluginMetadata } from '../../plugin.ts';
import { serviceNames, WasmInstance, type WasmRun } from './wasm-instance.ts';
import { wasiModule, wasiNames } from './wasm-wasi.ts';

/** Size of a module, bytes. */
const maxModuleBytes = 16 * 1024 ** 2;
/** Size of what a module says about itself, bytes. */
const maxMetadataBytes = 256 * 1024;
/** Names that an error lists. */
const shownNames = 10;

const sectionName = 'service.metadata';
const magic = Buffer.from('\0asm');
const coreVersion = 1;

/** @throws Error that says why the file is no module of a plugin */
export async function compileModule(file: string): Promise<WebAssembly.Module> {
  const { size } = await stat(file);
  if (size > maxModuleBytes) {
    throw new Error(`the module has ${size} bytes, above the limit of ${maxModuleBytes}`);
  }
  const bytes = await readFile(file);
  if (!bytes.subarray(0, magic.length).equals(magic)) throw new Error('not a WebAssembly file');
  if (bytes.length >= 8 && bytes.readUInt32LE(4) !== coreVersion) {
    throw new Error('not a core WebAssembly module; components cannot be loaded');
  }
  const module = await compiled(bytes);
  checkExports(module);
  checkImports(module);
  return module;
}

async function compiled(bytes: Buffer): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    throw new Error(
      `invalid WebAssembly: ${(error as Error).message.replace(/^WebAssembly\.compile\(\): /, '')}`,
    );
  }
}

function checkExports(module: WebAssembly.Module): void {
  const kinds = new Map(WebAssembly.Module.exports(module).map(({ name, kind }) => [name, kind]));
  for (const [name, wanted] of [
    ['memory', 'memory'],
    ['execute', 'function'],
  ] as const) {
    const kind = kinds.get(name);
    if (kind === undefined) throw new Error(`the module does not export "${name}"`);
    if (kind !== wanted) throw new Error(`the export "${name}" is a ${kind}, not a ${wanted}`);
  }
}

function checkImports(module: WebAssembly.Module): void {
  const known = new Set([
    ...serviceNames.map((name) => `service.${name}`),
    ...wasiNames.map((name) => `${wasiModule}.${name}`),
  ]);
  const unknown = WebAssembly.Module.imports(module)
    .map(({ module: from, name, kind }) =>
      kind === 'function' ? `${from}.${name}` : `${from}.${name} (${kind})`,
    )
    .filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  const more = unknown.length > shownNames ? ` and ${unknown.length - shownNames} others` : '';
  throw new Error(`the module imports what no host has: ${unknown.slice(0, shownNames).join(', ')}${more}`);
}

/**
 * From the export `metadata`, else the custom section, else the file `<file>.yaml`. Not checked beyond being an object.
 * @throws Error
 */
export async function moduleMetadata(
  module: WebAssembly.Module,
  file: string,
  context: WasmRun,
): Promise<PluginMetadata> {
  const instance = await WasmInstance.create(module, context);
  const exported = instance.metadata(maxMetadataBytes);
  if (exported !== null) return fields(parsed(exported, 'the metadata that the module exports'));
  const section = sectionText(module);
  if (section !== null) return fields(parsed(section, `the custom section ${sectionName}`));
  const beside = await besideText(`${file}.yaml`);
  if (beside !== null) return fields(beside);
  throw new Error(
    `no metadata: export "metadata", add a custom section ${sectionName} or a file <module>.yaml`,
  );
}

/** Plain JSON, or a block with its length before it. */
function sectionText(module: WebAssembly.Module): string | null {
  const [section] = WebAssembly.Module.customSections(module, sectionName);
  if (!section) return null;
  const bytes = Buffer.from(section);
  if (bytes.length > maxMetadataBytes) {
    throw new Error(`the custom section ${sectionName} has more than ${maxMetadataBytes} bytes`);
  }
  const isBlock = bytes.length >= 4 && bytes.readUInt32LE(0) === bytes.length - 4;
  return bytes.toString('utf8', isBlock ? 4 : 0);
}

async function besideText(file: string): Promise<unknown> {
  let size: number;
  try {
    ({ size } = await stat(file));
  } catch {
    return null;
  }
  if (size > maxMetadataBytes) throw new Error(`the metadata file has more than ${maxMetadataBytes} bytes`);
  const { parse } = createRequire(import.meta.url)('yaml') as typeof yamlModule;
  try {
    return parse(await readFile(file, 'utf8'), { maxAliasCount: 0 }) ?? {};
  } catch (error) {
    throw new Error(`the metadata file: ${(error as Error).message}`);
  }
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
}

/** The message `Metadata` names the options `config_schema`, an object or its JSON. The scan checks the rest. */
function fields(value: unknown): PluginMetadata {
  if (typeof value !== 'object' || value === null || !('config_schema' in value))
    return value as PluginMetadata;
  const { config_schema: schema, ...rest } = value;
  const options =
    typeof schema === 'string' ? parsed(schema === '' ? '{}' : schema, 'config_schema') : schema;
  return { ...rest, options } as PluginMetadata;
}
