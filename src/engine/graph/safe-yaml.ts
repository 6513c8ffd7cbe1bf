import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { shapeProblem } from '../../knowledge/rules/yaml-shape.ts';

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

interface SafeYamlOptions {
  lists?: boolean;
  linesBefore?: number;
  maxTokens?: number | undefined;
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
   * @param options.maxTokens a text with more is not parsed; undefined = that of `shapeProblem`
   */
  constructor(
    text: string,
    maxBytes: number,
    needs: string,
    { lists = false, linesBefore = 0, maxTokens }: SafeYamlOptions = {},
  ) {
    this.root = null;
    this.#linesBefore = linesBefore;
    if (Buffer.byteLength(text) > maxBytes) {
      const message = `the file is larger than ${sizeText(maxBytes)}`;
      this.problems.push({ type: 'size', message, ...this.placeAt(0) });
      return;
    }
    const shape = shapeProblem(text, maxTokens);
    if (shape) {
      const { reason, line } = shape;
      this.problems.push({
        type: 'syntax',
        message: `the document ${reason}`,
        line: linesBefore + line,
        column: 1,
      });
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
      // Compares each key with all others.
      uniqueKeys: false,
      merge: false,
      schema: 'core',
      resolveKnownTags: false,
      prettyErrors: false,
    });
    for (const { message, pos } of [...document.errors, ...document.warnings])
      this.problems.push({ type: 'syntax', message, ...this.placeAt(pos[0]) });
    visit(document, { Map: (_key, map) => this.#noteRepeatedKeys(map) });
    return this.problems.length === 0 ? document.contents : undefined;
  }

  #noteRepeatedKeys({ items }: YAMLMap): void {
    const seen = new Set<unknown>();
    for (const { key } of items) {
      if (!isScalar(key)) continue;
      if (seen.has(key.value))
        this.problems.push({ type: 'syntax', message: 'Map keys must be unique', ...this.placeOf(key) });
      seen.add(key.value);
    }
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
