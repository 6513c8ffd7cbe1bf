import {
  type Document,
  isMap,
  isNode,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
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
 * A YAML or JSON file with a map (or a list) at the top, parsed as a safe subset: no custom tags, merge keys or duplicate keys.
 * Nodes keep their position; aliases are not expanded.
 */
export class SafeYaml {
  /** Null if there are problems. */
  readonly root: YAMLMap | null;
  /** The list at the top where one is accepted; `root` is null then. */
  readonly list: YAMLSeq | null = null;
  readonly problems: YamlProblem[] = [];
  readonly #lines = new LineCounter();
  readonly #linesBefore: number;

  /**
   * @param maxBytes a longer text is not parsed at all
   * @param options.lists accepts a list at the top, too
   * @param options.linesBefore lines of the file that precede the text, if it is one of several documents
   */
  constructor(text: string, maxBytes: number, needs: string, { lists = false, linesBefore = 0 } = {}) {
    this.root = null;
    this.#linesBefore = linesBefore;
    if (Buffer.byteLength(text) > maxBytes) {
      const message = `the file is larger than ${sizeText(maxBytes)}`;
      this.problems.push({ type: 'size', message, ...this.placeAt(0) });
      return;
    }
    const contents = this.#parse(text);
    if (isMap(contents)) this.root = contents;
    else if (lists && isSeq(contents)) this.list = contents;
    else if (contents !== undefined) {
      const what = contents === null ? 'is empty' : `is not a ${lists ? 'list' : 'map'}`;
      const message = `the document ${what}; it needs ${needs}`;
      this.problems.push({ type: 'form', message, ...this.placeAt(0) });
    }
  }

  /** @returns undefined if there are problems */
  #parse(text: string): ParsedNode | null | undefined {
    const document = parseDocument(text, {
      lineCounter: this.#lines,
      uniqueKeys: true,
      merge: false,
      schema: 'core',
      resolveKnownTags: false,
      prettyErrors: false,
    });
    return this.#noteProblems(document) ? document.contents : undefined;
  }

  /** @returns whether there were none */
  #noteProblems(document: Document.Parsed<ParsedNode>): boolean {
    const problems = [...document.errors, ...document.warnings];
    // On stack overflow the parser reports dozens of follow-up problems.
    const tooDeep = problems.find(({ message }) => /call stack|stack overflow/i.test(message));
    const reported = tooDeep ? [tooDeep] : problems;
    for (const { message, pos } of reported) {
      const text = tooDeep ? 'the document is nested too deeply' : message;
      this.problems.push({ type: 'syntax', message: text, ...this.placeAt(pos[0]) });
    }
    return reported.length === 0;
  }

  /** Start position of a node; otherwise the start of the file. */
  placeOf(node: unknown): Position {
    const range = isNode(node) ? (node as Node).range : null;
    return this.placeAt(range?.[0] ?? 0);
  }

  /** @param offset in the text, from 0 */
  placeAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: this.#linesBefore + Math.max(1, line), column: Math.max(1, col) };
  }
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`;
}
