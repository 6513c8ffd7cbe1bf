import { expect, test } from 'vitest';
import { plainText } from './plain-text.ts';

test('what cannot be printed becomes one space, and none at the ends', () => {
  expect(plainText('\0\x1b[31mred\x1b[0m\r\n\tend\u202e')).toBe('[31mred [0m end');
});

test('a text is cut at its limit', () => {
  expect(plainText('x'.repeat(600))).toHaveLength(512);
  expect(plainText('long text', 4)).toBe('long');
});
