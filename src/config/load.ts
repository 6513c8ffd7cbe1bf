import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PortolanError } from '../domain/errors.ts';
import { nearest } from '../domain/text/nearest.ts';
import { checkTogether, clampWorkers, warnOfPlainSlack } from './cross-checks.ts';
import { readEntries, warningPath } from './entries.ts';
import { type FileLayer, readConfigFile } from './file.ts';
import { type Config, type ConfigKey, configKeys, environmentNames } from './schema.ts';
import {
  type ConfigValue,
  type ReadValue,
  readTyped,
  type Setting,
  type SettingMap,
  VariableText,
} from './value.ts';

export interface LoadInput {
  /** The file of `--config`; takes precedence over SERVICE_CONFIG. */
  file?: string | undefined;
  env: NodeJS.ProcessEnv;
  /** Values of command line flags by key path, e.g. `server.bind`. */
  flags?: Record<string, unknown> | undefined;
  /** Unknown keys are errors. */
  strict?: boolean | undefined;
  /** The machine-wide file. */
  systemFile?: string | undefined;
}

export interface LoadedConfig {
  config: Config;
  warnings: string[];
  /** Key path -> `default`, `file:line:col`, `environment NAME` or `flag`. */
  origins: Map<string, string>;
  /** The file of `--config` or SERVICE_CONFIG; null when neither is given. */
  file: string | null;
  /** Possible files of alert rules: `alerts.file`, and one beside each configuration file. */
  alertFiles: string[];
}

/** Problems and warnings found while loading; each names a location and a key. */
interface Report {
  problems: string[];
  warnings: string[];
  /** Unknown keys: warnings, or problems when strict. */
  unknown: string[];
}

/**
 * The effective settings. Precedence, lowest first: defaults, /etc/portolan/config.yaml, the user's file, the
 * workspace's file, `--config` (else SERVICE_CONFIG), environment, flags.
 * @throws PortolanError `configuration` that lists every problem
 */
export function loadConfig(input: LoadInput): LoadedConfig {
  const { env } = input;
  const report: Report = { problems: [], warnings: [], unknown: [] };
  const read = (file: string, required = false) => keepLayer(readConfigFile(file, required, env), report);

  const systemFile = input.systemFile ?? '/etc/portolan/config.yaml';
  const system = read(systemFile);
  const user = read(userFile(env));
  const named = input.file ?? (env['SERVICE_CONFIG'] || undefined);
  const file = named === undefined ? null : resolve(named);
  const chosen: SettingMap = file === null ? new Map() : read(file, true);
  const environment = readEnvironment(env, report);
  const flags = readFlags(input.flags ?? {}, report);

  const standard = defaults();
  const outside = merge([standard, system, user, chosen, environment, flags]);
  const workspaceDir = placeWorkspace(outside, env);
  const workspaceFile = join(workspaceDir, 'config', 'portolan.yaml');
  const workspace = read(workspaceFile);
  if (workspace.delete('workspace.dir')) {
    report.warnings.push(
      `${workspaceDir}/config/portolan.yaml: workspace.dir has no effect in the configuration of the workspace itself`,
    );
  }

  const settings = merge([standard, system, user, workspace, chosen, environment, flags]);
  placeWorkspace(settings, env);
  checkTogether(settings, report.problems);
  clampWorkers(settings, report.warnings);
  warnOfPlainSlack(settings, report.warnings);
  warnOfInert(settings, report.warnings);
  (input.strict ? report.problems : report.warnings).unshift(...report.unknown);
  if (report.problems.length > 0) throw rejection(report.problems, report.warnings);
  const config = nest(settings);
  const places = [...(file === null ? [] : [file]), workspaceFile, userFile(env), systemFile];
  const alertFiles = [
    ...(config.alerts.file === '' ? [] : [config.alerts.file]),
    ...places.map((place) => join(dirname(place), 'alerts.yaml')),
  ];
  return { config, warnings: report.warnings, origins: originsOf(settings), file, alertFiles };
}

function keepLayer(layer: FileLayer | null, report: Report): SettingMap {
  if (!layer) return new Map();
  report.problems.push(...layer.problems);
  report.warnings.push(...layer.warnings);
  report.unknown.push(...layer.unknown);
  return layer.entries;
}

function defaults(): SettingMap {
  return new Map(
    configKeys.map((key) => [key.path, { value: asWritten(key, key.default), origin: 'default' }]),
  );
}

/** Default value of a key, parsed. */
function asWritten(key: ConfigKey, written: ConfigValue): ConfigValue {
  if (written === null || written === '') return written;
  const { type } = key;
  if (isListed(type)) return structuredClone(written);
  const read = readTyped({ ...key, type }, structuredClone(written));
  if ('reason' in read) throw new Error(`${key.path}: ${String(written)} ${read.reason}`);
  return read.value;
}

function readEnvironment(env: NodeJS.ProcessEnv, report: Report): SettingMap {
  const settings: SettingMap = new Map();
  for (const key of configKeys) {
    const name = variablesOf(key).find((candidate) => (env[candidate] ?? '') !== '');
    if (name !== undefined) keepText(settings, key, env[name] as string, `environment ${name}`, report);
  }
  readModuleVariables(settings, env, report);
  return settings;
}

/** A section that a file may put below `server` may have that prefix here too. */
function variablesOf(key: ConfigKey): string[] {
  const names = environmentNames(key);
  if (!/^(?:queue|workers)\./.test(key.path)) return names;
  return [...names, ...environmentNames({ ...key, path: `server.${key.path}`, env: [] })];
}

/** `SERVICE_MODULES__CONNECT_SCANNER__TIMEOUT` = `modules.connect_scanner.timeout` */
function readModuleVariables(settings: SettingMap, env: NodeJS.ProcessEnv, report: Report): void {
  for (const [name, text = ''] of Object.entries(env)) {
    const [, type, option] =
      /^SERVICE_MODULES__([A-Z](?:[A-Z0-9]|_(?!_[A-Z]))*)__([A-Z][A-Z0-9_]*)$/.exec(name) ?? [];
    if (type === undefined || option === undefined || text === '') continue;
    const path = `modules.${type.toLowerCase()}.${option.toLowerCase()}`;
    if (/\p{Cc}/u.test(text)) {
      report.problems.push(`environment ${name} ${path}: must not contain control characters`);
    } else settings.set(path, { value: text.trim(), origin: `environment ${name}` });
  }
}

function readFlags(flags: Record<string, unknown>, report: Report): SettingMap {
  const settings: SettingMap = new Map();
  const keys = new Map<string, ConfigKey>(configKeys.map((key) => [key.path, key]));
  for (const [path, given] of Object.entries(flags)) {
    if (given === undefined) continue;
    const key = keys.get(path);
    if (!key)
      throw new Error(`no such configuration key: ${path} (nearest: ${nearest(path, [...keys.keys()])})`);
    if (typeof given === 'string') keepText(settings, key, given, 'flag', report);
    else keepValue(settings, key, given, 'flag', report);
  }
  return settings;
}

/** Lists of entries are JSON in environment variables and flags. */
function keepText(settings: SettingMap, key: ConfigKey, text: string, origin: string, report: Report): void {
  if (!isListed(key.type)) return keepValue(settings, key, new VariableText(text), origin, report);
  try {
    keepValue(settings, key, JSON.parse(text), origin, report);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const example = key.type === 'entries' ? '[{"name": "..."}]' : '{"name": {}}';
    report.problems.push(`${origin} ${key.path}: must be JSON such as ${example}`);
  }
}

function keepValue(
  settings: SettingMap,
  key: ConfigKey,
  given: unknown,
  origin: string,
  report: Report,
): void {
  const { type } = key;
  if (!isListed(type)) return keepRead(settings, key, readTyped({ ...key, type }, given), origin, report);
  const { value, problems, unknown } = readEntries(key, given);
  for (const remark of problems)
    report.problems.push(`${origin} ${warningPath(key, remark)}: ${remark.reason}`);
  for (const remark of unknown)
    report.unknown.push(`${origin} ${warningPath(key, remark)}: ${remark.reason}`);
  settings.set(key.path, { value, origin });
}

function isListed(type: ConfigKey['type']): type is 'entries' | 'map' | 'options' {
  return type === 'entries' || type === 'map' || type === 'options';
}

function keepRead(
  settings: SettingMap,
  key: ConfigKey,
  read: ReadValue,
  origin: string,
  report: Report,
): void {
  if ('reason' in read) report.problems.push(`${origin} ${key.path}: ${read.reason}`);
  else settings.set(key.path, { value: read.value, origin });
}

function merge(layers: SettingMap[]): SettingMap {
  return new Map(layers.flatMap((layer) => [...layer]));
}

export function userFile(env: NodeJS.ProcessEnv): string {
  return join(baseFolder(env, 'XDG_CONFIG_HOME', '.config'), 'portolan', 'config.yaml');
}

/** Makes `workspace.dir` absolute and returns it. */
function placeWorkspace(settings: SettingMap, env: NodeJS.ProcessEnv): string {
  const setting = settings.get('workspace.dir') as Setting;
  const dir = absoluteWorkspace(String(setting.value), env);
  settings.set('workspace.dir', { ...setting, value: dir });
  return dir;
}

function absoluteWorkspace(given: string, env: NodeJS.ProcessEnv): string {
  if (given === '') return join(baseFolder(env, 'XDG_DATA_HOME', '.local/share'), 'portolan');
  return given === '~' || given.startsWith('~/') ? join(home(env), given.slice(1)) : resolve(given);
}

/** The directory of installed plugins, absolute. */
export function pluginsFolder({ plugins }: Pick<Config, 'plugins'>, env = process.env): string {
  const { dir } = plugins;
  if (dir === '') return join(baseFolder(env, 'XDG_DATA_HOME', '.local/share'), 'portolan', 'plugins');
  return dir === '~' || dir.startsWith('~/') ? join(home(env), dir.slice(1)) : resolve(dir);
}

/** The XDG Base Directory Specification says that a relative path is invalid and ignored. */
function baseFolder(env: NodeJS.ProcessEnv, name: string, usual: string): string {
  const given = env[name] ?? '';
  return isAbsolute(given) ? given : join(home(env), usual);
}

function home(env: NodeJS.ProcessEnv): string {
  return env['HOME'] || homedir();
}

/** Warns about a key that is set without effect, unless it has the value of the example file. */
function warnOfInert(settings: SettingMap, warnings: string[]): void {
  for (const key of configKeys as readonly ConfigKey[]) {
    const { value, origin } = settings.get(key.path) as Setting;
    if (!key.inert || origin === 'default') continue;
    // A value that the example takes from a variable cannot be compared.
    const shipped = String(key.shipped).startsWith('${') ? key.default : (key.shipped ?? key.default);
    const usual = [key.default, shipped].map((written) => asWritten(key, written));
    if (usual.some((known) => isDeepStrictEqual(known, value))) continue;
    warnings.push(`${origin} ${key.path}: has no effect in this build`);
  }
}

/** @param warnings they may explain the problems: an unknown key is often a known one misspelled */
function rejection(problems: string[], warnings: string[]): PortolanError {
  const count =
    problems.length === 1
      ? 'Invalid configuration, 1 problem'
      : `Invalid configuration, ${problems.length} problems`;
  return new PortolanError('configuration', `${count}:\n${problems.map((text) => `  ${text}`).join('\n')}`, {
    problems,
    ...(warnings.length > 0 && { warnings }),
  });
}

function nest(settings: SettingMap): Config {
  const root: Record<string, unknown> = {};
  for (const [path, { value }] of settings) {
    const parts = path.split('.');
    const leaf = parts.pop() as string;
    let level = root;
    for (const part of parts) {
      // Module names come from outside: guard against inherited properties.
      if (!Object.hasOwn(level, part)) level[part] = {};
      level = level[part] as Record<string, unknown>;
    }
    level[leaf] = value;
  }
  return root as unknown as Config;
}

function originsOf(settings: SettingMap): Map<string, string> {
  return new Map([...settings].map(([path, { origin }]) => [path, origin]));
}
