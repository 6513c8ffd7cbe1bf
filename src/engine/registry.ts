import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ModuleDefinition } from './module.ts';

const namePattern = /^[a-z][a-z0-9_]{1,63}$/;

/** The module types that graphs may name. */
export class Registry {
  readonly #definitions = new Map<string, ModuleDefinition & { source: string }>();

  /** @throws Error when the name is malformed or taken: nothing is ever shadowed */
  register(definition: ModuleDefinition, source: string): void {
    const { name } = definition;
    if (!namePattern.test(name)) throw new Error(`"${name}" is not a module name (${namePattern.source})`);
    if (this.#definitions.has(name)) throw new Error(`a module named "${name}" is already registered`);
    this.#definitions.set(name, { ...definition, source });
  }

  get(name: string): ModuleDefinition | undefined {
    return this.#definitions.get(name);
  }

  names(): string[] {
    return [...this.#definitions.keys()].sort();
  }

  list(): (ModuleDefinition & { source: string })[] {
    return [...this.#definitions.values()].sort((a, b) => a.name.localeCompare(b.name));
  }
}

/**
 * Registers every module file of `<dir>/<kind>/`: the file name is the module's name, so adding a module touches
 * one file. Works on the sources and on the emitted build alike.
 */
export async function registerModules(registry: Registry, dir: string): Promise<void> {
  const kinds = await readdir(dir, { withFileTypes: true });
  for (const kind of kinds.filter((entry) => entry.isDirectory())) {
    const files = (await readdir(join(dir, kind.name))).filter(isModuleFile).sort();
    const definitions = await Promise.all(files.map((file) => importModule(join(dir, kind.name, file))));
    for (const definition of definitions) registry.register(definition, 'builtin');
  }
}

/** Module names have two words or more, joined by `_`; the files that serve a module are written in kebab-case. */
function isModuleFile(file: string): boolean {
  return /^[a-z0-9]+(_[a-z0-9]+)+\.[jt]s$/.test(file);
}

async function importModule(path: string): Promise<ModuleDefinition> {
  const { default: definition } = (await import(pathToFileURL(path).href)) as { default?: ModuleDefinition };
  const expected = path.replace(/^.*\//, '').replace(/\.[jt]s$/, '');
  if (definition?.name !== expected) throw new Error(`${path} does not export a module named ${expected}`);
  return definition;
}
