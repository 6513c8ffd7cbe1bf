import { readFileSync } from 'node:fs';
import { printable } from './draw/printable.ts';

/** A problem at a position of a file. */
export interface SourceProblem {
  file: string;
  line: number;
  column: number;
  severity: 'error' | 'warning';
  message: string;
  /** Behind the carets. */
  hint?: string | undefined;
}

/** Maximum columns of a shown line. */
const maxColumns = 200;

/** The problems in the order of their positions, each with the line and carets below the word, and how many there are. */
export function problemLines(problems: readonly SourceProblem[]): string {
  const sorted = [...problems].sort(
    (a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column,
  );
  const texts = new Map<string, string[]>();
  const lines = sorted.map((problem) => {
    if (!texts.has(problem.file)) texts.set(problem.file, linesOf(problem.file));
    return problemText(problem, texts.get(problem.file)?.[problem.line - 1]);
  });
  return `${lines.join('')}${tally(problems)}\n`;
}

export function tally(problems: readonly Pick<SourceProblem, 'severity'>[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;
  return [errors > 0 ? counted(errors, 'error') : '', warnings > 0 ? counted(warnings, 'warning') : '']
    .filter(Boolean)
    .join(', ');
}

function problemText({ file, line, column, severity, message, hint }: SourceProblem, text?: string): string {
  const head = `${printable(file)}:${line}:${column}: ${severity}: ${printable(message)}`;
  if (text === undefined || text.length > maxColumns)
    return `${head}${hint ? ` (${printable(hint)})` : ''}\n`;
  const gutter = `  ${line} | `;
  const margin = `${' '.repeat(gutter.length - 2)}| `;
  const word = /^(?:"[^"]*"|'[^']*'|[^\s,:{}[\]#]+)/.exec(text.slice(column - 1))?.[0] ?? ' ';
  const carets = `${' '.repeat(printable(text.slice(0, column - 1)).length)}${'^'.repeat(printable(word).length)}`;
  return `${head}\n${gutter}${printable(text)}\n${margin}${carets}${hint ? ` ${printable(hint)}` : ''}\n`;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/);
  } catch {
    return [];
  }
}

/** `file:line:column path: message`, as problems of a configuration are written; null for those of other sources. */
export function problemFrom(text: string, severity: SourceProblem['severity']): SourceProblem | null {
  const [, file, line, column, rest = ''] = /^(.+?):(\d+):(\d+):? (.*)$/s.exec(text) ?? [];
  if (file === undefined) return null;
  const [before, guess] = withoutGuess(rest);
  const message = before.replace(/^(\S+): unknown key$/, 'unknown key $1');
  return { file, line: Number(line), column: Number(column), severity, message, hint: guess };
}

/** A message, and the `did you mean …?` at its end, with or without parentheses. */
function withoutGuess(text: string): [message: string, guess: string | undefined] {
  const at = text.lastIndexOf('did you mean ');
  const guess = /^did you mean [^?]{1,200}\?(?=\)?$)/.exec(at < 0 ? '' : text.slice(at))?.[0];
  if (guess === undefined) return [text, undefined];
  return [text.slice(0, at).replace(/[;,]? \(?$/, ''), guess];
}
