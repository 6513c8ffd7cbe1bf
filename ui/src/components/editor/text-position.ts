import type { EditorProblem } from './editor-props.ts';

/** Characters before a line and column, both from 1; within the text. */
export function offsetAt(text: string, line: number, column: number): number {
  const lines = text.split('\n');
  const row = Math.max(1, Math.min(lines.length, line)) - 1;
  const before = lines.slice(0, row).reduce((sum, each) => sum + each.length + 1, 0);
  return before + Math.max(0, Math.min(lines[row]?.length ?? 0, column - 1));
}

/** Line of a character, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** The problem after (or before) a line, around the ends; null without problems. */
export function nextProblem(
  problems: readonly EditorProblem[],
  line: number,
  step: 1 | -1,
): EditorProblem | null {
  const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
  if (step > 0) return sorted.find((each) => each.line > line) ?? sorted[0] ?? null;
  return sorted.findLast((each) => each.line < line) ?? sorted.at(-1) ?? null;
}

/** Characters that a problem marks: to the end of the word at its column, at least one. */
export function markedLength(lineText: string, { column, length }: EditorProblem): number {
  if (length !== undefined) return Math.max(1, length);
  const word = /^[^\s,\]}:]+/.exec(lineText.slice(Math.max(0, column - 1)));
  return Math.max(1, word?.[0].length ?? 1);
}

/** Blanks that a new line begins with: those of the line before, two more behind a colon. */
export function indentAfter(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const own = /^ */.exec(line)?.[0] ?? '';
  return /:\s*$/.test(line) ? `${own}  ` : own;
}
