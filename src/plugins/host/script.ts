import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { basename, extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HostedPlugin, HostWire } from './hosted-plugin.ts';
import type { NodeContext } from './messages.ts';
import { ScriptData, scriptContext } from './script-context.ts';

type Operations = Record<string, unknown>;

/** Loads a script, or an addon, that exports `Plugin`: an object or a class with the operations of a module. */
export async function loadScript(file: string): Promise<HostedPlugin> {
  const operations = pluginOf(await importFile(file), basename(file));
  const read = async (name: string) => {
    const member = operations[name];
    return (typeof member === 'function' ? await member.call(operations) : member) as never;
  };
  const metadata = {
    name: await read('name'),
    type: (await read('type')) ?? 'evaluation',
    version: await read('version'),
    description: await read('description'),
    options: (await read('configSchema')) ?? {},
    requires: (await read('requires')) ?? [],
    provides: (await read('provides')) ?? [],
  } as HostedPlugin['metadata'];
  return new ScriptPlugin(operations, metadata, basename(file));
}

async function importFile(file: string): Promise<Operations> {
  try {
    if (extname(file) === '.node') return createRequire(import.meta.url)(file) as Operations;
    return (await import(pathToFileURL(file).href)) as Operations;
  } catch (error) {
    const location = error instanceof SyntaxError ? syntaxLocation(error, file) : basename(file);
    throw new Error(`cannot load ${location}`, { cause: error });
  }
}

/** Where a file cannot be parsed: the first line of the stack, which Node.js leaves out for modules of JavaScript. */
function syntaxLocation(error: SyntaxError, file: string): string {
  const [, path, line] = /^(\S+):(\d+)\n/.exec(error.stack ?? '') ?? [];
  if (path !== undefined) return `${basename(path)}:${line}`;
  try {
    stripTypeScriptTypes(readFileSync(file, 'utf8'), { sourceUrl: file });
    return basename(file);
  } catch (parseError) {
    const [, found] = /^\S+:(\d+)\n/.exec((parseError as Error).stack ?? '') ?? [];
    return found === undefined ? basename(file) : `${basename(file)}:${found}`;
  }
}

/** Of the exports, or of the default export; a class is instantiated once. */
function pluginOf(exports: Operations, file: string): Operations {
  const { default: standard } = exports as { default?: unknown };
  const plugin = exports['Plugin'] ?? (isObject(standard) ? (standard['Plugin'] ?? standard) : standard);
  const made = typeof plugin === 'function' ? new (plugin as new () => unknown)() : plugin;
  if (!isObject(made)) throw new Error(`${file} does not export Plugin (an object or a class)`);
  if (typeof made['execute'] !== 'function') {
    throw new Error(`${file} does not export Plugin with the operation execute`);
  }
  return made;
}

function isObject(value: unknown): value is Operations {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}

class ScriptPlugin implements HostedPlugin {
  readonly metadata: HostedPlugin['metadata'];
  readonly #operations: Operations;
  readonly #file: string;
  readonly #options = new Map<string, Record<string, unknown>>();

  constructor(operations: Operations, metadata: HostedPlugin['metadata'], file: string) {
    this.#operations = operations;
    this.metadata = metadata;
    this.#file = file;
  }

  async initialize(): Promise<void> {
    await this.#call('initialize');
  }

  async configure(node: string, options: Record<string, unknown>): Promise<void> {
    this.#options.set(node, options);
    await this.#call('configure', options);
  }

  async execute(node: string, context: NodeContext, wire: HostWire, signal: AbortSignal): Promise<void> {
    const options = this.#options.get(node) ?? {};
    this.#options.delete(node);
    await this.#call(
      'execute',
      scriptContext(context, options, wire, signal),
      new ScriptData(context.keys, wire),
    );
  }

  async cleanup(): Promise<void> {
    await this.#call('cleanup');
  }

  async #call(name: string, ...args: unknown[]): Promise<void> {
    const operation = this.#operations[name];
    if (operation === undefined) return;
    if (typeof operation !== 'function') throw new Error(`${this.#file}: ${name} is no function`);
    await operation.apply(this.#operations, args);
  }
}
