import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutEnd, cutMiddle, visibleText } from './target-text.ts';

it('control characters are shown as they are written in code', () => {
  expect(visibleText('a\x1b[31mred\r\n\t\0\x7f\x9b')).toBe('a\\x1b[31mred\\x0d\\x0a\\x09\\x00\\x7f\\x9b');
});

it('what turns or hides text is shown', () => {
  expect(visibleText('exe.\u202egpj')).toBe('exe.\\u{202e}gpj');
  expect(visibleText('a\u200bb\ufeff\u2066\u{e0041}')).toBe('a\\u{200b}b\\u{feff}\\u{2066}\\u{e0041}');
  expect(visibleText('half \ud83d')).toBe('half \\u{d83d}');
});

it('other scripts and signs stay', () => {
  const text = 'Müller 東京 עברית 🛰';
  expect(visibleText(text)).toBe(text);
});

it('addresses lose their middle', () => {
  expect(cutMiddle('192.168.20.14', 20)).toBe('192.168.20.14');
  expect(cutMiddle('2001:db8:20:4:0:a21b:5efe:31a7', 20)).toBe('2001:db8:20:…fe:31a7');
});

it('names lose their end', () => {
  expect(cutEnd('sw-core-1.mgmt.berlin.example.net', 20)).toBe('sw-core-1.mgmt.berl…');
  expect(cutEnd('🛰🛰🛰', 2)).toBe('🛰…');
});

it('what is cut is never longer than asked for, and no character is torn', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.integer({ min: 4, max: 200 }),
      (text, length) => {
        for (const cut of [cutEnd(text, length), cutMiddle(text, length)]) {
          expect([...cut].length).toBeLessThanOrEqual(length);
          expect(cut.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});

it('nothing invisible is left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visibleText(text)).not.toMatch(/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/u);
    }),
  );
});
