import { expect, test } from 'vitest';
import { plainText } from './plain-text.ts';

test('runs of unprintable characters become one space and are trimmed at the ends', () => {
  expect(plainText('\0\x1b[31mred\x1b[0m\r\n\tend\u202e')).toBe('[31mred [0m end');
});

test('a text is truncated at its limit', () => {
  expect(plainText('x'.repeat(600))).toHaveLength(512);
  expect(plainText('long text', 4)).toBe('long');
});
