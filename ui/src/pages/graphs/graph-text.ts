/** A problem of a graph as the server lists it; lines and columns from 1. */
export interface GraphProblem {
  severity: 'error' | 'warning';
  line: number;
  column: number;
  node: string | null;
  field?: string | null;
  message: string;
  /** What to do about it, in words. */
  fix?: string;
}

/** The word of a text that a problem is about. */
export interface ProblemPlace {
  line: number;
  column: number;
  length?: number;
}

/** A change that the server's advice amounts to. */
export interface Fix {
  /** "Change to banners" */
  label: string;
  text: string;
}

/** Lines below its own in which the word of a problem is looked for: a list may be written below its name. */
const linesOfValue = 12;
const guess = /^did you mean "?([^"?]+)"?\?$/;

/** Where a problem is, to the word if it names one. */
export function placeOf(text: string, problem: GraphProblem): ProblemPlace {
  const { line, column } = problem;
  const found = findWord(text, problem);
  return found === null ? { line, column } : found;
}

/** The advice as a change; null where it is for the reader to follow. */
export function fixOf(text: string, problem: GraphProblem): Fix | null {
  const wanted = guess.exec(problem.fix ?? '')?.[1];
  if (wanted !== undefined) {
    const found = findWord(text, problem);
    return found === null ? null : { label: `Change to ${wanted}`, text: replaced(text, found, wanted) };
  }
  const name = /^write name: (.+)$/.exec(problem.fix ?? '')?.[1];
  return name === undefined ? null : { label: `Change the name to ${name}`, text: renamed(text, name) };
}

/** Line of a node's name, from 1; null if the text has none. */
export function lineOfNode(text: string, id: string): number | null {
  const pattern = new RegExp(`\\binstance_id:\\s*["']?${escaped(id)}["']?\\s*(?:[,}#]|$)`);
  const index = text.split('\n').findIndex((line) => pattern.test(line));
  return index < 0 ? null : index + 1;
}

/** Conditions of nodes, in words: `${vuln} or ${compliance}` is "if vuln or compliance". */
export function conditionsOf(text: string): Map<string, string> {
  const starts = [...text.matchAll(/\binstance_id:\s*["']?([\w-]+)/g)];
  const found = new Map<string, string>();
  starts.forEach((start, index) => {
    const part = text.slice(start.index, starts[index + 1]?.index ?? text.length);
    const condition = /\bcondition:\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^\n,}]+))/.exec(part);
    const value = condition?.[1] ?? condition?.[2] ?? condition?.[3];
    if (value !== undefined)
      found.set(start[1] as string, `if ${value.replace(/\$\{([^}]*)\}/g, '$1').trim()}`);
  });
  return found;
}

/** The text with another name of the graph. */
export function renamed(text: string, name: string): string {
  const line = /^name:.*$/m;
  return line.test(text) ? text.replace(line, `name: ${name}`) : `name: ${name}\n${text}`;
}

/** The text of a new graph. */
export function emptyGraph(name: string): string {
  return `name: ${name}
description: What this graph is for
nodes:
  - instance_id: ping
    module_type: tcp_probe_discovery
  - instance_id: connect
    module_type: connect_scanner
    depends_on: [ping]
  - instance_id: report
    module_type: json_reporter
    depends_on: [connect]
`;
}

/** A node as text, to be put behind the last one. @param taken names of the nodes that are there */
export function nodeText(moduleType: string, taken: readonly string[]): string {
  const base = moduleType.replace(
    /_(?:scanner|parser|grabber|discovery|coordinator|classifier|matcher|checker|reporter)$/,
    '',
  );
  let id = base;
  for (let number = 2; taken.includes(id); number++) id = `${base}_${number}`;
  return `  - instance_id: ${id}\n    module_type: ${moduleType}\n    depends_on: []\n`;
}

function findWord(
  text: string,
  { line, column, field, message }: GraphProblem,
): Required<ProblemPlace> | null {
  const option = field?.startsWith('config.') === true ? field.split('.').at(-1) : undefined;
  const word = option ?? /"([^"]+)"/.exec(message)?.[1];
  if (word === undefined || word === '') return null;
  const pattern = new RegExp(`(?<![\\w-])${escaped(word)}(?![\\w-])`);
  const lines = text.split('\n');
  for (let row = line; row < line + linesOfValue && row <= lines.length; row++) {
    const from = row === line ? Math.max(0, column - 1) : 0;
    const at = (lines[row - 1] ?? '').slice(from).search(pattern);
    if (at >= 0) return { line: row, column: from + at + 1, length: word.length };
  }
  return null;
}

function replaced(text: string, { line, column, length }: Required<ProblemPlace>, word: string): string {
  const lines = text.split('\n');
  const old = lines[line - 1] ?? '';
  lines[line - 1] = old.slice(0, column - 1) + word + old.slice(column - 1 + length);
  return lines.join('\n');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
