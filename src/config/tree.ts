import { type Config, configKeys } from './schema.ts';
import type { ConfigValue } from './value.ts';

/** Every key path with a value in one of the configurations; `modules` yields one per module and option. */
export function configPaths(...configs: Config[]): string[] {
  const options = configs.flatMap(({ modules }) =>
    Object.entries(modules).flatMap(([type, values]) =>
      Object.keys(values).map((option) => `modules.${type}.${option}`),
    ),
  );
  return [...configKeys.map(({ path }) => path).filter((path) => path !== 'modules'), ...new Set(options)];
}

/** The value of a key path; null when the configuration has none. */
export function valueAt(config: Config, path: string): ConfigValue {
  let level: unknown = config;
  for (const name of path.split('.')) {
    if (typeof level !== 'object' || level === null || !Object.hasOwn(level, name)) return null;
    level = (level as Record<string, unknown>)[name];
  }
  return level as ConfigValue;
}

/** Replaces the value of a key path, in place. */
export function setValueAt(config: Config, path: string, value: ConfigValue): void {
  const names = path.split('.');
  const leaf = names.pop() as string;
  const level = names.reduce<Record<string, unknown>>(
    (section, name) => section[name] as Record<string, unknown>,
    config,
  );
  level[leaf] = value;
}
