import {
  type Document,
  isMap,
  isNode,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
} from 'yaml';

/** A position in a file, line and column from 1. */
export interface Position {
  line: number;
  column: number;
}

export interface YamlProblem extends Position {
  /** `form`: the document is empty or not a map. */
  type: 'size' | 'syntax' | 'form';
  message: string;
}

/**
 * A YAML or JSON file with a map at the top, parsed as a safe subset: no custom tags, merge keys or duplicate keys.
 * Nodes keep their position; aliases are not expanded.
 */
export class SafeYaml {
  /** Null if there are problems. */
  readonly root: YAMLMap | null;
  readonly problems: YamlProblem[] = [];
  readonly #lines = new LineCounter();

  /** @param maxBytes a longer text is not parsed at all */
  constructor(text: string, maxBytes: number, needs: string) {
    if (Buffer.byteLength(text) > maxBytes) {
      const message = `the file is larger than ${sizeText(maxBytes)}`;
      this.problems.push({ type: 'size', message, line: 1, column: 1 });
      this.root = null;
    } else this.root = this.#parse(text, needs);
  }

  #parse(text: string, needs: string): YAMLMap | null {
    const document = parseDocument(text, {
      lineCounter: this.#lines,
      uniqueKeys: true,
      merge: false,
      schema: 'core',
      resolveKnownTags: false,
      prettyErrors: false,
    });
    if (!this.#noteProblems(document)) return null;
    if (isMap(document.contents)) return document.contents;
    const what = document.contents === null ? 'is empty' : 'is not a map';
    const message = `the document ${what}; it needs ${needs}`;
    this.problems.push({ type: 'form', message, line: 1, column: 1 });
    return null;
  }

  /** @returns whether there were none */
  #noteProblems(document: Document.Parsed<ParsedNode>): boolean {
    const problems = [...document.errors, ...document.warnings];
    // On stack overflow the parser reports dozens of follow-up problems.
    const tooDeep = problems.find(({ message }) => /call stack|stack overflow/i.test(message));
    const told = tooDeep ? [tooDeep] : problems;
    for (const { message, pos } of told) {
      const text = tooDeep ? 'the document is nested too deeply' : message;
      this.problems.push({ type: 'syntax', message: text, ...this.#at(pos[0]) });
    }
    return told.length === 0;
  }

  /** Start position of a node; otherwise the start of the file. */
  placeOf(node: unknown): Position {
    const range = isNode(node) ? (node as Node).range : null;
    return this.#at(range?.[0] ?? 0);
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`;
}
