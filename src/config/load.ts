import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import { nearest } from '../domain/nearest.ts';
import { type FileLayer, readConfigFile } from './file.ts';
import { type Config, type ConfigKey, configKeys, environmentNames } from './schema.ts';
import { type ConfigValue, type ReadValue, readFromText, readTyped } from './value.ts';

export interface LoadInput {
  /** The file of `--config`; stronger than SERVICE_CONFIG. */
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
}

interface Setting {
  value: ConfigValue;
  origin: string;
}

/**
 * The settings that hold, from weakest to strongest: defaults, /etc/portolan/config.yaml, the user's file, the
 * workspace's file, `--config` (else SERVICE_CONFIG), environment, flags.
 * @throws PortolanError `configuration` that lists every problem
 */
export function loadConfig(input: LoadInput): LoadedConfig {
  const report = { problems: [] as string[], warnings: [] as string[] };
  const keep = (layer: FileLayer | null) => {
    report.problems.push(...(layer?.problems ?? []));
    report.warnings.push(...(layer?.warnings ?? []));
    return layer?.entries ?? new Map<string, Setting>();
  };

  const system = keep(readConfigFile(input.systemFile ?? '/etc/portolan/config.yaml', false, input.env));
  const user = keep(readConfigFile(userFile(input.env), false, input.env));
  const named = input.file ?? input.env['SERVICE_CONFIG'];
  const chosen = named ? keep(readConfigFile(resolve(named), true, input.env)) : new Map<string, Setting>();
  const environment = readEnvironment(input.env, report);
  const flags = readFlags(input.flags ?? {}, report);

  const outside = merge([defaults(), system, user, chosen, environment, flags]);
  const workspaceDir = placeWorkspace(outside, input.env);
  const workspace = keep(readConfigFile(join(workspaceDir, 'config', 'portolan.yaml'), false, input.env));
  if (workspace.delete('workspace.dir')) {
    report.warnings.push(
      `${workspaceDir}/config/portolan.yaml: workspace.dir has no effect in the workspace itself`,
    );
  }

  const settings = merge([defaults(), system, user, workspace, chosen, environment, flags]);
  placeWorkspace(settings, input.env);
  refuseTls(settings, report.problems);
  checkTogether(settings, report.problems);
  if (input.strict)
    report.problems.push(...report.warnings.filter((text) => text.includes('is not a known key')));
  if (report.problems.length > 0) throw refusal(report.problems);
  return { config: nest(settings), warnings: report.warnings, origins: originsOf(settings) };
}

function defaults(): Map<string, Setting> {
  return new Map(configKeys.map((key) => [key.path, { value: defaultOf(key), origin: 'default' }]));
}

function defaultOf(key: ConfigKey): ConfigValue {
  if (key.default === null || key.type === 'path') return key.default as ConfigValue;
  const read = readTyped(key, Array.isArray(key.default) ? [...key.default] : key.default);
  if ('reason' in read) throw new Error(`default of ${key.path} ${read.reason}`);
  return read.value;
}

function readEnvironment(env: NodeJS.ProcessEnv, report: { problems: string[] }): Map<string, Setting> {
  const settings = new Map<string, Setting>();
  for (const key of configKeys) {
    const name = environmentNames(key).find((candidate) => (env[candidate] ?? '') !== '');
    if (name === undefined) continue;
    const read = readFromText(key, env[name] as string);
    keepRead(settings, key, read, `environment ${name}`, report);
  }
  return settings;
}

function readFlags(flags: Record<string, unknown>, report: { problems: string[] }): Map<string, Setting> {
  const settings = new Map<string, Setting>();
  const keys = new Map<string, ConfigKey>(configKeys.map((key) => [key.path, key]));
  for (const [path, given] of Object.entries(flags)) {
    if (given === undefined) continue;
    const key = keys.get(path);
    if (!key)
      throw new Error(`no such configuration key: ${path} (nearest: ${nearest(path, [...keys.keys()])})`);
    const read = typeof given === 'string' ? readFromText(key, given) : readTyped(key, given);
    keepRead(settings, key, read, 'flag', report);
  }
  return settings;
}

function keepRead(
  settings: Map<string, Setting>,
  key: ConfigKey,
  read: ReadValue,
  origin: string,
  report: { problems: string[] },
): void {
  if ('reason' in read) report.problems.push(`${origin} ${key.path}: ${read.reason}`);
  else settings.set(key.path, { value: read.value, origin });
}

function merge(layers: Map<string, Setting>[]): Map<string, Setting> {
  return new Map(layers.flatMap((layer) => [...layer]));
}

function userFile(env: NodeJS.ProcessEnv): string {
  return join(baseFolder(env, 'XDG_CONFIG_HOME', '.config'), 'portolan', 'config.yaml');
}

/** Makes `workspace.dir` absolute and returns it. */
function placeWorkspace(settings: Map<string, Setting>, env: NodeJS.ProcessEnv): string {
  const setting = settings.get('workspace.dir') as Setting;
  const dir = absoluteWorkspace(String(setting.value), env);
  settings.set('workspace.dir', { ...setting, value: dir });
  return dir;
}

function absoluteWorkspace(given: string, env: NodeJS.ProcessEnv): string {
  if (given === '') return join(baseFolder(env, 'XDG_DATA_HOME', '.local/share'), 'portolan');
  return given === '~' || given.startsWith('~/') ? join(home(env), given.slice(1)) : resolve(given);
}

/** By the XDG Base Directory Specification a relative path is invalid and ignored. */
function baseFolder(env: NodeJS.ProcessEnv, name: string, usual: string): string {
  const given = env[name] ?? '';
  return isAbsolute(given) ? given : join(home(env), usual);
}

function home(env: NodeJS.ProcessEnv): string {
  return env['HOME'] || homedir();
}

/** Tokens must not travel in clear text because somebody asked for HTTPS and was not heard. */
function refuseTls(settings: Map<string, Setting>, problems: string[]): void {
  const { value, origin } = settings.get('server.tls.enabled') as Setting;
  if (value !== true) return;
  const way = 'let a reverse proxy in front of it terminate TLS';
  problems.push(`${origin} server.tls.enabled: this build serves plain HTTP only; ${way}`);
}

/** Pairs of keys that must fit each other; a default gives way to what was set. */
function checkTogether(settings: Map<string, Setting>, problems: string[]): void {
  keepBelow(settings, problems, 'scanner.rate', 'scanner.max_rate', (limit) => limit);
  keepBelow(settings, problems, 'workers.heartbeat', 'workers.lease', (limit) =>
    Math.max(100, Math.floor(limit / 3)),
  );
}

function keepBelow(
  settings: Map<string, Setting>,
  problems: string[],
  path: string,
  limitPath: string,
  fitting: (limit: number) => number,
): void {
  const setting = settings.get(path) as Setting;
  const limit = settings.get(limitPath) as Setting;
  if (Number(setting.value) <= Number(limit.value)) return;
  if (setting.origin === 'default') {
    settings.set(path, { value: fitting(Number(limit.value)), origin: 'default' });
    return;
  }
  problems.push(
    `${setting.origin} ${path}: must not be above ${limitPath} (${limit.value}, ${limit.origin})`,
  );
}

function refusal(problems: string[]): PortolanError {
  const count =
    problems.length === 1
      ? 'The configuration has a problem'
      : `The configuration has ${problems.length} problems`;
  return new PortolanError('configuration', `${count}:\n${problems.map((text) => `  ${text}`).join('\n')}`, {
    problems,
  });
}

function nest(settings: Map<string, Setting>): Config {
  const root: Record<string, unknown> = {};
  for (const [path, { value }] of settings) {
    const parts = path.split('.');
    const leaf = parts.pop() as string;
    let level = root;
    for (const part of parts) level = (level[part] ??= {}) as Record<string, unknown>;
    level[leaf] = value;
  }
  return root as unknown as Config;
}

function originsOf(settings: Map<string, Setting>): Map<string, string> {
  return new Map([...settings].map(([path, { origin }]) => [path, origin]));
}
