import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf, fit, jsonSafe, linesSafe, pad, printable, printableLines } from './printable.ts';

/** Terminal escapes in a hostile banner. */
const escapes = [
  '\x1b[2J\x1b[H',
  '\x1b]0;title\x07',
  '\x1b]8;;http://evil.example\x07link',
  '\x1b]52;c;ZXZpbA==\x07',
  'visible\b\b\b\b\b\b\bhidden!',
  '\x9b31mred',
  'del\x7f',
  'abc\u202egpj.exe',
  'zero\u200bwidth\u2028line\u2029paragraph\ufeff',
  'tag\u{e0041}',
  'fillers\u3164\u115f\u2800\ufe0f',
  `marks${'\u0301'.repeat(100)}`,
];
const dangerous = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\u2800]|\p{M}{5}/u;

describe('printable', () => {
  it.each(escapes)('makes every control visible (%j)', (text) => {
    expect(printable(text)).not.toMatch(dangerous);
  });

  it('shows bytes as \\xNN and wider characters as \\u{...}', () => {
    expect(printable('a\x1bb\x9bc\u202ed')).toBe('a\\x1bb\\x9bc\\u{202e}d');
    expect(printable('line\r\nend\t')).toBe('line\\x0d\\x0aend\\x09');
    expect(printable('\ud800')).toBe('\\u{d800}');
  });

  it('leaves text of any script alone', () => {
    expect(printable('Grüße, мир, 世界 ✓')).toBe('Grüße, мир, 世界 ✓');
  });

  it('keeps the line ends of lines', () => {
    expect(printableLines('a\x1b\nb\r\nc')).toBe('a\\x1b\nb\nc');
  });

  it('never lets a control through', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !dangerous.test(printable(text))));
  });
});

describe('jsonSafe', () => {
  it('has no raw control byte and the same meaning', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = jsonSafe(JSON.stringify({ text }));
        expect(json).not.toMatch(dangerous);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });

  it('escapes DEL and C1, which JSON.stringify does not', () => {
    expect(jsonSafe(JSON.stringify('\x7f\x9b'))).toBe('"\\u007f\\u009b"');
  });
});

describe('linesSafe', () => {
  it('keeps row ends and shows everything else', () => {
    expect(linesSafe('a,\x1b[2J\r\nb,\x9b\u202e\r\n')).toBe('a,\\x1b[2J\r\nb,\\x9b\\u{202e}\r\n');
  });
});

describe('columns', () => {
  it('counts wide and combining characters', () => {
    expect(columnsOf('abc')).toBe(3);
    expect(columnsOf('世界')).toBe(4);
    expect(columnsOf('e\u0301')).toBe(1);
  });

  it('cuts to a width and shows that it did', () => {
    expect(fit('abcdef', 6)).toBe('abcdef');
    expect(fit('abcdefg', 6)).toBe('abcde…');
    expect(fit('世界世界', 5)).toBe('世界…');
    expect(fit('abc', 0)).toBe('');
  });

  it('fills up to a width', () => {
    expect(pad('世', 4)).toBe('世  ');
    expect(pad('abc', 2)).toBe('abc');
  });
});
