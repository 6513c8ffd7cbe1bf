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

it.each([
  '\u115f',
  '\u1160',
  '\u3164',
  '\uffa0',
  '\u2800',
  '\u034f',
  '\u17b4',
  '\u180b',
  '\ufe0f',
  '\u{e0100}',
])('shows %j, which is drawn as nothing', (filler) => {
  const code = filler.codePointAt(0)?.toString(16);
  expect(visibleText(`a${filler}${filler}b`)).toBe(`a\\u{${code}}\\u{${code}}b`);
});

it('keeps four combining marks on a character and shows the others', () => {
  expect(visibleText('Z\u0301\u0302\u0303\u0304 ค้ำ')).toBe('Z\u0301\u0302\u0303\u0304 ค้ำ');
  const flood = visibleText(`Z${'\u0301'.repeat(1000)}`);
  expect(flood).toBe(`Z${'\u0301'.repeat(4)}${'\\u{301}'.repeat(996)}`);
});
