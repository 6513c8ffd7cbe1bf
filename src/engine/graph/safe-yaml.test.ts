import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { Composer } from 'yaml';
import { Registry } from '../registry.ts';
import { loadProfile } from './profile-file.ts';
import { SafeYaml } from './safe-yaml.ts';

/** What parses a text. */
const compose = vi.spyOn(Composer.prototype, 'compose');
beforeEach(() => {
  compose.mockClear();
});
afterAll(() => {
  compose.mockRestore();
});

const read = (text: string, options = {}) => new SafeYaml(text, 1024 * 1024, 'a map', options);

it.each([
  ['brackets', `a: 1\nb: ${'['.repeat(60_000)}`, 2],
  ['braces', '{a: '.repeat(15_000), 1],
  ['dashes', '- '.repeat(30_000), 1],
  ['question marks', '? '.repeat(30_000), 1],
])('a text of endless %s is rejected before it is parsed', (_, text, line) => {
  const { root, problems } = read(text);
  expect([root, compose.mock.calls.length]).toEqual([null, 0]);
  expect(problems).toEqual([
    { type: 'syntax', message: 'the document is nested too deeply', line, column: 1 },
  ]);
});

it('a profile of more tokens than a profile may have is not parsed, whatever they are', () => {
  const keys = Array.from({ length: 8000 }, (_, index) => `k${index}:\n`).join('');
  for (const text of [keys, ']'.repeat(60_000), '#\n'.repeat(30_000), '&a '.repeat(20_000)]) {
    const { issues } = loadProfile(text, 'x', new Registry(), []);
    expect(issues.map(({ message }) => message)).toEqual(['the document has more than 5000 tokens']);
  }
  expect(compose).not.toHaveBeenCalled();
});

it('keys are not compared with each other, and repeated ones are found at any depth', () => {
  const { problems } = read('a: 1\nb: { c: 1, "c": 2 }\na: 2\n');
  expect(compose.mock.contexts).toMatchObject([{ options: { uniqueKeys: false } }]);
  expect(problems).toEqual([
    { type: 'syntax', message: 'Map keys must be unique', line: 3, column: 1 },
    { type: 'syntax', message: 'Map keys must be unique', line: 2, column: 12 },
  ]);
  expect(read('a: 1\n1: b\n"1": c\n').problems).toEqual([]);
});

it('a problem of one of several documents has its line in the file', () => {
  expect(read('a: [[', { linesBefore: 6 }).problems[0]).toMatchObject({ line: 7 });
  expect(read('['.repeat(100), { linesBefore: 6 }).problems[0]).toMatchObject({ line: 7 });
});
