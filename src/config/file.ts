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
  visit,
  type YAMLMap,
} from 'yaml';
import { nearest } from '../domain/nearest.ts';
import { type ConfigKey, configKeys } from './schema.ts';
import { type ConfigValue, readFromText, readTyped } from './value.ts';

/** Largest configuration file, bytes. */
const maxFileBytes = 1_048_576;
/** Most alias nodes (`*name`) in one file. */
const maxAliases = 100;

export interface FileLayer {
  /** Key path -> value and the place that set it. */
  entries: Map<string, { value: ConfigValue; origin: string }>;
  /** Texts of the form `file:line:col key: message`. */
  problems: string[];
  warnings: string[];
}

const keysByPath = new Map<string, ConfigKey>(configKeys.map((key) => [key.path, key]));
const sections = new Set(configKeys.flatMap((key) => parentsOf(key.path)));
/** Places where the contract accepts a section that belongs to the top level. */
const movedSections: Record<string, string> = { 'server.queue': 'queue', 'server.workers': 'workers' };

/** Reads one configuration file; null when it does not exist and need not. */
export function readConfigFile(file: string, required: boolean, env: NodeJS.ProcessEnv): FileLayer | null {
  const layer: FileLayer = { entries: new Map(), problems: [], warnings: [] };
  const text = readLimited(file, required, layer);
  if (text === null) return layer.problems.length > 0 ? layer : null;
  new FileReader(file, layer, env).read(text);
  return layer;
}

function readLimited(file: string, required: boolean, layer: FileLayer): string | null {
  try {
    const stat = statSync(file);
    if (!stat.isFile()) throw new Error('is not a file');
    if (stat.size > maxFileBytes) throw new Error(`is larger than ${maxFileBytes} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // ENOTDIR: the workspace is a file, which is refused in better words where it is opened.
    if ((code === 'ENOENT' || code === 'ENOTDIR') && !required) return null;
    layer.problems.push(`${file}: ${readProblem(code, error as Error)}`);
    return null;
  }
}

function readProblem(code: string | undefined, error: Error): string {
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES') return 'may not be read by this user';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text';
  return error.message;
}

class FileReader {
  readonly #file: string;
  readonly #layer: FileLayer;
  readonly #env: NodeJS.ProcessEnv;
  readonly #lines = new LineCounter();
  #document: Document | null = null;

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
      this.#layer.problems.push(`${this.#file}: is nested too deeply`);
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
        this.#problem(pair.key as Node, name, 'is given twice');
      }
      seen.set(name, pair);
    }
  }

  /** `workers` stands for a number and for a map; the contract lets both stand side by side. */
  #mergeableWorkers(name: string, earlier: Pair, later: Pair): boolean {
    if (name !== 'workers') return false;
    if (isMap(earlier.value) === isMap(later.value)) return false;
    this.#warning(later.key as Node, 'server.workers', 'is given as a number and as a map; both are used');
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
    const key = keysByPath.get(path);
    if (key) return this.#readKey(key, node, pair.key as Node);
    if (!sections.has(path)) return this.#unknown(pair, path);
    if (isMap(node)) return this.#readSection(node, path);
    if (node === null || (isScalar(node) && node.value === null)) return;
    this.#problem(node, path, 'must be a map of keys');
  }

  #readKey(key: ConfigKey, node: Node | null, place: Node): void {
    if (node === null || (isScalar(node) && node.value === null)) {
      if (key.default !== null) this.#problem(place, key.path, 'has no value');
      return;
    }
    const given = this.#plain(node, key.path);
    const interpolated = typeof given === 'string' && isScalar(node) && node.value !== given;
    const read = interpolated ? readFromText(key, given) : readTyped(key, given);
    if ('reason' in read) return this.#problem(node, key.path, read.reason);
    this.#layer.entries.set(key.path, { value: read.value, origin: this.#place(node) });
  }

  /** The value of a leaf; a list of scalars is the deepest that a key may hold. */
  #plain(node: Node, path: string): unknown {
    if (isScalar(node))
      return typeof node.value === 'string' ? this.#interpolate(node, node.value, path) : node.value;
    if (!isSeq(node)) return {};
    return node.items.map((item) => {
      const resolved = this.#resolve(item as Node);
      return isScalar(resolved) ? this.#plain(resolved, path) : {};
    });
  }

  /** `${NAME}` and `${NAME:-default}`; what comes out is not looked at again. */
  #interpolate(node: Node, text: string, path: string): string {
    return text.replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_all, name: string, fallback?: string) => {
        const value = this.#env[name];
        if (value !== undefined && value !== '') return value;
        if (fallback !== undefined) return fallback;
        if (value === undefined)
          this.#warning(node, path, `environment variable ${name} is not set; read as empty`);
        return '';
      },
    );
  }

  #unknown(pair: Pair, path: string): void {
    const known = [...keysByPath.keys(), ...sections];
    const guess = nearest(path, known);
    this.#warning(
      pair.key as Node,
      path,
      guess ? `is not a known key; did you mean ${guess}?` : 'is not a known key',
    );
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
