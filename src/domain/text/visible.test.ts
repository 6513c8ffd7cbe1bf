import { expect, it } from 'vitest';
import { visibleLines, visibleText } from './visible.ts';

it('shows what would move a cursor, hide text or turn its direction', () => {
  expect(visibleText('a\x1b[2J\x9b\u202eb\u200b\u2028\ud800\tü\u{1f600}')).toBe(
    'a\\x1b[2J\\x9b\\u{202e}b\\u{200b}\\u{2028}\\u{d800}\\x09ü\u{1f600}',
  );
});

it('keeps lines and tabs where they are asked for', () => {
  expect(visibleLines('a\r\nb\rc\n\td\x00')).toBe('a\nb\nc\n\td\\x00');
});
