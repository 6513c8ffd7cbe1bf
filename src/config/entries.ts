import { nearest } from '../domain/text/nearest.ts';
import type { ConfigKey, ConfigMember, Members } from './schema.ts';
import { type ConfigValue, isMap, readTyped, showValue, VariableText } from './value.ts';

/** A warning about a part of a value: `at` is the path from the key to it, member names and list indexes. */
export interface ConfigWarning {
  at: (string | number)[];
  reason: string;
}

export interface ReadEntries {
  /** Valid only without problems. */
  value: ConfigValue;
  problems: ConfigWarning[];
  /** Unknown members. */
  unknown: ConfigWarning[];
}

/** Reads a value of the types `entries`, `map` or `options`. */
export function readEntries(key: ConfigKey, given: unknown): ReadEntries {
  return new EntryReader().read(key, given);
}

/** `[0].url`, `.big.max` */
export function warningPath({ path }: ConfigKey, { at }: ConfigWarning): string {
  return path + at.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
}

/** Whether a value contains a literal secret, as opposed to one taken from the environment. */
export function holdsSecret(
  form: { secret?: true; members?: Members; type: string },
  given: unknown,
): boolean {
  if (given === null || given === undefined || given === '' || given instanceof VariableText) return false;
  if (form.secret) return !isMap(given) || Object.keys(given).length > 0;
  if (form.type === 'url') return holdsPassword(given);
  const { members } = form;
  if (!members) return false;
  if (form.type === 'group') {
    return isMap(given) && Object.entries(members).some(([name, member]) => holdsSecret(member, given[name]));
  }
  const entries = Array.isArray(given) ? given : isMap(given) ? Object.values(given) : [];
  return entries.some((entry) => holdsSecret({ type: 'group', members }, entry));
}

function holdsPassword(given: unknown): boolean {
  return typeof given === 'string' && (URL.parse(given)?.password ?? '') !== '';
}

class EntryReader {
  readonly #problems: ConfigWarning[] = [];
  readonly #unknown: ConfigWarning[] = [];

  read(key: ConfigKey, given: unknown): ReadEntries {
    const value = this.#value(key, given);
    return { value, problems: this.#problems, unknown: this.#unknown };
  }

  #value(key: ConfigKey, given: unknown): ConfigValue {
    switch (key.type) {
      case 'entries':
        return this.#list(key, given);
      case 'map':
        return this.#map(key, given);
      default:
        return this.#options(given);
    }
  }

  #list({ members = {}, unique }: ConfigKey, given: unknown): ConfigValue {
    if (!Array.isArray(given)) return this.#wrong([], 'a list of entries', given);
    const entries = given.map((item, index) => this.#entry(members, item, [index]));
    if (unique !== undefined) this.#checkUnique(entries, unique);
    return entries;
  }

  #checkUnique(entries: ConfigValue[], member: string): void {
    const seen = new Set<unknown>();
    for (const [index, entry] of entries.entries()) {
      const value = isMap(entry) ? (entry[member] ?? null) : null;
      if (value !== null && seen.has(value)) {
        this.#problems.push({ at: [index, member], reason: `duplicate value ${showValue(value)}` });
      }
      seen.add(value);
    }
  }

  #map({ members = {}, pattern, form }: ConfigKey, given: unknown): ConfigValue {
    if (!isMap(given)) return this.#wrong([], 'a map of entries by name', given);
    const result: Record<string, ConfigValue> = {};
    for (const [name, item] of Object.entries(given)) {
      if (pattern && !pattern.test(name)) this.#wrong([name], `named with ${form}`, name);
      else result[name] = this.#entry(members, item ?? {}, [name]);
    }
    return result;
  }

  #entry(members: Members, given: unknown, at: ConfigWarning['at']): ConfigValue {
    if (!isMap(given)) return this.#wrong(at, 'a map', given);
    for (const name of Object.keys(given)) {
      if (Object.hasOwn(members, name)) continue;
      const guess = nearest(name, Object.keys(members));
      const hint = guess ? `did you mean ${guess}?` : `known: ${Object.keys(members).join(', ')}`;
      this.#unknown.push({ at: [...at, name], reason: `unknown key; ${hint}` });
    }
    return Object.fromEntries(
      Object.entries(members).map(([name, member]) => [
        name,
        this.#member(member, Object.hasOwn(given, name) ? given[name] : undefined, [...at, name]),
      ]),
    );
  }

  #member(member: ConfigMember, given: unknown, at: ConfigWarning['at']): ConfigValue {
    const { type, members, ...form } = member;
    if (type === 'group') return this.#entry(members ?? {}, given ?? {}, at);
    const absent = given === null || given === undefined || given === '';
    if (absent && member.required) this.#problems.push({ at, reason: 'required' });
    const taken = absent ? (member.default ?? null) : given;
    // An unset path is the empty string, as with keys.
    if (taken === null || taken === '') return taken;
    const read = readTyped({ ...form, type }, taken);
    if (!('reason' in read)) return read.value;
    this.#problems.push({ at, reason: read.reason });
    return null;
  }

  /** Module options are validated where the modules are known. */
  #options(given: unknown): ConfigValue {
    if (!isMap(given)) return this.#wrong([], 'a map of module types', given);
    const result: Record<string, Record<string, ConfigValue>> = {};
    for (const [type, options] of Object.entries(given)) {
      if (!isName(type)) this.#wrong([type], 'a module type', type);
      else if (!isMap(options)) this.#wrong([type], 'a map of options', options);
      else result[type] = this.#optionsOf(type, options);
    }
    return result;
  }

  #optionsOf(type: string, options: Record<string, unknown>): Record<string, ConfigValue> {
    const result: Record<string, ConfigValue> = {};
    for (const [name, given] of Object.entries(options)) {
      const value = optionValue(given);
      if (!isName(name)) this.#wrong([type, name], 'an option', name);
      else if (value === undefined) this.#wrong([type, name], 'a number, text, true, false or a list', given);
      else result[name] = value;
    }
    return result;
  }

  /** A string in place of a map is not shown: it may be a secret. */
  #wrong(at: ConfigWarning['at'], expected: string, given: unknown): ConfigValue {
    const isName = at.at(-1) === given;
    const shown = typeof given === 'string' && !isName ? 'a string' : showValue(given);
    this.#problems.push({ at, reason: `must be ${expected}, not ${shown}` });
    return null;
  }
}

function isName(name: string): boolean {
  return /^[a-z][a-z0-9_-]{0,62}$/.test(name);
}

function optionValue(given: unknown): ConfigValue | undefined {
  if (given instanceof VariableText) return optionValue(given.text);
  if (Array.isArray(given)) {
    const items = given.map(optionValue);
    return items.some((item) => item === undefined || typeof item === 'object')
      ? undefined
      : (items as ConfigValue);
  }
  if (typeof given === 'string') return /\p{Cc}/u.test(given) ? undefined : given;
  return typeof given === 'number' || typeof given === 'boolean' ? given : undefined;
}
