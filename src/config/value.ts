import { canonicalAddress } from '../domain/address.ts';
import { parseByteSize } from '../domain/byte-size.ts';
import { parseDuration } from '../domain/duration.ts';
import { PortolanError } from '../domain/errors.ts';
import { compileScope } from '../domain/scope.ts';
import { parseTargets } from '../domain/target.ts';
import { parseEndpoint } from './endpoint.ts';
import type { ConfigKey } from './schema.ts';

export type ConfigValue = string | number | boolean | null | string[];
export type ReadValue = { value: ConfigValue } | { reason: string };

/** Reads a value that was typed by YAML: numbers are numbers, lists are lists, durations are text. */
export function readTyped(key: ConfigKey, given: unknown): ReadValue {
  switch (key.type) {
    case 'bool':
      return typeof given === 'boolean' ? { value: given } : wrong('true or false', given);
    case 'int':
      return typeof given === 'number' ? readInteger(key, given) : wrong('a whole number', given);
    case 'duration':
      return readDuration(key, given);
    case 'size':
      return readSize(given);
    case 'cidr[]':
    case 'target[]':
    case 'resolver[]':
      return readList(key, given);
    default:
      return typeof given === 'string' ? readText(key, given) : wrong('text', given);
  }
}

/** Reads a value that is text by nature: an environment variable, a flag, an interpolated string. */
export function readFromText(key: ConfigKey, text: string): ReadValue {
  const trimmed = text.trim();
  switch (key.type) {
    case 'bool':
      if (/^(?:true|1|yes|on)$/i.test(trimmed)) return { value: true };
      if (/^(?:false|0|no|off)$/i.test(trimmed)) return { value: false };
      return wrong('true or false', text);
    case 'int':
      return /^-?\d{1,16}$/.test(trimmed) ? readInteger(key, Number(trimmed)) : wrong('a whole number', text);
    case 'cidr[]':
    case 'target[]':
    case 'resolver[]':
      return readList(
        key,
        trimmed
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
      );
    default:
      return readTyped(key, trimmed);
  }
}

function readInteger(key: ConfigKey, given: number): ReadValue {
  if (!Number.isSafeInteger(given)) return wrong('a whole number', given);
  if (key.min !== undefined && given < key.min)
    return { reason: `must be at least ${key.min}, not ${given}` };
  if (key.max !== undefined && given > key.max) return { reason: `must be at most ${key.max}, not ${given}` };
  return { value: given };
}

function readDuration(key: ConfigKey, given: unknown): ReadValue {
  const zero = given === 0 || given === '0';
  const ms = zero
    ? 0
    : typeof given === 'string'
      ? parseDuration(given, { retention: key.retention ?? false })
      : null;
  const example = key.retention ? '90d, 6mo or 1y' : '30s or 1h30m';
  if (ms === null) return wrong(`a duration with a unit, such as ${example}`, given);
  if (key.min !== undefined && ms < key.min)
    return { reason: `must be at least ${key.min}ms, not ${show(given)}` };
  if (key.max !== undefined && ms > key.max)
    return { reason: `must be at most ${key.max}ms, not ${show(given)}` };
  return { value: ms };
}

function readSize(given: unknown): ReadValue {
  const bytes = typeof given === 'string' ? parseByteSize(given) : null;
  return bytes === null ? wrong('a size with a unit, such as 20GB or 512MiB', given) : { value: bytes };
}

function readText(key: ConfigKey, given: string): ReadValue {
  if (/\p{Cc}/u.test(given)) return { reason: 'must not hold control characters' };
  if (key.type === 'enum' && !key.values?.includes(given))
    return wrong(`one of ${key.values?.join(', ')}`, given);
  if (key.type === 'endpoint' && !parseEndpoint(given)) return wrong('host:port', given);
  if (key.type === 'string' && given === '') return { reason: 'must not be empty' };
  return { value: given };
}

function readList(key: ConfigKey, given: unknown): ReadValue {
  if (!Array.isArray(given)) return wrong('a list', given);
  for (const [index, item] of given.entries()) {
    const reason = typeof item === 'string' ? itemProblem(key, item) : `must be text, not ${show(item)}`;
    if (reason) return { reason: `entry ${index + 1} ${reason}` };
  }
  return { value: given as string[] };
}

function itemProblem(key: ConfigKey, item: string): string | null {
  switch (key.type) {
    case 'cidr[]':
      return networkProblem(item);
    case 'target[]':
      return (
        parseTargets([item])
          .problems.map((p) => `${show(p.value)}: ${p.reason}`)
          .join('; ') || null
      );
    default:
      return isResolver(item) ? null : `must be an IP address, or address:port, not ${show(item)}`;
  }
}

function networkProblem(item: string): string | null {
  try {
    compileScope({ allow: [item], deny: [] });
    return null;
  } catch (error) {
    if (error instanceof PortolanError) return `must be an address or a CIDR network, not ${show(item)}`;
    throw error;
  }
}

function isResolver(item: string): boolean {
  if (canonicalAddress(item) !== null) return true;
  const endpoint = parseEndpoint(item);
  return endpoint !== null && endpoint.port > 0 && canonicalAddress(endpoint.host) !== null;
}

function wrong(expected: string, given: unknown): { reason: string } {
  return { reason: `must be ${expected}, not ${show(given)}` };
}

function show(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
