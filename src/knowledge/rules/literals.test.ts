import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LiteralScan } from './literal-scan.ts';
import { requiredLiterals } from './literals.ts';
import { compileMatcher } from './matcher.ts';
import { builtinRules } from './rule-catalog.ts';

test.each([
  ['^OpenSSH_(?P<v>\\d+)', ['openssh_']],
  ['nginx(?:/x)?', ['nginx']],
  ['a|b', ['a', 'b']],
  ['abc?', ['ab']],
  ['ab{2,3}cd', ['ab']],
  ['x{0,3}cd', ['cd']],
  ['[abc]xyz[^\\]]', ['xyz']],
  ['\\(vsFTPd \\d', ['(vsftpd ']],
  ['(?i)abc', ['abc']],
  ['(?i:abc)d', ['abc']],
  ['^\\xff[\\xfb-\\xfe]', null],
  ['\\x41b', ['ab']],
  ['(foo|bar)baz?', ['foo', 'bar']],
  ['(?:foo|.*)', null],
  ['(?:foo)?\\d', null],
  ['(?:foo)*x', ['x']],
  ['(foo)+', ['foo']],
  ['^(?:Linux|Windows) kernel', [' kernel']],
  ['[[:alpha:]]+ttp', ['ttp']],
  ['a\\Qb.c\\E', null],
  ['\\pLab\\p{Greek}c', ['ab']],
  ['a{,2}b', ['a{,2}b']],
  ['', null],
  ['(', null],
  ['a)', null],
  ['abcdefghijklmnopqrst', ['abcdefghijkl']],
])('one of the required literals of %s is in every match', (pattern, literals) => {
  expect(requiredLiterals(pattern)).toEqual(literals);
});

test('every builtin signature is a candidate for its own examples', () => {
  for (const { id, pattern, examples } of builtinRules.signatures) {
    const literals = requiredLiterals(pattern);
    for (const { text } of examples) {
      const found = literals === null || literals.some((literal) => text.toLowerCase().includes(literal));
      expect(found, `${id}: ${text}`).toBe(true);
    }
  }
});

test('most builtin signatures can be skipped without being run', () => {
  const { signatures } = builtinRules;
  const always = signatures.filter(({ pattern }) => requiredLiterals(pattern) === null);
  expect(always.length / signatures.length).toBeLessThan(0.1);
});

test('a scan finds texts that overlap, begin and end each other', () => {
  const texts = ['he', 'she', 'hers', 'his', 's h'];
  const scan = new LiteralScan(texts);
  const found = (text: string) =>
    scan
      .find(text)
      .map((number) => texts[number])
      .sort();
  expect(found('uSHErs')).toEqual(['he', 'hers', 'she']);
  expect(found('this her')).toEqual(['he', 'his', 's h']);
  expect(found('h\xffe')).toEqual([]);
  expect(found('')).toEqual([]);
  expect(new LiteralScan([]).find('anything')).toEqual([]);
});

test('a scan agrees with a plain search on random texts', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  const word = (length: number) => Array.from({ length }, () => 'abC'[random(3)]).join('');
  for (let round = 0; round < 200; round++) {
    const texts = [...new Set(Array.from({ length: 12 }, () => word(1 + random(5)).toLowerCase()))];
    const text = word(60);
    const found = new LiteralScan(texts).find(text).map((number) => texts[number]);
    expect(found.sort()).toEqual(texts.filter((each) => text.toLowerCase().includes(each)).sort());
  }
});

test('skipping loses no match: every example, by every builtin signature of its evidence', () => {
  const { signatures } = builtinRules;
  for (const source of new Set(signatures.map((signature) => signature.source))) {
    const own = signatures.filter((signature) => signature.source === source);
    const matchers = own.map(({ id, pattern, flags }) => [id, compileMatcher(pattern, flags)] as const);
    for (const { text } of own.flatMap(({ examples }) => examples)) {
      const plain = matchers.flatMap(([id, matcher]) => (matcher.match(text) ? [id] : []));
      expect(
        builtinRules
          .match(source, text)
          .map(({ rule }) => rule)
          .sort(),
        text,
      ).toEqual(plain.sort());
    }
  }
});

/** Patterns of all forms that the parser supports, over few letters, so that random texts match them often. */
const pieces = fc.letrec<{ all: string; piece: string }>((tie) => ({
  all: fc.array(tie('piece'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
  piece: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      'a',
      'b',
      'B',
      '0',
      'ab',
      'b0',
      '.',
      '\\d',
      '[ab]',
      '[^a]',
      '\\x61',
      '\\b',
      '^',
      '(?i)',
      '\\.',
    ),
    fc
      .tuple(tie('all'), fc.constantFrom('', '?', '*', '+', '{2}', '{0,1}', '{1,}', '+?'))
      .map(([inner, sign]) => `(?:${inner})${sign}`),
    fc.tuple(tie('all'), tie('all')).map(([one, other]) => `(${one}|${other})`),
    fc
      .tuple(fc.constantFrom('a', 'b', '0'), fc.constantFrom('?', '*', '+', '{2,3}', '{0}'))
      .map((parts) => parts.join('')),
  ),
})).all;

test('no random pattern matches a text that holds none of its required literals', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'B', '0', '.', '\n'), maxLength: 12 });
  fc.assert(
    fc.property(pieces, fc.array(text, { minLength: 5, maxLength: 5 }), (pattern, texts) => {
      const literals = requiredLiterals(pattern);
      if (literals === null) return;
      const matcher = compileMatcher(pattern, 'ms');
      for (const each of texts) {
        const lower = each.toLowerCase();
        if (matcher.match(each))
          expect(
            literals.some((literal) => lower.includes(literal)),
            each,
          ).toBe(true);
      }
    }),
    { numRuns: 3000 },
  );
});
