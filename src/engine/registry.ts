import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ModuleDefinition } from './module.ts';
import type { OptionDef } from './options.ts';

const namePattern = /^[a-z][a-z0-9_]{1,63}$/;

/** Default upper bound of the option `rate` if `scanner.max_rate` is not set, packets per second. */
const usualMaxRate = 100_000;

/** Registry of module types for graphs. */
export class Registry {
  /** Upper bound of the option `rate` of modules, packets per second; evaluated at every read. */
  maxRate: () => number = () => usualMaxRate;
  readonly #definitions = new Map<string, ModuleDefinition & { source: string }>();
  /** Loaders of definitions that are not loaded yet. */
  readonly #announced = new Map<string, { load: () => ModuleDefinition; source: string }>();

  /** @throws Error if the name is malformed or taken: modules cannot be shadowed */
  register(definition: ModuleDefinition, source: string): void {
    const { name } = definition;
    if (!namePattern.test(name)) throw new Error(`"${name}" is not a module name (${namePattern.source})`);
    this.#refuseTaken(name);
    this.#definitions.set(name, { ...definition, source });
  }

  /** Announces a name whose definition is loaded on demand. @throws Error if the name is taken */
  announce(name: string, load: () => ModuleDefinition, source: string): void {
    this.#refuseTaken(name);
    this.#announced.set(name, { load, source });
  }

  /**
   * These modules and more; the bounds stay those of this registry. A module of a plugin is replaced, a builtin one never.
   * @throws Error if the name is malformed or that of a builtin module
   */
  extended(more: readonly { definition: ModuleDefinition; source: string }[]): Registry {
    const registry = new Registry();
    registry.maxRate = () => this.maxRate();
    const replaced = new Set(more.map(({ definition }) => definition.name));
    for (const [name, definition] of this.#definitions) {
      if (definition.producer === undefined || !replaced.has(name))
        registry.#definitions.set(name, definition);
    }
    for (const [name, announced] of this.#announced) registry.#announced.set(name, announced);
    for (const { definition, source } of more) registry.register(definition, source);
    return registry;
  }

  #refuseTaken(name: string): void {
    const taken = this.#definitions.get(name) ?? this.#announced.get(name);
    if (taken) throw new Error(`a module named "${name}" is already registered (${taken.source})`);
  }

  get(name: string): ModuleDefinition | undefined {
    const announced = this.#announced.get(name);
    this.#announced.delete(name);
    if (announced) this.register(announced.load(), announced.source);
    const definition = this.#definitions.get(name);
    return definition && this.#bounded(definition);
  }

  names(): string[] {
    return [...this.#definitions.keys(), ...this.#announced.keys()].sort();
  }

  list(): (ModuleDefinition & { source: string })[] {
    for (const name of this.#announced.keys()) this.get(name);
    const definitions = [...this.#definitions.values()].map((definition) => this.#bounded(definition));
    return definitions.sort((a, b) => a.name.localeCompare(b.name));
  }

  #bounded<D extends ModuleDefinition>(definition: D): D {
    const { rate } = definition.options;
    if (!rate) return definition;
    return { ...definition, options: { ...definition.options, rate: boundedRate(rate, this.maxRate()) } };
  }
}

function boundedRate(rate: OptionDef, max: number): OptionDef {
  const { Default } = rate;
  return { ...rate, Max: max, ...(typeof Default === 'number' && { Default: Math.min(Default, max) }) };
}

/**
 * Registers every module file of `<dir>/<kind>/`: the file name is the module name, so adding a module touches one
 * file. Works with the sources and with the emitted build.
 */
export async function registerModules(registry: Registry, dir: string): Promise<void> {
  const definitions = await Promise.all((await moduleFiles(dir)).map((file) => importModule(file)));
  for (const definition of definitions) registry.register(definition, 'builtin');
}

/** The same, with lazy loading: a scan uses only a few of them. */
export async function announceModules(registry: Registry, dir: string): Promise<void> {
  const require = createRequire(import.meta.url);
  for (const file of await moduleFiles(dir))
    registry.announce(moduleName(file), () => definitionOf(require(file) as ModuleFile, file), 'builtin');
}

async function moduleFiles(dir: string): Promise<string[]> {
  const kinds = (await readdir(dir, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const files = await Promise.all(
    kinds.map(async ({ name }) =>
      (await readdir(join(dir, name)))
        .filter(isModuleFile)
        .sort()
        .map((file) => join(dir, name, file)),
    ),
  );
  return files.flat();
}

/** Module names have two words or more, joined by `_`; other files are kebab-case. */
function isModuleFile(file: string): boolean {
  return /^[a-z0-9]+(_[a-z0-9]+)+\.[jt]s$/.test(file);
}

/** Exports of a module file. */
interface ModuleFile {
  default?: ModuleDefinition;
}

async function importModule(path: string): Promise<ModuleDefinition> {
  return definitionOf((await import(pathToFileURL(path).href)) as ModuleFile, path);
}

function moduleName(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.[jt]s$/, '');
}

function definitionOf({ default: definition }: ModuleFile, path: string): ModuleDefinition {
  const expected = moduleName(path);
  if (definition?.name !== expected) throw new Error(`${path} does not export a module named ${expected}`);
  return definition;
}
