import { PortolanError } from '../domain/errors.ts';
import { canonicalAddress } from '../domain/targets/address.ts';
import { compileScope } from '../domain/targets/scope.ts';
import { parseTargets, splitTargets } from '../domain/targets/target.ts';
import { parseByteSize } from '../domain/text/byte-size.ts';
import { ambiguousMinutes, formatDuration, parseDuration } from '../domain/time/duration.ts';
import { parseEndpoint } from './endpoint.ts';
import type { ValueForm } from './schema.ts';

export type ConfigValue =
  | string
  | number
  | boolean
  | null
  | readonly ConfigValue[]
  | { readonly [name: string]: ConfigValue };
export type ReadValue = { value: ConfigValue } | { reason: string };

/** A value and its origin. */
export interface Setting {
  value: ConfigValue;
  /** `default`, `file:line:col`, `environment NAME` or `flag`. */
  origin: string;
}

/** By key path, `modules.<module_type>.<option>` among them. */
export type SettingMap = Map<string, Setting>;

/** Text from an environment variable: the type of the key decides how to parse it. */
export class VariableText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Reads a value with a YAML type: numbers are numbers, lists are lists, durations are text. */
export function readTyped(form: ValueForm, given: unknown): ReadValue {
  if (given instanceof VariableText) return readFromText(form, given.text);
  const read = readByType(form, given);
  // An invalid value may still be the secret, or most of it.
  return form.secret && 'reason' in read ? { reason: read.reason.replace(/, not .*$/su, '') } : read;
}

function readByType(form: ValueForm, given: unknown): ReadValue {
  switch (form.type) {
    case 'bool':
      return typeof given === 'boolean' ? { value: given } : wrong('true or false', given);
    case 'int':
      if (given === form.word && form.word !== undefined) return { value: form.word };
      return typeof given === 'number' ? readInteger(form, given) : wrong(integerForm(form), given);
    case 'duration':
      return readDuration(form, given);
    case 'size':
      return readSize(form, given);
    case 'string[]':
    case 'cidr[]':
    case 'target[]':
    case 'resolver[]':
      return readList(form, given);
    case 'text{}':
      return readTexts(given);
    case 'int{}':
      return readIntegers(form, given);
    default:
      return typeof given === 'string' ? readText(form, given) : wrong('text', given);
  }
}

/** Reads a value given as text: an environment variable, a flag, an interpolated string. */
function readFromText(form: ValueForm, text: string): ReadValue {
  const trimmed = text.trim();
  switch (form.type) {
    case 'bool':
      if (/^(?:true|1|yes|on)$/i.test(trimmed)) return { value: true };
      if (/^(?:false|0|no|off)$/i.test(trimmed)) return { value: false };
      return wrong('true or false', text);
    case 'int':
      if (trimmed === form.word && form.word !== undefined) return { value: form.word };
      return /^-?\d{1,16}$/.test(trimmed)
        ? readInteger(form, Number(trimmed))
        : wrong(integerForm(form), text);
    case 'cidr[]':
    case 'target[]':
      return readList(
        form,
        splitTargets(trimmed).filter((item) => item !== ''),
      );
    case 'string[]':
    case 'resolver[]':
      return readList(
        form,
        trimmed
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
      );
    case 'int{}':
      return readIntegers(
        form,
        Object.fromEntries(
          trimmed
            .split(',')
            .filter((item) => item.trim() !== '')
            .map((item) => {
              const [name = '', value = ''] = item.split('=', 2).map((part) => part.trim());
              return [name, new VariableText(value)];
            }),
        ),
      );
    default:
      return readTyped(form, trimmed);
  }
}

function integerForm({ word }: ValueForm): string {
  return word === undefined ? 'a whole number' : `a whole number or ${word}`;
}

function readInteger(form: ValueForm, given: number): ReadValue {
  if (!Number.isSafeInteger(given)) return wrong('a whole number', given);
  if (form.min !== undefined && given < form.min)
    return { reason: `must be at least ${form.min}, not ${given}` };
  if (form.max !== undefined && given > form.max)
    return { reason: `must be at most ${form.max}, not ${given}` };
  return { value: given };
}

function readDuration(form: ValueForm, given: unknown): ReadValue {
  const ms =
    given === 0 || given === '0' ? 0 : typeof given === 'string' ? millisecondsOf(form, given) : null;
  if (ms === null) {
    const ambiguous = form.retention && typeof given === 'string' ? ambiguousMinutes(given) : null;
    if (ambiguous !== null) return { reason: `${showValue(given)} ${ambiguous}` };
    const example = form.retention ? '90d, 6mo or 1y' : '30s or 1h30m';
    return wrong(`a duration with a unit, such as ${example}`, given);
  }
  if (form.min !== undefined && ms < form.min)
    return { reason: `must be at least ${formatDuration(form.min)}, not ${showValue(given)}` };
  if (form.max !== undefined && ms > form.max)
    return { reason: `must be at most ${formatDuration(form.max)}, not ${showValue(given)}` };
  return { value: ms };
}

function millisecondsOf({ retention, months }: ValueForm, text: string): number | null {
  if (retention) return parseDuration(text, { retention });
  return parseDuration(text) ?? (months ? parseDuration(text, { retention: true }) : null);
}

function readSize(form: ValueForm, given: unknown): ReadValue {
  const bytes = typeof given === 'string' ? parseByteSize(given) : null;
  if (bytes === null) return wrong('a size with a unit, such as 20GB or 512MiB', given);
  if (form.min !== undefined && bytes < form.min)
    return { reason: `must be at least ${form.min} bytes, not ${showValue(given)}` };
  return { value: bytes };
}

function readText(form: ValueForm, given: string): ReadValue {
  const unwanted = form.lines ? /[^\P{Cc}\r\n]/u : /\p{Cc}/u;
  if (unwanted.test(given)) return { reason: 'must not contain control characters' };
  if (form.type === 'enum' && !form.values?.includes(given))
    return wrong(`one of ${form.values?.join(', ')}`, given);
  if (form.type === 'endpoint' && !parseEndpoint(given)) return wrong('host:port', given);
  if (form.type === 'address' && canonicalAddress(given) === null) return wrong('an IP address', given);
  if (form.type === 'url' && !isWebUrl(given)) return wrong('an http or https URL', given);
  if (form.type === 'zone' && !isTimeZone(given))
    return wrong('an IANA time zone such as Europe/Berlin', given);
  if (form.type === 'string' && given === '') return { reason: 'must not be empty' };
  if (form.pattern && !form.pattern.test(given)) return wrong(form.form ?? 'in another form', given);
  return { value: given };
}

function isWebUrl(text: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '');
}

function isTimeZone(text: string): boolean {
  // Checking any zone loads the data of all, which takes longer than everything else here.
  if (text === 'UTC') return true;
  try {
    Intl.DateTimeFormat('en', { timeZone: text });
    // Offsets such as +01:00 are accepted there too, but are not zones.
    return !/^[+-]/.test(text);
  } catch {
    return false;
  }
}

function readList(form: ValueForm, given: unknown): ReadValue {
  if (!Array.isArray(given)) return wrong('a list', given);
  const items = given.map((item) => (item instanceof VariableText ? item.text : (item as unknown)));
  for (const [index, item] of items.entries()) {
    const reason =
      typeof item === 'string' ? itemProblem(form, item) : `must be text, not ${showValue(item)}`;
    if (reason) return { reason: `entry ${index + 1} ${reason}` };
  }
  return { value: items as string[] };
}

/** Names are tokens of RFC 9110. */
function readTexts(given: unknown): ReadValue {
  if (!isMap(given)) return wrong('a map of strings', given);
  const texts: Record<string, string> = {};
  for (const [name, item] of Object.entries(given)) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name) || name === '__proto__')
      return { reason: `has the invalid name ${showValue(name)}, names must be RFC 9110 tokens` };
    const read = readTyped({ type: 'string', secret: true }, item);
    if ('reason' in read) return { reason: `${name} ${read.reason}` };
    texts[name] = String(read.value);
  }
  return { value: texts };
}

function readIntegers({ pattern, form, ...bounds }: ValueForm, given: unknown): ReadValue {
  if (!isMap(given)) return wrong('a map of whole numbers', given);
  const numbers: Record<string, number> = {};
  for (const [name, item] of Object.entries(given)) {
    if (pattern?.test(name) === false || name === '__proto__')
      return { reason: `has the invalid name ${showValue(name)}; use ${form}` };
    const read = readTyped({ ...bounds, type: 'int' }, item);
    if ('reason' in read) return { reason: `${name} ${read.reason}` };
    numbers[name] = Number(read.value);
  }
  return { value: numbers };
}

export function isMap(given: unknown): given is Record<string, unknown> {
  return (
    typeof given === 'object' && given !== null && !Array.isArray(given) && !(given instanceof VariableText)
  );
}

function itemProblem(form: ValueForm, item: string): string | null {
  switch (form.type) {
    case 'cidr[]':
      return networkProblem(item);
    case 'target[]':
      return (
        parseTargets([item])
          .problems.map((p) => `${showValue(p.value)}: ${p.reason}`)
          .join('; ') || null
      );
    case 'string[]':
      return textProblem(form, item);
    default:
      return isResolver(item) ? null : `must be an IP address, or address:port, not ${showValue(item)}`;
  }
}

function textProblem(form: ValueForm, item: string): string | null {
  const read = readText({ ...form, type: form.values ? 'enum' : 'string' }, item);
  return 'reason' in read ? read.reason : null;
}

function networkProblem(item: string): string | null {
  try {
    compileScope({ allow: [item], deny: [] });
    return null;
  } catch (error) {
    if (error instanceof PortolanError)
      return `must be an address, a CIDR block or a range, not ${showValue(item)}`;
    throw error;
  }
}

function isResolver(item: string): boolean {
  if (canonicalAddress(item) !== null) return true;
  const endpoint = parseEndpoint(item);
  return endpoint !== null && endpoint.port > 0 && canonicalAddress(endpoint.host) !== null;
}

function wrong(expected: string, given: unknown): { reason: string } {
  return { reason: `must be ${expected}, not ${showValue(given)}` };
}

export function showValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (value instanceof VariableText) return showValue(value.text);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  // A URL may contain a password.
  const text = JSON.stringify(value).replace(/:\/\/[^/@\s]*@/g, '://(hidden)@');
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
