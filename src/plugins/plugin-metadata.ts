import { nearest } from '../domain/text/nearest.ts';
import { visibleText } from '../domain/text/visible.ts';
import type { ModuleType } from '../engine/module.ts';
import { type OptionDef, type OptionDefs, validateOptions } from '../engine/options.ts';
import { isPluginVersion, isStage, pluginStages } from './manifest.ts';
import type { PluginMetadata } from './plugin.ts';

const namePattern = /^[a-z][a-z0-9_]{1,63}$/;
const keyPattern = /^[a-z][a-z0-9_.-]{0,63}$/;
/** Maximum length of a description, of the module or of an option, characters. */
const maxDescription = 1000;
/** Maximum number of keys that a plugin requires, and that it provides. */
const maxKeys = 32;
/** Maximum number of options of a plugin. */
const maxOptions = 64;
/** Maximum number of values that an option lists. */
const maxEnum = 200;

const metadataNames = ['name', 'type', 'version', 'description', 'options', 'requires', 'provides'];
const optionNames = ['Type', 'Description', 'Default', 'Required', 'Min', 'Max', 'Enum', 'Items'];
const optionTypes = ['int', 'string', 'duration', 'bool'];

/**
 * What a plugin says about its module, once it is known to be well-formed.
 * @throws Error that names the first bad field
 */
export function checkMetadata(given: unknown): PluginMetadata {
  const fields = recordOf(given, 'metadata');
  checkNames(fields, metadataNames, 'metadata');
  const { name, type = '', version, description = '', options = {}, requires = [], provides = [] } = fields;
  return {
    name: text(
      name,
      'name',
      (value) => namePattern.test(value),
      `a name such as port_notes (${namePattern.source})`,
    ),
    type: moduleType(type),
    version: text(version, 'version', isPluginVersion, 'a version such as 1.0.0'),
    description: describe(description, 'description'),
    options: checkOptions(options),
    requires: keyList(requires, 'requires', (key) => key.split('|').every((one) => keyPattern.test(one))),
    provides: keyList(provides, 'provides', (key) => keyPattern.test(key) && key !== 'targets'),
  };
}

function moduleType(given: unknown): ModuleType {
  return text(given, 'type', isStage, `one of ${pluginStages.join(', ')}`) as ModuleType;
}

function keyList(given: unknown, field: string, valid: (key: string) => boolean): string[] {
  if (!Array.isArray(given) || given.length > maxKeys) {
    throw new Error(`${field} must be a list of at most ${maxKeys} keys`);
  }
  return [
    ...new Set(given.map((key, index) => text(key, `${field}[${index}]`, valid, 'a key that plugins use'))),
  ];
}

function checkOptions(given: unknown): OptionDefs {
  const entries = Object.entries(recordOf(given, 'options'));
  if (entries.length > maxOptions) throw new Error(`options must be ${maxOptions} at most`);
  const options = entries.map(([name, def]) => {
    if (!namePattern.test(name)) throw new Error(`options: ${show(name)} must be a name such as max_length`);
    return [name, checkOption(`options.${name}`, def)] as const;
  });
  return Object.fromEntries(options);
}

function checkOption(field: string, given: unknown): OptionDef {
  const def = recordOf(given, field);
  checkNames(def, optionNames, field);
  const type = text(
    def['Type'],
    `${field}.Type`,
    (one) => optionTypes.includes(one),
    `one of ${optionTypes.join(', ')}`,
  );
  const checked: OptionDef = {
    Type: type as OptionDef['Type'],
    Description: describe(def['Description'] ?? '', `${field}.Description`),
    ...bounds(def, type, field),
    ...listed(def, 'Enum', (value) => typeof value === 'string' || typeof value === 'number', field),
    ...listed(def, 'Items', (value) => typeof value === 'string', field),
  };
  const { Required, Default } = def;
  if (Required !== undefined && typeof Required !== 'boolean')
    throw new Error(`${field}.Required must be true or false`);
  if (Required) checked.Required = true;
  if (Default === undefined || Default === null) return checked;
  const [problem] = validateOptions({ Default: checked }, { Default }).problems;
  if (problem) throw new Error(`${field}.Default ${visibleText(problem.reason)}`);
  return { ...checked, Default: Default as NonNullable<OptionDef['Default']> };
}

function bounds(def: Record<string, unknown>, type: string, field: string): Pick<OptionDef, 'Min' | 'Max'> {
  const found: Pick<OptionDef, 'Min' | 'Max'> = {};
  for (const name of ['Min', 'Max'] as const) {
    const value = def[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new Error(`${field}.${name} must be a number`);
    if (type !== 'int' && type !== 'duration')
      throw new Error(`${field}.${name} is for numbers and durations only`);
    found[name] = value;
  }
  if (found.Min !== undefined && found.Max !== undefined && found.Min > found.Max) {
    throw new Error(`${field}.Min must not be greater than Max`);
  }
  return found;
}

function listed(
  def: Record<string, unknown>,
  name: 'Enum' | 'Items',
  valid: (value: unknown) => boolean,
  field: string,
): Partial<Pick<OptionDef, 'Enum' | 'Items'>> {
  const values = def[name];
  if (values === undefined || values === null) return {};
  if (!Array.isArray(values) || values.length === 0 || values.length > maxEnum || !values.every(valid)) {
    throw new Error(`${field}.${name} must be a list of 1 to ${maxEnum} values`);
  }
  return { [name]: values };
}

function describe(given: unknown, field: string): string {
  const fits = (value: string) => value.length <= maxDescription;
  return visibleText(text(given, field, fits, `${maxDescription} characters at most`));
}

function text(given: unknown, field: string, valid: (value: string) => boolean, expected: string): string {
  if (typeof given === 'string' && valid(given)) return given;
  throw new Error(`${field} must be ${expected}, not ${show(given)}`);
}

function recordOf(given: unknown, field: string): Record<string, unknown> {
  if (typeof given === 'object' && given !== null && !Array.isArray(given))
    return given as Record<string, unknown>;
  throw new Error(`${field} must be an object, not ${show(given)}`);
}

function checkNames(record: Record<string, unknown>, known: string[], field: string): void {
  const unknown = Object.keys(record).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  throw new Error(`${field} has the unknown field ${show(unknown)}${near ? `; did you mean ${near}?` : ''}`);
}

function show(value: unknown): string {
  const shown = visibleText(JSON.stringify(value) ?? String(value));
  return shown.length > 80 ? `${shown.slice(0, 77)}...` : shown;
}
