import type { LoadedConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { nearest } from '../../domain/text/nearest.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import { type OptionDef, validateOptions } from '../../engine/options.ts';
import type { Registry } from '../../engine/registry.ts';

/** Defaults of module options from `modules.<module_type>.<option>`. */
export function moduleDefaults(
  { name, options }: ModuleDefinition,
  { modules }: Config,
): Record<string, unknown> {
  const given = Object.entries(Object.hasOwn(modules, name) ? (modules[name] ?? {}) : {});
  return Object.fromEntries(given.map(([option, value]) => [option, typed(options[option], value)]));
}

/** Environment variables are text, whatever the type of the option. */
function typed(option: OptionDef | undefined, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (option?.Type === 'int' && /^-?\d{1,16}$/.test(value)) return Number(value);
  if (option?.Type === 'bool' && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return value;
}

/**
 * Validates the keys below `modules.`, which requires the module definitions.
 * @throws PortolanError `configuration` with the position and key of each problem
 */
export function checkModuleDefaults(
  { config, origins }: Pick<LoadedConfig, 'config' | 'origins'>,
  registry: Registry,
): void {
  const problems = Object.keys(config.modules).flatMap((type) =>
    problemsOf(type, config, registry).map(
      ({ path, reason }) => `${positionOf(path, origins)}${path}: ${reason}`,
    ),
  );
  if (problems.length === 0) return;
  const message = `The configuration of modules is invalid:\n${problems.map((text) => `  ${text}`).join('\n')}`;
  throw new PortolanError('configuration', message, { problems });
}

interface Problem {
  path: string;
  reason: string;
}

function problemsOf(type: string, config: Config, registry: Registry): Problem[] {
  const definition = registry.get(type);
  if (!definition) {
    const known = registry.list().map(({ name }) => name);
    const guess = nearest(type, known);
    const reason = `no such module; ${guess ? `did you mean ${guess}?` : `known: ${known.join(', ')}`}`;
    return Object.keys(config.modules[type] ?? {}).map((option) => ({
      path: `modules.${type}.${option}`,
      reason,
    }));
  }
  const given = moduleDefaults(definition, config);
  return validateOptions(definition.options, given)
    .problems.filter(({ field }) => Object.hasOwn(given, field))
    .map(({ field, reason }) => ({
      path: `modules.${type}.${field}`,
      reason: reason + hintFor(field, definition),
    }));
}

function hintFor(field: string, { options }: ModuleDefinition): string {
  const guess = Object.hasOwn(options, field) ? null : nearest(field, Object.keys(options));
  return guess ? `; did you mean ${guess}?` : '';
}

function positionOf(path: string, origins: Map<string, string>): string {
  const origin = origins.get(path);
  return origin === undefined ? '' : `${origin} `;
}
