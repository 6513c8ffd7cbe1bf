import { expect, it } from 'vitest';
import { visibleJson, visibleLines, visibleMarkup, visibleText } from './visible.ts';

it('shows what would move a cursor, hide text or turn its direction', () => {
  expect(visibleText('a\x1b[2J\x9b\u202eb\u200b\u2028\ud800\tü\u{1f600}')).toBe(
    'a\\x1b[2J\\x9b\\u{202e}b\\u{200b}\\u{2028}\\u{d800}\\x09ü\u{1f600}',
  );
});

it('keeps lines and tabs where they are asked for', () => {
  expect(visibleLines('a\r\nb\rc\n\td\x00')).toBe('a\nb\nc\n\td\\x00');
});

it.each([
  ['Hangul filler', '\u3164', '\\u{3164}'],
  ['Hangul choseong filler', '\u115f', '\\u{115f}'],
  ['half-width Hangul filler', '\uffa0', '\\u{ffa0}'],
  ['combining grapheme joiner', '\u034f', '\\u{34f}'],
  ['Khmer inherent vowel', '\u17b4', '\\u{17b4}'],
  ['Mongolian variation selector', '\u180b', '\\u{180b}'],
  ['variation selector', '\ufe0f', '\\u{fe0f}'],
  ['variation selector of the supplement', '\u{e0101}', '\\u{e0101}'],
  ['blank braille', '\u2800', '\\u{2800}'],
  ['musical null note', '\u{1d159}', '\\u{1d159}'],
  ['soft hyphen', '\u00ad', '\\xad'],
  ['unassigned, ignorable', '\u{e0fff}', '\\u{e0fff}'],
])('shows a %s', (_name, character, shown) => {
  const text = `pay${character}pal`;
  expect(visibleText(text)).toBe(`pay${shown}pal`);
  expect(visibleLines(text)).toBe(`pay${shown}pal`);
  expect(visibleMarkup(text)).toBe(`pay${shown}pal`);
  const json = visibleJson(JSON.stringify(text));
  expect(json).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(json)).toBe(text);
});

it('cuts floods of combining marks and leaves the writing of people alone', () => {
  const flood = `a${'\u0301'.repeat(1000)}b`;
  expect(visibleText(flood)).toBe(`a${'\u0301'.repeat(4)}…b`);
  expect(visibleMarkup(`${flood}\n${flood}`)).toBe(`a${'\u0301'.repeat(4)}…b\na${'\u0301'.repeat(4)}…b`);
  const json = visibleJson(JSON.stringify(flood));
  expect(JSON.parse(json)).toBe(flood);
  expect(json.match(/\u0301/g)).toHaveLength(4);
  for (const word of ['Việt Nam', 'שָׁלוֹם', 'ภาษาไทย', 'हिन्दी', '한국어', 'བོད་ཡིག', '⠓⠑⠇⠇⠕', '日本語'])
    expect(visibleText(word.normalize('NFD'))).toBe(word.normalize('NFD'));
});

it('reads a million marks in one pass', () => {
  const marks = '\u0301'.repeat(1_000_000);
  expect(visibleText(marks)).toHaveLength(5);
});
