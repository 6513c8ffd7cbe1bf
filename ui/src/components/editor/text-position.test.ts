import { expect, it } from 'vitest';
import type { EditorProblem } from './editor-props.ts';
import { indentAfter, lineAt, markedLength, nextProblem, offsetAt } from './text-position.ts';

const text = 'name: x\nnodes:\n  - id: a\n';
const problem = (line: number, column = 1): EditorProblem => ({
  severity: 'error',
  line,
  column,
  message: '',
});

it('finds places', () => {
  expect(offsetAt(text, 2, 1)).toBe(8);
  expect(offsetAt(text, 99, 99)).toBe(text.length);
  expect(offsetAt(text, 0, 0)).toBe(0);
  expect(lineAt(text, 0)).toBe(1);
  expect(lineAt(text, 8)).toBe(2);
  expect(lineAt(text, text.length)).toBe(4);
});

it('goes from problem to problem and around', () => {
  const problems = [problem(20), problem(14)];
  expect(nextProblem(problems, 1, 1)?.line).toBe(14);
  expect(nextProblem(problems, 14, 1)?.line).toBe(20);
  expect(nextProblem(problems, 20, 1)?.line).toBe(14);
  expect(nextProblem(problems, 14, -1)?.line).toBe(20);
  expect(nextProblem([], 1, 1)).toBeNull();
});

it('marks the word of a problem', () => {
  expect(markedLength('max_bytes: 64k }', problem(1, 12))).toBe(3);
  expect(markedLength('depends_on: [baners]', problem(1, 14))).toBe(6);
  expect(markedLength('', problem(1, 5))).toBe(1);
});

it('indents new lines', () => {
  expect(indentAfter(text, 14)).toBe('  ');
  expect(indentAfter(text, 24)).toBe('  ');
  expect(indentAfter(text, 3)).toBe('');
});
