import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PortolanError } from '../domain/errors.ts';
import { type Graph, type GraphIssue, loadGraph } from './graph.ts';
import type { Registry } from './registry.ts';
import { validateGraph } from './validate.ts';

/** An installed graph file. */
export interface LibraryEntry {
  name: string;
  description: string;
  /** `profile` when scans may name it as one, else `dag`. */
  kind: 'profile' | 'dag';
  aliases: string[];
  source: string;
  file: string;
  graph: Graph;
}

/** The installed graphs: builtin profiles are such files, nothing more. */
export class GraphLibrary {
  readonly #entries = new Map<string, LibraryEntry>();

  /**
   * Reads every graph file of a folder.
   * @throws PortolanError `configuration` when one of them is not valid
   */
  static async load(dir: string, source: string, registry: Registry): Promise<GraphLibrary> {
    const library = new GraphLibrary();
    const files = (await readdir(dir)).filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
    for (const file of files) library.#add(await readEntry(join(dir, file), source, registry));
    return library;
  }

  #add(entry: LibraryEntry): void {
    for (const name of [entry.name, ...entry.aliases]) {
      const other = this.#entries.get(name);
      if (other) throw new PortolanError('configuration', `${entry.file}: "${name}" is also ${other.file}`);
      this.#entries.set(name, entry);
    }
  }

  get(name: string): LibraryEntry | undefined {
    return this.#entries.get(name);
  }

  profile(name: string): LibraryEntry | undefined {
    const entry = this.#entries.get(name);
    return entry?.kind === 'profile' ? entry : undefined;
  }

  list(): LibraryEntry[] {
    return [...new Set(this.#entries.values())];
  }

  profileNames(): string[] {
    return this.list()
      .filter((entry) => entry.kind === 'profile')
      .flatMap((entry) => [entry.name, ...entry.aliases]);
  }
}

async function readEntry(file: string, source: string, registry: Registry): Promise<LibraryEntry> {
  const graph = readValidGraph(await readFile(file, 'utf8'), file, registry);
  const { kind, aliases } = graph.metadata;
  return {
    name: graph.name,
    description: graph.description,
    kind: kind === 'profile' ? 'profile' : 'dag',
    aliases: Array.isArray(aliases) ? aliases.map(String) : [],
    source,
    file,
    graph,
  };
}

/**
 * A graph without errors.
 * @throws PortolanError `invalid_request` that lists every problem with its place
 */
export function readValidGraph(text: string, file: string, registry: Registry): Graph {
  const { graph, issues } = loadGraph(text, basename(file).replace(/\.\w+$/, ''));
  const errors = issues.length > 0 ? issues : validateGraph(graph, registry).errors;
  if (errors.length === 0) return graph;
  const lines = errors.map((error) => `${file}:${formatIssue(error)}`);
  throw new PortolanError('invalid_request', lines.join('\n'), {
    fields: errors.map((error) => ({ field: issueField(error), reason: error.message })),
  });
}

/** `line:column: node "x", config.ports: message (fix)` */
export function formatIssue(issue: GraphIssue): string {
  const place = [issue.node_id && `node "${issue.node_id}"`, issue.field].filter(Boolean).join(', ');
  const fix = issue.fix ? ` (${issue.fix})` : '';
  return `${issue.line}:${issue.column}: ${place ? `${place}: ` : ''}${issue.message}${fix}`;
}

function issueField(issue: GraphIssue): string {
  return ['dag', issue.node_id, issue.field].filter(Boolean).join('.');
}
