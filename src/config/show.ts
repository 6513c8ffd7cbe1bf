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

/** A setting with what is known of its key. */
export interface DescribedSetting extends ShownSetting {
  default: ConfigValue;
  /** Whether its value is, or contains, a secret. */
  secret: boolean;
  description: string;
}

/** Stands for secrets at the command line. */
const hidden = '(hidden)';
/** Stands for secrets in the API. */
const masked = '••••';
const keysByPath = new Map<string, ConfigKey>(configKeys.map((key) => [key.path, key]));

/** Every effective setting, in the order of `configKeys`; secrets are hidden. */
export function showSettings(
  { config, origins }: Pick<LoadedConfig, 'config' | 'origins'>,
  mask = hidden,
): ShownSetting[] {
  return configPaths(config).map((path) => {
    const value = valueAt(config, path);
    const key = keysByPath.get(path);
    return {
      key: path,
      value: key ? writtenValue(key, value, mask) : value,
      origin: origins.get(path) ?? 'default',
    };
  });
}

/** The same with default, description and whether it is secret. */
export function describeSettings(loaded: Pick<LoadedConfig, 'config' | 'origins'>): DescribedSetting[] {
  return showSettings(loaded, masked).map((setting) => {
    const key = keysByPath.get(setting.key);
    return {
      ...setting,
      default: key ? ((key.default ?? null) as ConfigValue) : null,
      secret: key ? isSecret(key) : false,
      description: key?.description ?? 'Default of an option of a module.',
    };
  });
}

function isSecret({ secret, members = {} }: Pick<Shown, 'secret' | 'members'>): boolean {
  return secret === true || Object.values(members).some(isSecret);
}

/** Properties of a key or member that decide how it is shown. */
interface Shown {
  type: string;
  secret?: true;
  members?: Members;
}

/** The value as written in a file. */
export function writtenValue(form: Shown, value: ConfigValue, mask = hidden): ConfigValue {
  if (value === null) return null;
  const { members } = form;
  if (form.secret) return isMap(value) ? eachValue(value, () => mask) : mask;
  if (form.type === 'duration') return formatDuration(Number(value));
  if (form.type === 'size') return formatByteSize(Number(value));
  if (form.type === 'url') return withoutSecrets(String(value), mask);
  if (!members) return value;
  const entry = (given: ConfigValue) => writtenEntry(members, given, mask);
  if (form.type === 'group') return entry(value);
  return Array.isArray(value) ? value.map(entry) : eachValue(value, entry);
}

function writtenEntry(members: Members, entry: ConfigValue, mask: string): ConfigValue {
  return eachValue(entry, (value, name) => {
    const member = members[name];
    return member ? writtenValue(member, value, mask) : value;
  });
}

function eachValue(map: ConfigValue, show: (value: ConfigValue, name: string) => ConfigValue): ConfigValue {
  const values = Object.entries(map as Record<string, ConfigValue>);
  return Object.fromEntries(values.map(([name, value]) => [name, show(value, name)]));
}

/** Feeds take their key as user and password, or in the query. */
function withoutSecrets(text: string, mask: string): string {
  const url = URL.parse(text);
  if (!url || (url.username === '' && url.password === '' && url.search === '')) return text;
  const user = url.username === '' && url.password === '' ? '' : `${mask}@`;
  url.username = '';
  url.password = '';
  const names = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=${mask}`);
  url.search = '';
  const query = names.length > 0 ? `?${names.join('&')}` : '';
  const { hash } = url;
  url.hash = '';
  return url.href.replace('://', `://${user}`) + query + hash;
}
