import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import type { Registry } from '../registry.ts';
import { type Graph, type GraphIssue, loadGraph, maxGraphBytes } from './graph.ts';
import {
  type InstalledFolder,
  type InstalledFolders,
  listInstalled,
  readInstalled,
} from './installed-files.ts';
import {
  installedName,
  loadProfile,
  maxProfileBytes,
  type ProfileIssue,
  type ProfileSettings,
} from './profile-file.ts';
import { validateGraph } from './validate.ts';

/** An installed graph file. */
export interface LibraryEntry {
  name: string;
  description: string;
  /** `profile` if scans may use it as a profile, else `dag`. */
  kind: 'profile' | 'dag';
  aliases: string[];
  /** `builtin`, or the kind of folder it is in. */
  source: string;
  file: string;
  graph: Graph;
  /** Content of the file. */
  text: string;
}

/** A profile for scans: a builtin graph, or a profile file. */
export interface ProfileEntry {
  name: string;
  description: string;
  aliases: string[];
  source: string;
  file: string;
  /** Name of its graph. */
  dag: string;
  graph: Graph;
  /** Null for a builtin profile: its graph contains all settings. */
  settings: ProfileSettings | null;
  text: string;
}

/** An installed file that was skipped, or whose previous version stays in force. */
export interface LibraryProblem {
  source: string;
  /** `file:line:column: message`, one line per problem. */
  message: string;
}

/** The installed graphs and profiles. Builtin profiles are just graphs. */
export class GraphLibrary {
  readonly #graphs = new Map<string, LibraryEntry>();
  readonly #profiles = new Map<string, ProfileEntry>();
  readonly problems: LibraryProblem[] = [];

  /**
   * Reads every graph file of a folder; all must be valid, as they ship with the program.
   * @throws PortolanError `configuration`, or `invalid_request` for an invalid one
   */
  static async load(dir: string, source: string, registry: Registry): Promise<GraphLibrary> {
    const library = new GraphLibrary();
    for (const file of await graphFiles(dir)) {
      const path = join(dir, file);
      library.#addBuiltin(readEntry(await readFile(path, 'utf8'), path, source, registry));
    }
    return library;
  }

  /** The same with only one profile, or null if no file has that name: a scan needs only its own profile. */
  static async loadProfile(
    dir: string,
    source: string,
    registry: Registry,
    name: string,
  ): Promise<GraphLibrary | null> {
    const file = (await graphFiles(dir)).find((file) => nameOfFile(file) === name);
    if (file === undefined) return null;
    const path = join(dir, file);
    const library = new GraphLibrary();
    library.#addBuiltin(readEntry(await readFile(path, 'utf8'), path, source, registry));
    return library.profile(name) === undefined ? null : library;
  }

  #addBuiltin(entry: LibraryEntry): void {
    const { name, description, aliases, source, file, graph, text } = entry;
    for (const called of [name, ...aliases]) {
      const other = this.#graphs.get(called);
      if (other) throw new PortolanError('configuration', `${file}: "${called}" is also ${other.file}`);
      this.#graphs.set(called, entry);
      if (entry.kind !== 'profile') continue;
      const profile = { name, description, aliases, source, file, dag: name, graph, settings: null, text };
      this.#profiles.set(called, profile);
    }
  }

  /**
   * These graphs and profiles and those in folders. A later folder overrides an earlier one; builtin names are
   * reserved. An invalid file is reported in `problems` and skipped.
   * @param before the previous library: a file that was valid before stays in force in that version
   */
  async withInstalled(
    folders: InstalledFolders,
    registry: Registry,
    before: GraphLibrary | null = null,
  ): Promise<GraphLibrary> {
    const library = this.#copy();
    for (const folder of folders.dags) {
      await library.#addFolder(folder, {
        isBuiltin: (name) => isBuiltin(this.#graphs.get(name)),
        entries: library.#graphs,
        before: before === null ? [] : before.list(),
        read: async (file) => {
          const entry = readEntry(await readInstalled(file, maxGraphBytes), file, folder.source, registry);
          return { ...entry, kind: 'dag' as const, aliases: [] };
        },
      });
    }
    for (const folder of folders.profiles) {
      await library.#addFolder(folder, {
        isBuiltin: (name) => isBuiltin(this.#profiles.get(name)),
        entries: library.#profiles,
        before: before === null ? [] : before.profiles(),
        read: (file) => library.#readProfile(file, folder.source, registry),
      });
    }
    return library;
  }

  /** These and one more profile. @throws PortolanError with every problem of the file and its position */
  async withProfile(file: string, registry: Registry): Promise<{ library: GraphLibrary; name: string }> {
    const library = this.#copy();
    const entry = await library.#readProfile(file, 'file', registry);
    if (isBuiltin(this.#profiles.get(entry.name))) throw takenName(file, entry.name);
    library.#profiles.set(entry.name, entry);
    return { library, name: entry.name };
  }

  #copy(): GraphLibrary {
    const library = new GraphLibrary();
    for (const [name, entry] of this.#graphs) library.#graphs.set(name, entry);
    for (const [name, entry] of this.#profiles) library.#profiles.set(name, entry);
    library.problems.push(...this.problems);
    return library;
  }

  async #addFolder<E extends { name: string; file: string }>(
    { dir, source }: InstalledFolder,
    to: FolderShelf<E>,
  ): Promise<void> {
    const { files, problems } = await listInstalled(dir);
    const report = (message: string) => this.problems.push({ source, message });
    for (const problem of problems) report(problem);
    const here = new Map<string, E>();
    for (const file of files) {
      try {
        const entry = await to.read(file);
        checkName(entry, to.isBuiltin, here);
        here.set(entry.name, entry);
      } catch (error) {
        if (!(error instanceof PortolanError)) throw error;
        const old = to.before.find((entry) => entry.file === file);
        const keeps = old !== undefined && !here.has(old.name);
        if (keeps) here.set(old.name, old);
        report(`${error.message}${keeps ? '\n(the previous version stays in force)' : ''}`);
      }
    }
    for (const [name, entry] of here) to.entries.set(name, entry);
  }

  async #readProfile(file: string, source: string, registry: Registry): Promise<ProfileEntry> {
    const text = await readInstalled(file, maxProfileBytes);
    const { profile, issues } = loadProfile(text, nameOfFile(file), registry, [...this.#graphs.keys()]);
    const { name, description, dag, settings } = profile;
    const graph = this.#graphs.get(dag)?.graph;
    if (issues.length > 0 || !graph) throw rejection(file, issues.map(formatProfileIssue), issues);
    return { name, description, aliases: [], source, file, dag, graph, settings, text };
  }

  get(name: string): LibraryEntry | undefined {
    return this.#graphs.get(name);
  }

  profile(name: string): ProfileEntry | undefined {
    return this.#profiles.get(name);
  }

  /** All graphs, including builtin profiles. */
  list(): LibraryEntry[] {
    return [...new Set(this.#graphs.values())];
  }

  profiles(): ProfileEntry[] {
    return [...new Map([...this.#profiles.values()].map((entry) => [entry.name, entry])).values()];
  }

  profileNames(): string[] {
    return this.profiles().flatMap((entry) => [entry.name, ...entry.aliases]);
  }
}

async function graphFiles(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
}

/** Destination of the entries of a folder. */
interface FolderShelf<E> {
  /** Names reserved for builtin entries. */
  isBuiltin(name: string): boolean;
  entries: Map<string, E>;
  before: readonly E[];
  /** @throws PortolanError */
  read(file: string): Promise<E>;
}

function checkName<E extends { name: string; file: string }>(
  { name, file }: E,
  isBuiltinName: (name: string) => boolean,
  here: ReadonlyMap<string, E>,
): void {
  if (!installedName.test(name)) {
    const rule = 'must be 1 to 64 of a-z, 0-9, _ and -, and start with a letter or digit';
    throw new PortolanError(
      'invalid_request',
      `${file}:1:1: name: ${JSON.stringify(name.slice(0, 80))} ${rule}`,
    );
  }
  if (isBuiltinName(name)) throw takenName(file, name);
  const other = here.get(name);
  if (other)
    throw new PortolanError('invalid_request', `${file}:1:1: name: ${basename(other.file)} is "${name}" too`);
}

function isBuiltin(entry: { source: string } | undefined): boolean {
  return entry?.source === 'builtin';
}

function takenName(file: string, name: string): PortolanError {
  return new PortolanError('invalid_request', `${file}:1:1: name: "${name}" is builtin; choose another name`);
}

function readEntry(text: string, file: string, source: string, registry: Registry): LibraryEntry {
  const graph = readValidGraph(text, file, registry);
  const { kind, aliases } = graph.metadata;
  return {
    name: graph.name,
    description: graph.description,
    kind: kind === 'profile' ? 'profile' : 'dag',
    aliases: Array.isArray(aliases) ? aliases.map(String) : [],
    source,
    file,
    graph,
    text,
  };
}

/**
 * Parses a graph that must be valid.
 * @throws PortolanError `invalid_request` with every problem and its position
 */
export function readValidGraph(text: string, file: string, registry: Registry): Graph {
  const { graph, issues } = loadGraph(text, nameOfFile(file));
  const errors = issues.length > 0 ? issues : validateGraph(graph, registry).errors;
  if (errors.length === 0) return graph;
  throw rejection(
    file,
    errors.map(formatIssue),
    errors.map((error) => ({ field: issueField(error), message: error.message })),
  );
}

function rejection(
  file: string,
  lines: string[],
  problems: readonly { field: string; message: string }[],
): PortolanError {
  return new PortolanError('invalid_request', lines.map((line) => `${file}:${line}`).join('\n'), {
    fields: problems.map(({ field, message }) => ({ field, reason: message })),
  });
}

function nameOfFile(file: string): string {
  return basename(file).replace(/\.\w+$/, '');
}

/** `line:column: node "x", config.ports: message (fix)` */
export function formatIssue(issue: GraphIssue): string {
  const place = [issue.node_id && `node "${issue.node_id}"`, issue.field].filter(Boolean).join(', ');
  const fix = issue.fix ? ` (${issue.fix})` : '';
  return `${issue.line}:${issue.column}: ${place ? `${place}: ` : ''}${issue.message}${fix}`;
}

function formatProfileIssue({ line, column, field, message }: ProfileIssue): string {
  return `${line}:${column}: ${field ? `${field}: ` : ''}${message}`;
}

function issueField(issue: GraphIssue): string {
  return ['dag', issue.node_id, issue.field].filter(Boolean).join('.');
}
