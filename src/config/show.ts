import { formatByteSize } from '../domain/text/byte-size.ts';
import { formatDuration } from '../domain/time/duration.ts';
import type { LoadedConfig } from './load.ts';
import { type ConfigKey, configKeys, type Members } from './schema.ts';
import { configPaths, valueAt } from './tree.ts';
import { type ConfigValue, isMap } from './value.ts';

export interface ShownSetting {
  key: string;
  /** As written in a file; null = not set. */
  value: ConfigValue;
  origin: string;
}

const hidden = '(hidden)';
const keysByPath = new Map<string, ConfigKey>(configKeys.map((key) => [key.path, key]));

/** Every effective setting, in the order of `configKeys`; secrets are hidden. */
export function showSettings({ config, origins }: LoadedConfig): ShownSetting[] {
  return configPaths(config).map((path) => {
    const value = valueAt(config, path);
    const key = keysByPath.get(path);
    return {
      key: path,
      value: key ? writtenValue(key, value) : value,
      origin: origins.get(path) ?? 'default',
    };
  });
}

/** Properties of a key or member that decide how it is shown. */
interface Shown {
  type: string;
  secret?: true;
  members?: Members;
}

/** The value as written in a file. */
export function writtenValue(form: Shown, value: ConfigValue): ConfigValue {
  if (value === null) return null;
  const { members } = form;
  if (form.secret) return isMap(value) ? eachValue(value, () => hidden) : hidden;
  if (form.type === 'duration') return formatDuration(Number(value));
  if (form.type === 'size') return formatByteSize(Number(value));
  if (form.type === 'url') return withoutPassword(String(value));
  if (!members) return value;
  const entry = (given: ConfigValue) => writtenEntry(members, given);
  if (form.type === 'group') return entry(value);
  return Array.isArray(value) ? value.map(entry) : eachValue(value, entry);
}

function writtenEntry(members: Members, entry: ConfigValue): ConfigValue {
  return eachValue(entry, (value, name) => {
    const member = members[name];
    return member ? writtenValue(member, value) : value;
  });
}

function eachValue(map: ConfigValue, show: (value: ConfigValue, name: string) => ConfigValue): ConfigValue {
  const values = Object.entries(map as Record<string, ConfigValue>);
  return Object.fromEntries(values.map(([name, value]) => [name, show(value, name)]));
}

function withoutPassword(text: string): string {
  const url = URL.parse(text);
  if (!url || (url.username === '' && url.password === '')) return text;
  url.username = '';
  url.password = '';
  return url.href.replace('://', `://${hidden}@`);
}
