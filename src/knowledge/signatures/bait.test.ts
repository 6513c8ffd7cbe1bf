import { expect, test } from 'vitest';
import { compileMatcher, type Matcher } from '../rules/matcher.ts';
import { builtinCatalogue } from '../rules/rule-catalog.ts';

/** Longest match of one signature, ms; a machine with other work gets several tries. */
const longest = 50;
const tries = 5;

function fastest(matcher: Matcher, text: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < tries && best > longest; attempt++) {
    const started = performance.now();
    matcher.match(text);
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

const repeated = (text: string) => text.repeat(Math.ceil(65_536 / text.length)).slice(0, 65_536);
const baits = ['a', 'A1.', '220 ', '<title>', '"version":"1.', '\xff\xfd', '1.2.', ' ', '\n'].map(repeated);

test('T-014 no builtin signature takes long on bait of 64 KiB', () => {
  const slow: string[] = [];
  for (const { id, pattern, flags, examples } of builtinCatalogue.signatures) {
    const matcher = compileMatcher(pattern, flags);
    const own = examples[0]?.text ?? 'a';
    for (const bait of [...baits, repeated(own), repeated(own.slice(0, -1) || 'a')]) {
      if (fastest(matcher, bait) > longest) slow.push(id);
    }
  }
  expect(slow).toEqual([]);
}, 120_000);
