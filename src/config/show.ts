import { formatByteSize } from '../domain/byte-size.ts';
import { formatDuration } from '../domain/duration.ts';
import type { LoadedConfig } from './load.ts';
import { type ConfigKey, configKeys } from './schema.ts';
import type { ConfigValue } from './value.ts';

export interface ShownSetting {
  key: string;
  /** As it would stand in a file; null = not set. */
  value: ConfigValue;
  origin: string;
}

const hidden = '(hidden)';

/** Every setting that holds, in the order of the table of keys; secrets are hidden. */
export function showSettings({ config, origins }: LoadedConfig): ShownSetting[] {
  return configKeys.map((key) => ({
    key: key.path,
    value: writtenValue(key, valueAt(config, key.path)),
    origin: origins.get(key.path) ?? 'default',
  }));
}

function valueAt(config: object, path: string): ConfigValue {
  return path
    .split('.')
    .reduce<unknown>((level, name) => (level as Record<string, unknown>)[name], config) as ConfigValue;
}

/** The value as a file would have it. */
export function writtenValue(key: ConfigKey, value: ConfigValue): ConfigValue {
  if (value === null) return null;
  if (key.secret) return hidden;
  if (key.type === 'duration') return formatDuration(Number(value));
  return key.type === 'size' ? formatByteSize(Number(value)) : value;
}
