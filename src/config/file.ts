import { readFileSync, statSync } from 'node:fs';
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { nearest } from '../domain/text/nearest.ts';
import { type ConfigWarning, holdsSecret, readEntries, warningPath } from './entries.ts';
import { type ConfigKey, configKeys, type ValueForm } from './schema.ts';
import { type ConfigValue, readTyped, type SettingMap, VariableText } from './value.ts';

/** Largest configuration file, bytes. */
const maxFileBytes = 1_048_576;
/** Maximum number of alias nodes (`*name`) in one file. */
const maxAliases = 100;
/** Maximum number of values in lists and entries of one file, with aliases expanded. */
const maxListed = 10_000;
/** Maximum nesting of lists and maps within a value: entries, their groups, the lists in these. */
const valueLevels = 5;

export interface FileLayer {
  /** Key path -> value and its origin. */
  entries: SettingMap;
  /** `file:line:col key: message` */
  problems: string[];
  warnings: string[];
  /** The same for unknown keys. */
  unknown: string[];
}

const keysByPath = new Map<string, ConfigKey>(configKeys.map((key) => [key.path, key]));
const sections = new Set(configKeys.flatMap((key) => parentsOf(key.path)));
/** Sections that the contract also accepts as top-level ones. */
const movedSections: Record<string, string> = { 'server.queue': 'queue', 'server.workers': 'workers' };
/** Sections that may be a list; the list is then the value of this key. */
const listSections: Record<string, string> = { plugins: 'plugins.list' };

/** Reads one configuration file; null when it does not exist and is not required. */
export function readConfigFile(file: string, required: boolean, env: NodeJS.ProcessEnv): FileLayer | null {
  const layer: FileLayer = { entries: new Map(), problems: [], warnings: [], unknown: [] };
  const text = readLimited(file, required, layer);
  if (text === null) return layer.problems.length > 0 ? layer : null;
  const reader = new FileReader(file, layer, env);
  reader.read(text);
  if (reader.secrets.length > 0) warnOfWorldReadable(file, reader.secrets, layer);
  return layer;
}

/** A warning, not an error: a monitoring service must not stop working because of file permissions. */
function warnOfWorldReadable(file: string, secrets: string[], layer: FileLayer): void {
  const othersMayRead = 0o004;
  if ((statSync(file).mode & othersMayRead) === 0) return;
  layer.warnings.push(
    `${file}: EVERY USER OF THIS MACHINE CAN READ THIS FILE, which contains secrets (${secrets.join(', ')}): chmod 600 it`,
  );
}

function readLimited(file: string, required: boolean, layer: FileLayer): string | null {
  try {
    const stat = statSync(file);
    if (!stat.isFile()) throw new Error('not a regular file');
    if (stat.size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // ENOTDIR: the workspace is a file; opening the workspace reports that better.
    if ((code === 'ENOENT' || code === 'ENOTDIR') && !required) return null;
    layer.problems.push(`${file}: ${readProblem(code, error as Error)}`);
    return null;
  }
}

function readProblem(code: string | undefined, error: Error): string {
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'not UTF-8 text';
  return error.message;
}

class FileReader {
  readonly #file: string;
  readonly #layer: FileLayer;
  readonly #env: NodeJS.ProcessEnv;
  readonly #lines = new LineCounter();
  #document: Document | null = null;
  #listed = 0;
  /** Keys with a literal secret in this file. */
  readonly secrets: string[] = [];

  constructor(file: string, layer: FileLayer, env: NodeJS.ProcessEnv) {
    this.#file = file;
    this.#layer = layer;
    this.#env = env;
  }

  read(text: string): void {
    let document: Document;
    try {
      document = parseDocument(text, {
        lineCounter: this.#lines,
        uniqueKeys: false,
        schema: 'core',
        merge: false,
      });
      this.#document = document;
      this.#checkSyntax(document);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#layer.problems.push(`${this.#file}: nested too deeply`);
      return;
    }
    if (this.#layer.problems.length > 0 || document.contents === null) return;
    const root = this.#resolve(document.contents);
    if (isScalar(root) && root.value === null) return;
    if (isMap(root)) this.#readSection(root, '');
    else this.#problem(root, '', 'must be a map of keys');
  }

  #checkSyntax(document: Document): void {
    for (const error of [...document.errors, ...document.warnings]) {
      const [at] = error.pos;
      this.#problem(
        at,
        '',
        error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? error.code,
      );
    }
    let aliases = 0;
    visit(document, {
      Alias: (_key, alias) => {
        if (++aliases === maxAliases + 1) this.#problem(alias, '', `more than ${maxAliases} aliases`);
      },
      Pair: (_key, pair) => {
        if (isScalar(pair.key) && pair.key.value === '<<')
          this.#problem(pair.key, '<<', 'merge keys are not supported');
      },
      Map: (_key, map) => this.#checkDuplicates(map),
      Node: (_key, node) => {
        const tag = (node as { tag?: string }).tag;
        if (tag && !tag.startsWith('tag:yaml.org,2002:'))
          this.#problem(node, '', `tag ${tag} is not supported`);
      },
    });
  }

  #checkDuplicates(map: YAMLMap): void {
    const seen = new Map<string, Pair>();
    for (const pair of map.items) {
      const name = keyText(pair);
      const earlier = seen.get(name);
      if (earlier && !this.#mergeableWorkers(name, earlier, pair)) {
        this.#problem(pair.key as Node, name, 'duplicate key');
      }
      seen.set(name, pair);
    }
  }

  /** `workers` is a number or a map; the contract allows both side by side. */
  #mergeableWorkers(name: string, earlier: Pair, later: Pair): boolean {
    if (name !== 'workers') return false;
    if (isMap(earlier.value) === isMap(later.value)) return false;
    this.#warning(later.key as Node, 'server.workers', 'given as a number and as a map; using both');
    return true;
  }

  #readSection(map: YAMLMap, path: string): void {
    for (const pair of map.items) {
      const name = path === '' ? keyText(pair) : `${path}.${keyText(pair)}`;
      this.#readPair(pair, name);
    }
  }

  #readPair(pair: Pair, path: string): void {
    const node = this.#resolve(pair.value as Node | null);
    const moved = movedSections[path];
    if (moved && isMap(node)) return this.#readSection(node, moved);
    const listed = listSections[path];
    const key = keysByPath.get(listed !== undefined && isSeq(node) ? listed : path);
    if (key) return this.#readKey(key, node, pair.key as Node);
    if (!sections.has(path)) return this.#unknown(pair, path);
    if (isMap(node)) return this.#readSection(node, path);
    if (node === null || (isScalar(node) && node.value === null)) return;
    this.#problem(node, path, 'must be a map of keys');
  }

  #readKey(key: ConfigKey, node: Node | null, place: Node): void {
    if (node === null || (isScalar(node) && node.value === null)) {
      // The example file writes an unset path as an empty value.
      if (key.default !== null && key.default !== '') this.#problem(place, key.path, 'missing value');
      return;
    }
    const given = this.#plain(node, key.path, 0);
    // An unset variable leaves the key unset; it was warned about.
    if (given === undefined) return;
    if (holdsSecret(key, given)) this.secrets.push(key.path);
    const earlier = this.#layer.entries.get(key.path);
    // At the top level and below `server`, or as a list and in a map.
    if (earlier) return this.#problem(place, key.path, `duplicate key, already set at ${earlier.origin}`);
    const { type } = key;
    if (type === 'options') return this.#readOptions(key, node, given);
    if (type === 'entries' || type === 'map') return this.#readEntries(key, node, given);
    const read = readTyped({ ...key, type } satisfies ValueForm, given);
    if ('reason' in read) return this.#problem(node, key.path, read.reason);
    this.#layer.entries.set(key.path, { value: read.value, origin: this.#place(node) });
  }

  #readEntries(key: ConfigKey, node: Node, given: unknown): void {
    const value = this.#checkEntries(key, node, given);
    this.#layer.entries.set(key.path, { value, origin: this.#place(node) });
  }

  /** Each option is a setting of its own, so that a source of higher precedence replaces one and not all. */
  #readOptions(key: ConfigKey, node: Node, given: unknown): void {
    for (const [type, options] of Object.entries(this.#checkEntries(key, node, given) ?? {})) {
      for (const [name, value] of Object.entries(options as Record<string, ConfigValue>)) {
        const origin = this.#place(this.#nodeAt(node, [type, name]));
        this.#layer.entries.set(`${key.path}.${type}.${name}`, { value, origin });
      }
    }
  }

  #checkEntries(key: ConfigKey, node: Node, given: unknown): ConfigValue {
    const { value, problems, unknown } = readEntries(key, given);
    const tell = (remark: ConfigWarning, place: Node, texts: string[]) =>
      texts.push(`${this.#place(place)} ${warningPath(key, remark)}: ${remark.reason}`);
    for (const problem of problems) tell(problem, this.#nodeAt(node, problem.at), this.#layer.problems);
    for (const remark of unknown) tell(remark, this.#nodeAt(node, remark.at, 'name'), this.#layer.unknown);
    return value;
  }

  /** The node that a warning is about, or its nearest existing ancestor. */
  #nodeAt(node: Node, at: ConfigWarning['at'], last: 'name' | 'value' = 'value'): Node {
    let found = node;
    for (const [index, part] of at.entries()) {
      const pair = isMap(found) ? found.items.find((item) => keyText(item) === part) : undefined;
      const named = last === 'name' && index === at.length - 1;
      const next = isSeq(found) ? found.items[Number(part)] : named ? pair?.key : (pair?.value ?? pair?.key);
      const resolved = this.#resolve((next ?? null) as Node | null);
      if (resolved === null) break;
      found = resolved;
    }
    return found;
  }

  /**
   * The plain value of a YAML node; undefined when it consists only of unset variables. Whatever is nested deeper than
   * any key allows becomes an empty map, which every key rejects.
   */
  #plain(node: Node | null, path: string, level: number): unknown {
    if (isScalar(node)) return typeof node.value === 'string' ? this.#text(node, path) : node.value;
    if (node === null || level === valueLevels) return {};
    const within = (item: unknown) => {
      if (++this.#listed === maxListed + 1)
        this.#problem(node, path, `more than ${maxListed} values in lists`);
      return this.#listed > maxListed ? undefined : this.#plain(this.#resolve(item as Node), path, level + 1);
    };
    if (isSeq(node)) return node.items.map(within).filter((item) => item !== undefined);
    if (!isMap(node)) return {};
    return Object.fromEntries(node.items.map((pair) => [keyText(pair), within(pair.value)]));
  }

  #text(node: Scalar, path: string): string | VariableText | undefined {
    const written = String(node.value);
    const text = this.#interpolate(node, written, path);
    if (text === written) return written;
    return text === '' ? undefined : new VariableText(text);
  }

  /** Replaces `${NAME}` and `${NAME:-default}`, not recursively. */
  #interpolate(node: Node, text: string, path: string): string {
    return text.replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?(\}|$)/g,
      (all, name: string, fallback: string | undefined, end: string) => {
        if (end === '') return all;
        const value = this.#env[name];
        if (value !== undefined && value !== '') return value;
        if (fallback !== undefined) return fallback;
        if (value === undefined)
          this.#warning(node, path, `environment variable ${name} is not set, using an empty value`);
        return '';
      },
    );
  }

  #unknown(pair: Pair, path: string): void {
    const known = [...keysByPath.keys(), ...sections];
    const guess = nearest(path, known);
    const hint = guess ? `; did you mean ${guess}?` : '';
    this.#layer.unknown.push(`${this.#place(pair.key as Node)} ${path}: unknown key${hint}`);
  }

  #resolve(node: Node | null): Node | null {
    let current: Node | null | undefined = node;
    for (let hops = 0; isAlias(current) && hops < maxAliases; hops++) {
      current = (current as Alias).resolve(this.#document as Document);
    }
    return current ?? null;
  }

  #problem(at: Node | number | null, path: string, message: string): void {
    this.#layer.problems.push(`${this.#place(at)} ${path === '' ? '' : `${path}: `}${message}`);
  }

  #warning(at: Node | null, path: string, message: string): void {
    this.#layer.warnings.push(`${this.#place(at)} ${path}: ${message}`);
  }

  #place(at: Node | number | null): string {
    const offset = typeof at === 'number' ? at : (at?.range?.[0] ?? 0);
    const { line, col } = this.#lines.linePos(offset);
    return `${this.#file}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  }
}

function keyText(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
}

function parentsOf(path: string): string[] {
  const parts = path.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
}
