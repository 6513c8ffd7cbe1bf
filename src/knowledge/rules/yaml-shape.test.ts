import { expect, test } from 'vitest';
import { shapeProblem } from './yaml-shape.ts';

test('ordinary files may be parsed', () => {
  const rule = `- id: x\n  pattern: '[[{{(((['\n  examples:\n    - { text: "[[[[", facts: { a: [b] } }\n`;
  expect(shapeProblem(rule.repeat(1000))).toBeNull();
  expect(shapeProblem(`signatures:\n${' '.repeat(150)}- a\n`)).toBeNull();
  expect(shapeProblem(`{ ${'a: 1, '.repeat(50)} }`)).toBeNull();
  expect(shapeProblem('')).toBeNull();
});

test.each([
  ['brackets', `- a\n- ${'['.repeat(2_000_000)}`, 2],
  ['braces', `${'{a: '.repeat(1_000_000)}`, 1],
  ['dashes', `- a\n\n${'- '.repeat(1_000_000)}`, 3],
  ['question marks', '? '.repeat(1_000_000), 1],
  ['colons', `- a\n- ${'a: '.repeat(1_000_000)}`, 2],
  ['ever deeper lines', Array.from({ length: 2000 }, (_, depth) => `${' '.repeat(depth)}- `).join('\n'), 202],
  ['empty items', '-\n'.repeat(1_000_000), 250_000],
])('%s without an end are told in one pass, before they are parsed', (_, text, line) => {
  expect(shapeProblem(text)).toMatchObject({
    line,
    reason: expect.stringMatching(/nested too deeply|more than 500000/),
  });
});
