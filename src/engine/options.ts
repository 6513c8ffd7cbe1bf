import type { FieldProblem } from '../domain/errors.ts';
import { nearest } from '../domain/text/nearest.ts';
import { formatDuration, parseDuration } from '../domain/time/duration.ts';

/** Definition of one module option. Min and Max are inclusive; of a duration they are milliseconds. */
export interface OptionDef {
  Type: 'int' | 'string' | 'duration' | 'bool';
  Description: string;
  Default?: number | string | boolean;
  Required?: boolean;
  Min?: number;
  Max?: number;
  Enum?: readonly (string | number)[];
  /** Of a string: a comma list of these words. */
  Items?: readonly string[];
  /** Of a string: names a file, which only scans without a server read. */
  IsFile?: boolean;
}

export type OptionDefs = Record<string, OptionDef>;

type ValueOf<D extends OptionDef> = D['Type'] extends 'int' | 'duration'
  ? number
  : D['Type'] extends 'bool'
    ? boolean
    : string;

/** Option values as a module receives them; durations are milliseconds. */
export type OptionValues<O extends OptionDefs> = { [K in keyof O]: ValueOf<O[K]> };

export interface OptionCheck {
  /** Every option of the schema: the given value, else its default. Durations in milliseconds. */
  values: Record<string, number | string | boolean>;
  problems: FieldProblem[];
}

/** Checks a node's config against an option schema; reports every problem at once. */
export function validateOptions(defs: OptionDefs, config: Record<string, unknown>): OptionCheck {
  const values: OptionCheck['values'] = {};
  const problems: FieldProblem[] = [];
  for (const name of Object.keys(config)) {
    if (!Object.hasOwn(defs, name)) problems.push({ field: name, reason: unknownOption(name, defs) });
  }
  for (const [name, def] of Object.entries(defs)) {
    const given = Object.hasOwn(config, name) ? config[name] : def.Default;
    if (given === undefined) {
      if (def.Required) problems.push({ field: name, reason: 'is required' });
      continue;
    }
    const checked = checkValue(def, given);
    if ('reason' in checked) problems.push({ field: name, reason: checked.reason });
    else values[name] = checked.value;
  }
  return { values, problems };
}

/** The checked values. @throws Error that names every bad option */
export function requireOptions<O extends OptionDefs>(
  defs: O,
  config: Record<string, unknown>,
): OptionValues<O> {
  const { values, problems } = validateOptions(defs, config);
  if (problems.length > 0) throw new Error(problems.map((p) => `option ${p.field} ${p.reason}`).join('; '));
  return values as OptionValues<O>;
}

function unknownOption(name: string, defs: OptionDefs): string {
  const known = Object.keys(defs);
  return known.length > 0
    ? `is unknown; known options: ${known.join(', ')}`
    : 'is unknown: the module has no options';
}

function checkValue(
  def: OptionDef,
  given: unknown,
): { value: number | string | boolean } | { reason: string } {
  const typed = checkType(def, given);
  if ('reason' in typed) return typed;
  return checkBounds(def, typed.value) ?? typed;
}

function checkType(
  def: OptionDef,
  given: unknown,
): { value: number | string | boolean } | { reason: string } {
  switch (def.Type) {
    case 'bool':
      return typeof given === 'boolean'
        ? { value: given }
        : { reason: `must be true or false, not ${show(given)}` };
    case 'int':
      return Number.isSafeInteger(given)
        ? { value: given as number }
        : { reason: `must be a whole number, not ${show(given)}` };
    case 'string':
      // YAML takes `1.2` without quotes for a number.
      if (typeof given === 'number' && def.Enum?.includes(String(given))) return { value: String(given) };
      return typeof given === 'string' ? { value: given } : { reason: `must be text, not ${show(given)}` };
    case 'duration': {
      const ms = typeof given === 'string' ? parseDuration(given) : null;
      return ms === null
        ? { reason: `must be a duration such as 2s or 500ms, not ${show(given)}` }
        : { value: ms };
    }
  }
}

function checkBounds(def: OptionDef, value: number | string | boolean): { reason: string } | null {
  if (def.Enum && !def.Enum.includes(value as string | number)) {
    return { reason: `must be one of ${def.Enum.join(', ')}, not ${show(value)}` };
  }
  if (def.Items && typeof value === 'string') return checkItems(def.Items, listItems(value));
  if (typeof value !== 'number') return null;
  const unit = def.Type === 'duration' ? 'ms' : '';
  if (def.Min !== undefined && value < def.Min)
    return { reason: `must be at least ${def.Min}${unit}, not ${value}${unit}` };
  if (def.Max !== undefined && value > def.Max)
    return { reason: `must be at most ${def.Max}${unit}, not ${value}${unit}` };
  return null;
}

/** The words of a comma list. */
export function listItems(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function checkItems(known: readonly string[], words: readonly string[]): { reason: string } | null {
  if (words.length === 0) return { reason: 'must have at least one item' };
  const unknown = words.find((word) => !known.includes(word));
  if (unknown === undefined) return null;
  const near = nearest(unknown, known);
  return { reason: `has the unknown item ${show(unknown)}${near === null ? '' : `; did you mean ${near}?`}` };
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** Bounds of a duration are durations (`formatMinimum` of the JSON Schema proposal, as in ajv-formats). */
function boundsKeywords({ Type, Min, Max, Items }: OptionDef): Record<string, unknown> {
  if (Items) return { pattern: commaListPattern(Items) };
  if (Type !== 'duration') return { minimum: Min, maximum: Max };
  const text = (ms: number | undefined) => (ms === undefined ? undefined : formatDuration(ms));
  return { formatMinimum: text(Min), formatMaximum: text(Max) };
}

function commaListPattern(words: readonly string[]): string {
  const word = `(?:${words.map((one) => one.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')})`;
  return `^ *${word}(?: *, *${word})* *$`;
}

/** The option schema as JSON Schema (draft 2020-12). */
export function optionsJsonSchema(defs: OptionDefs): Record<string, unknown> {
  const properties: Record<string, unknown> = {};
  for (const [name, def] of Object.entries(defs)) {
    properties[name] = JSON.parse(
      JSON.stringify({
        type: { int: 'integer', bool: 'boolean', string: 'string', duration: 'string' }[def.Type],
        ...(def.Type === 'duration' ? { format: 'portolan-duration' } : {}),
        description: def.Description,
        default: def.Default,
        enum: def.Enum,
        ...boundsKeywords(def),
      }),
    );
  }
  const required = Object.keys(defs).filter((name) => defs[name]?.Required);
  return { type: 'object', properties, required, additionalProperties: false };
}
