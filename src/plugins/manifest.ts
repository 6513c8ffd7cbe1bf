import { isBuiltin } from 'node:module';
import { isAlias, isMap, isScalar, visit, type YAMLMap } from 'yaml';
import { parseEndpoint } from '../config/endpoint.ts';
import { PortolanError } from '../domain/errors.ts';
import { nearest } from '../domain/text/nearest.ts';
import { SafeYaml } from '../engine/graph/safe-yaml.ts';
import { type ModuleType, moduleTypes } from '../engine/module.ts';

/** File name of the manifest, at the root of a package. */
export const manifestFile = 'plugin.yaml';

export const pluginKinds = ['native', 'script', 'wasm', 'rules', 'templates', 'grpc'] as const;
export type PluginKind = (typeof pluginKinds)[number];

/** Stages of a scan that a module of a plugin may belong to: reports are made by builtin modules. */
export const pluginStages = moduleTypes.filter((type) => type !== 'reporter');

/** The only version of the plugin interface so far. */
const abiVersion = 1;
/** Maximum size of a manifest, bytes. */
const maxManifestBytes = 256 * 1024;
/** Maximum number of files of a package; the manifest not counted. */
export const maxPluginFiles = 1000;
/** Maximum number of plugins that one may require. */
const maxRequires = 64;

const namePattern = /^[a-z][a-z0-9_-]{2,62}$/;
const versionPattern = /^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.-]{1,32})?$/;
/** Segments of a path in a package: ASCII, and never hidden, so that they cannot collide with files of the installer. */
const segmentPattern = /^[A-Za-z0-9_][A-Za-z0-9._+@-]{0,99}$/;
/** Maximum length of a path in a package, characters. */
const maxPath = 240;

export interface PluginManifest {
  name: string;
  version: string;
  kind: PluginKind;
  /** A file of the package; `host:port` for kind grpc. */
  entry: string;
  abi: number;
  permissions: string[];
  /** Names of other plugins. */
  requires: string[];
  /** Where its module belongs: then it runs in the builtin profiles. Absent = only where a graph names it. */
  stage?: ModuleType;
  /** SHA-256 in hex by path. */
  files: Map<string, string>;
}

const keys = ['name', 'version', 'kind', 'entry', 'abi', 'permissions', 'requires', 'stage', 'files'];

/** @throws PortolanError `usage` */
export function checkPluginName(name: string): string {
  if (namePattern.test(name)) return name;
  throw new PortolanError(
    'usage',
    `"${name.slice(0, 80)}" is not a plugin name: a lower-case letter, then letters, digits, dashes and underscores, 3 to 63 in all`,
  );
}

export function isPluginVersion(text: string): boolean {
  return versionPattern.test(text);
}

/** Why a path must not stand in a package, or null. */
export function pathProblem(path: string): string | null {
  if (path.startsWith('/')) return 'is an absolute path';
  const segments = path.split('/');
  if (segments.includes('..')) return 'leads out of the package (..)';
  if (path.length > maxPath) return `is longer than ${maxPath} characters`;
  if (segments.every((segment) => segmentPattern.test(segment))) return null;
  return 'has characters other than letters, digits and . _ + @ -, or a hidden or empty part';
}

/**
 * Parses `plugin.yaml`.
 * @param options.draft `files` may be absent: `plugin pack` fills it in
 * @throws PortolanError `configuration` with the first problem and its line
 */
export function parseManifest(text: string, { draft = false } = {}): PluginManifest {
  const yaml = new SafeYaml(text, maxManifestBytes, 'the keys of a plugin manifest');
  const [problem] = yaml.problems;
  if (problem) throw bad(`line ${problem.line}: ${problem.message}`);
  return new ManifestReader(yaml, yaml.root as YAMLMap, draft).read();
}

function bad(reason: string): PortolanError {
  return new PortolanError('configuration', `${manifestFile}: ${reason}`);
}

class ManifestReader {
  readonly #yaml: SafeYaml;
  readonly #draft: boolean;
  readonly #nodes = new Map<string, unknown>();

  constructor(yaml: SafeYaml, root: YAMLMap, draft: boolean) {
    this.#yaml = yaml;
    this.#draft = draft;
    visit(root, (_key, node) => {
      if (isAlias(node)) throw this.#wrong(node, 'aliases are not allowed');
    });
    for (const { key, value } of root.items) this.#nodes.set(this.#keyOf(key), value);
  }

  read(): PluginManifest {
    const name = this.#text('name', (text) => namePattern.test(text), 'not a plugin name');
    if (isBuiltin(name)) throw this.#wrong(this.#nodes.get('name'), `name: "${name}" is a reserved name`);
    const kind = this.#text('kind', (text) => isKind(text), `not one of ${pluginKinds.join(', ')}`);
    const files = this.#files();
    return {
      name,
      version: this.#text('version', isPluginVersion, 'not a version such as 1.0.0'),
      kind: kind as PluginKind,
      entry: this.#entry(kind, files),
      abi: this.#abi(),
      permissions: this.#list('permissions', (item) => item === 'network', 'not a permission (network)'),
      requires: this.#list('requires', (item) => namePattern.test(item), 'not a plugin name'),
      ...(this.#nodes.has('stage') && { stage: this.#stage(kind) }),
      files,
    };
  }

  #stage(kind: string): ModuleType {
    const text = this.#text('stage', isStage, `not one of ${pluginStages.join(', ')}`);
    if (kind !== 'rules') return text as ModuleType;
    throw this.#wrong(this.#nodes.get('stage'), 'stage: rules run in every scan that evaluates');
  }

  #keyOf(node: unknown): string {
    const key = isScalar(node) ? String(node.value) : '';
    if (keys.includes(key)) return key;
    const guess = nearest(key, keys);
    throw this.#wrong(
      node,
      `unknown key "${key}"; ${guess ? `did you mean ${guess}?` : `known: ${keys.join(', ')}`}`,
    );
  }

  #text(key: string, valid: (text: string) => boolean, reason: string): string {
    const node = this.#nodes.get(key);
    if (node === undefined) throw bad(`${key} is missing`);
    const value = isScalar(node) ? node.value : null;
    if (typeof value !== 'string') throw this.#wrong(node, `${key}: not a text`);
    if (!valid(value)) throw this.#wrong(node, `${key}: "${value.slice(0, 80)}" is ${reason}`);
    return value;
  }

  #entry(kind: string, files: Map<string, string>): string {
    if (kind === 'grpc') return this.#text('entry', (text) => parseEndpoint(text) !== null, 'not host:port');
    const known = (text: string) => (this.#draft ? pathProblem(text) === null : files.has(text));
    return this.#text('entry', known, 'not one of the files');
  }

  #abi(): number {
    const node = this.#nodes.get('abi');
    if (node === undefined) return abiVersion;
    if (isScalar(node) && node.value === abiVersion) return abiVersion;
    throw this.#wrong(node, `abi: this build supports version ${abiVersion} only`);
  }

  #list(key: string, valid: (item: string) => boolean, reason: string): string[] {
    const node = this.#nodes.get(key);
    if (node === undefined) return [];
    const items = (node as { toJSON?: () => unknown } | null)?.toJSON?.();
    if (!Array.isArray(items) || items.length > maxRequires) {
      throw this.#wrong(node, `${key}: not a list of at most ${maxRequires} names`);
    }
    const wrong = items.find((item) => typeof item !== 'string' || !valid(item)) as unknown;
    if (wrong !== undefined) throw this.#wrong(node, `${key}: ${JSON.stringify(wrong)} is ${reason}`);
    return [...new Set(items as string[])];
  }

  #files(): Map<string, string> {
    const node = this.#nodes.get('files');
    if (node === undefined && this.#draft) return new Map();
    if (!isMap(node))
      throw node === undefined ? bad('files is missing') : this.#wrong(node, 'files: not a map');
    if (node.items.length > maxPluginFiles) throw this.#wrong(node, `files: more than ${maxPluginFiles}`);
    const files = new Map<string, string>();
    for (const { key, value } of node.items) {
      const path = isScalar(key) ? String(key.value) : '';
      const hash = isScalar(value) ? String(value.value) : '';
      const problem = path === manifestFile ? 'is the manifest itself' : pathProblem(path);
      if (problem) throw this.#wrong(key, `files: "${path.slice(0, 80)}" ${problem}`);
      if (!/^[0-9a-f]{64}$/.test(hash)) throw this.#wrong(value, `files: ${path}: not a SHA-256 in hex`);
      files.set(path, hash);
    }
    return files;
  }

  #wrong(node: unknown, reason: string): PortolanError {
    return bad(`line ${this.#yaml.placeOf(node).line}: ${reason}`);
  }
}

export function isStage(text: string): text is ModuleType {
  return pluginStages.some((stage) => stage === text);
}

function isKind(text: string): boolean {
  return pluginKinds.some((kind) => kind === text);
}
